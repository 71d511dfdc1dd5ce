//go:build unix

package main

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ready reports whether something was typed, after so long at the latest.
func ready(f *os.File, within time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	for end := time.Now().Add(within); ; {
		left := max(time.Until(end), 0).Round(time.Millisecond)
		n, err := unix.Poll(fds, int(left/time.Millisecond))
		if !errors.Is(err, unix.EINTR) { // a signal says nothing of keys
			return n > 0 || err != nil
		}
	}
}
