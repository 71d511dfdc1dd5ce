//go:build !linux && !darwin

package sqlite

import (
	"errors"
	"os"
)

const (
	noFollow  = 0
	shared    = 1
	exclusive = 2
)

var errLocked = errors.New("locked by another process")

// Nothing is locked here: [Open] refuses this system before anything could be.
func lock(*os.File, int) error          { return errElsewhere }
func lockPatiently(*os.File, int) error { return errElsewhere }
