//go:build !linux && !darwin

package boot

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

func readBootID() (string, error) {
	return "", fmt.Errorf("%s is not served (on Windows, run inside WSL): %w", runtime.GOOS, errors.ErrUnsupported)
}

func sinceBoot() (time.Duration, error) { return 0, errors.ErrUnsupported }
