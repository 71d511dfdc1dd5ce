package tool

import (
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"

	"github.com/sayso-dev/sayso"
)

// startIn starts a command in an open folder. This system cannot go there by
// its descriptor, so its name is compared in the last moment.
func startIn(cmd *exec.Cmd, here *os.File, dir string) error {
	open, err := here.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !os.SameFile(open, named) {
		return fmt.Errorf("%w: another folder is in the place of %s", sayso.ErrMismatch, dir)
	}
	cmd.Dir = dir
	return cmd.Start()
}

// awaitExit returns when a process has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	kq, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(kq)
	event := []unix.Kevent_t{{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}}
	for {
		n, err := unix.Kevent(kq, event, make([]unix.Kevent_t, 1), nil)
		if err == unix.EINTR {
			continue
		}
		if n > 0 || err != nil {
			return // it has ended, also where it had before it was watched
		}
	}
}
