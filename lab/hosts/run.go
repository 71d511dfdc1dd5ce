//go:build unix

package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/modelstub"
)

// Options say how a host is run.
type Options struct {
	Stub    *modelstub.Stub // the model
	Dir     string          // working directory; a temporary one if empty
	Prompt  string          // what the person says; "go" if empty
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

// Start starts the host, in a process group that is killed when the test ends.
// Kill kills the host and what it started, but no hook of ours.
func (h Host) Start(t testing.TB, o Options) (wait func() Result, kill func()) {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Home == "" {
		o.Home = t.TempDir()
	}
	if o.Prompt == "" {
		o.Prompt = "go"
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
	cmd := exec.Command(h.Program(t), h.arguments(o.Prompt, url)...)
	cmd.Dir = o.Dir
	cmd.Env = h.environment(url, o.Home, o.Env)
	cmd.Stdout, cmd.Stderr = &out, &errout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second // a grandchild that holds the pipes must not hold the test
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", h.Name, err)
	}
	end := func() {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			_ = cmd.Process.Kill() // it may have ended by itself
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // the exit code is read from ProcessState
	}()
	t.Cleanup(func() { end(); <-done })
	return func() Result {
		t.Helper()
		select {
		case <-done:
		case <-time.After(o.Timeout):
			end()
			<-done
			t.Errorf("%s did not end in time\nstdout: %s\nstderr: %s", h.Name, out.String(), errout.String())
		}
		return Result{cmd.ProcessState.ExitCode(), out.String(), errout.String(), o.Stub.Results()}
	}, func() { killBelow(t, cmd.Process.Pid) }
}

// Environ is what the host is told to ask the model at an address, and to keep to
// itself.
func (h Host) Environ(url, home string) []string { return h.environ(url, home) }

// environment is the whole environment of the host.
func (h Host) environment(url, home string, more []string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8", "CI="}
	return append(append(env, h.environ(url, home)...), more...)
}

// killBelow kills a process and all below it that do not run a hook of ours.
func killBelow(t testing.TB, pid int) {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	below := map[int][]int{}
	for line := range strings.Lines(string(out)) {
		var child, parent int
		if _, err := fmt.Sscan(line, &child, &parent); err == nil && !strings.Contains(line, "sayso-hook") {
			below[parent] = append(below[parent], child)
		}
	}
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		next = append(next, below[next[0]]...)
		_ = syscall.Kill(next[0], syscall.SIGKILL) // it may have ended by itself
	}
}
