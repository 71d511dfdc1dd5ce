//go:build linux || darwin

package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// noFollow makes opening a symbolic link fail.
const noFollow = unix.O_NOFOLLOW

// The kinds of locks on a file. The kernel lets go of them when the process
// dies, in whatever way.
const (
	shared    = unix.LOCK_SH
	exclusive = unix.LOCK_EX
)

// errLocked says that another process has a lock that excludes ours.
var errLocked error = unix.EWOULDBLOCK

// lock takes a lock, or fails with errLocked.
func lock(f *os.File, kind int) error { return flock(f, kind|unix.LOCK_NB) }

// lockPatiently takes a lock when others have let go of theirs.
func lockPatiently(f *os.File, kind int) error { return flock(f, kind) }

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
