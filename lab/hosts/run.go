//go:build unix

package hosts

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/modelstub"
)

// Options say how a host is run.
type Options struct {
	Stub    *modelstub.Stub // the model
	Dir     string          // working directory; a temporary one if empty
	Home    string          // HOME, where the settings are; a temporary one if empty
	Env     []string        // further KEY=value; nothing of the caller's environment but PATH is passed on
	Timeout time.Duration   // when the whole process group is killed; 5 minutes if zero
}

// Result is what a finished run left behind.
type Result struct {
	Exit    int // -1 if a signal ended it
	Stdout  string
	Stderr  string
	Results []modelstub.ToolResult // what reached the model
}

// Run starts the host in a process group of its own and waits for its end. A
// run that does not end in time fails the test.
func (h Host) Run(t testing.TB, o Options) Result {
	t.Helper()
	wait, _ := h.Start(t, o)
	return wait()
}

// Start starts the host. The group is killed by kill, or when the test ends.
func (h Host) Start(t testing.TB, o Options) (wait func() Result, kill func()) {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Home == "" {
		o.Home = t.TempDir()
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Minute
	}
	url, stop, err := o.Stub.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	var out, errout bytes.Buffer
	cmd := exec.Command(h.program(h.Dir(t)), h.arguments("go")...)
	cmd.Dir = o.Dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + o.Home, "LANG=C.UTF-8", "CI="}, append(h.environ(url, o.Home), o.Env...)...)
	cmd.Stdout, cmd.Stderr = &out, &errout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second // a grandchild that holds the pipes must not hold the test
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", h.Name, err)
	}
	kill = func() {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			_ = cmd.Process.Kill() // it may have ended by itself
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // the exit code is read from ProcessState
	}()
	t.Cleanup(func() { kill(); <-done })
	return func() Result {
		t.Helper()
		select {
		case <-done:
		case <-time.After(o.Timeout):
			kill()
			<-done
			t.Errorf("%s did not end in time\nstdout: %s\nstderr: %s", h.Name, out.String(), errout.String())
		}
		return Result{cmd.ProcessState.ExitCode(), out.String(), errout.String(), o.Stub.Results()}
	}, kill
}
