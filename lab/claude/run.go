//go:build unix

package claude

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/modelstub"
)

// Options say how the binary is run. Only Stub is required.
type Options struct {
	Stub     *modelstub.Stub // the model
	Dir      string          // working directory; a temporary one if empty
	Home     string          // HOME, and the parent of the settings; a temporary one if empty
	Settings string          // JSON for --settings; nothing if empty
	Mode     string          // --permission-mode; "bypassPermissions" if empty
	Prompt   string          // what the user says; "go" if empty
	Args     []string        // further arguments
	Stdin    io.Reader       // for --input-format stream-json; nothing if nil
	Env      []string        // further KEY=value; nothing of the caller's environment but PATH is passed on
	Timeout  time.Duration   // when the whole process group is killed; 60 s if zero
}

// Result is what a finished run left behind.
type Result struct {
	Exit     int    // -1 if a signal ended it
	TimedOut bool   // Timeout passed and the process group was killed
	Stdout   string // the host's JSON result
	Stderr   string
	Results  []modelstub.ToolResult // what reached the model
}

// Session is a binary that is running.
type Session struct {
	cmd         *exec.Cmd
	stub        *modelstub.Stub
	out, errout bytes.Buffer
	done        chan struct{}
	timer       *time.Timer
	mu          sync.Mutex
	timedOut    bool
}

// Run starts the binary and waits for its end. A run that times out fails the
// test.
func Run(t testing.TB, o Options) Result {
	t.Helper()
	res := Start(t, o).Wait()
	if res.TimedOut {
		t.Errorf("claude did not end in time\nstdout: %s\nstderr: %s", res.Stdout, res.Stderr)
	}
	return res
}

// Start starts the binary in a process group of its own, which is killed when
// the test ends, whatever is left of it.
func Start(t testing.TB, o Options) *Session {
	t.Helper()
	o = o.filled(t)
	url, stop, err := o.Stub.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	s := &Session{stub: o.Stub, done: make(chan struct{})}
	s.cmd = exec.Command(Binary(t), o.arguments()...)
	s.cmd.Dir = o.Dir
	s.cmd.Env = o.environment(url)
	s.cmd.Stdin = o.Stdin
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.errout
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.WaitDelay = 5 * time.Second // a grandchild that holds the pipes must not hold the test
	if err := s.cmd.Start(); err != nil {
		t.Fatalf("start claude: %v", err)
	}
	s.timer = time.AfterFunc(o.Timeout, s.expire)
	t.Cleanup(func() {
		if !s.ended() {
			s.Kill()
		}
		s.Wait()
	})
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait() // the exit code is read from ProcessState
	}()
	return s
}

// Pid is the process id of the binary, and the id of its process group.
func (s *Session) Pid() int { return s.cmd.Process.Pid }

// Signal sends sig to the binary alone, as a terminal or a supervisor would.
func (s *Session) Signal(sig os.Signal) error { return s.cmd.Process.Signal(sig) }

// Kill kills the binary, its process group and everything below it. The host
// starts each hook in a session of its own, so the group alone is not enough.
func (s *Session) Kill() {
	below := descendants(s.Pid())
	if err := syscall.Kill(-s.Pid(), syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		_ = s.cmd.Process.Kill()
	}
	for _, pid := range below {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
	}
}

// descendants returns the processes below pid, as far as they still hang on it.
func descendants(pid int) []int {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for line := range strings.Lines(string(out)) {
		var child, parent int
		if _, err := fmt.Sscan(line, &child, &parent); err == nil {
			children[parent] = append(children[parent], child)
		}
	}
	var found []int
	for next := children[pid]; len(next) > 0; {
		found = append(found, next...)
		var below []int
		for _, p := range next {
			below = append(below, children[p]...)
		}
		next = below
	}
	return found
}

func (s *Session) expire() {
	s.mu.Lock()
	s.timedOut = true
	s.mu.Unlock()
	s.Kill()
}

func (s *Session) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Wait waits for the end and returns what the run left behind.
func (s *Session) Wait() Result {
	<-s.done
	s.timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	return Result{
		Exit: s.cmd.ProcessState.ExitCode(), TimedOut: s.timedOut,
		Stdout: s.out.String(), Stderr: s.errout.String(), Results: s.stub.Results(),
	}
}

func (o Options) filled(t testing.TB) Options {
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Home == "" {
		o.Home = t.TempDir()
	}
	if o.Mode == "" {
		o.Mode = "bypassPermissions"
	}
	if o.Prompt == "" {
		o.Prompt = "go"
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	return o
}

func (o Options) arguments() []string {
	args := []string{"-p", o.Prompt, "--model", "claude-sonnet-5", "--permission-mode", o.Mode, "--output-format", "json"}
	if o.Settings != "" {
		args = append(args, "--settings", o.Settings)
	}
	return append(args, o.Args...)
}

func (o Options) environment(url string) []string {
	return append(Environment(o.Home, url), o.Env...)
}

// Environment is that of a run with a home and a model of its own.
func Environment(home, url string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"),
		"ANTHROPIC_BASE_URL=" + url,
		"ANTHROPIC_API_KEY=x",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"ENABLE_TOOL_SEARCH=false",
		"IS_SANDBOX=1", // else bypassPermissions is refused to root, which CI often is
		"LANG=C.UTF-8",
	}
}
