package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// drain is how long output is still read once all processes of a group are
// dead: by then only a process that left the group can hold the other end.
const drain = time.Second

// runGroup runs a command in a session and process group of its own, in the
// folder here, which is called dir, and returns its exit status. At its end and
// at that of ctx the whole group is killed. Both outputs go to out, in the order
// in which they were written.
func runGroup(ctx context.Context, cmd *exec.Cmd, here *os.File, dir string, out io.Writer, grace time.Duration) (exit int, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close() // only read
	cmd.Stdout, cmd.Stderr = w, w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = startIn(cmd, here, dir)
	w.Close() // the command has its own
	if err != nil {
		return 0, err
	}
	read := make(chan struct{})
	go func() { defer close(read); _, _ = io.Copy(out, r) }() // ends when the pipe does, or by the deadline below
	over := make(chan struct{})
	go func() { defer close(over); awaitExit(cmd.Process.Pid) }() // ends with the process
	stopped := await(ctx, cmd.Process.Pid, over, grace)
	// Before its process is reaped nobody else can have the number of the group.
	killGroup(cmd.Process.Pid)
	<-over
	err = cmd.Wait()
	_ = r.SetReadDeadline(time.Now().Add(drain)) // a pipe of a file that is no pipe any more has ended
	<-read
	if stopped {
		return 0, ctx.Err()
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return status(failed.ProcessState)
	}
	return 0, err
}

// await waits for the end of a process or of ctx. It then tells the group to
// end, and waits as long as grace says. It reports whether ctx ended first.
func await(ctx context.Context, pid int, over <-chan struct{}, grace time.Duration) bool {
	select {
	case <-over:
		return false
	case <-ctx.Done():
	}
	if grace > 0 {
		_ = syscall.Kill(-pid, syscall.SIGTERM) // who does not hear it is killed
		t := time.NewTimer(grace)
		defer t.Stop()
		select {
		case <-over:
		case <-t.C:
		}
	}
	return true
}

// killGroup kills every process of a group. That there is none left is fine.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// status is the exit status of a process as shells count it.
func status(s *os.ProcessState) (int, error) {
	ws, ok := s.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		return 0, fmt.Errorf("the command ended in a way that is not known: %s", s)
	case ws.Signaled():
		return 128 + int(ws.Signal()), nil
	}
	return ws.ExitStatus(), nil
}
