//go:build linux || darwin

package filelock

import (
	"errors"
	"os"
	"syscall"
)

func open(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|flag, 0o600)
}

func flock(f *os.File, k Kind, wait bool) error {
	how := syscall.LOCK_EX
	if k == Shared {
		how = syscall.LOCK_SH
	}
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrHeld
		case err != nil:
			return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
		return nil
	}
}
