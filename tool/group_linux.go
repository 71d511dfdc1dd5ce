package tool

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// startIn starts a command in an open folder, whatever its name leads to.
func startIn(cmd *exec.Cmd, here *os.File, _ string) error {
	raw, err := here.SyscallConn()
	if err != nil {
		return err
	}
	var started error
	err = raw.Control(func(fd uintptr) {
		// The new process goes there before it is another program, while it has
		// the descriptor.
		cmd.Dir = fmt.Sprintf("/proc/self/fd/%d", fd)
		started = cmd.Start()
	})
	if err != nil {
		return err
	}
	return started
}

// awaitExit returns when a process has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
