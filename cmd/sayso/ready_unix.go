//go:build unix

package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// ready reports whether something was typed, after a tenth of a second at the
// latest.
func ready(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 100)
	return n > 0 || (err != nil && !errors.Is(err, unix.EINTR))
}
