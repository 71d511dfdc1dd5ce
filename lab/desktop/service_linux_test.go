package desktop_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/lab/machine"
)

func TestMain(m *testing.M) { machine.Main(m) }

// output is what a process printed so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// until waits for something that nothing can be waited for.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	for !done() {
		select {
		case <-late:
			t.Fatalf("it did not happen: %s", what)
		case <-tick.C:
		}
	}
}

// session is the person's own systemd, as logging in starts it. It runs in a
// mount namespace in which the machine looks started by systemd.
type session struct {
	m   *machine.Machine
	pid string
}

func login(t *testing.T, m *machine.Machine) *session {
	t.Helper()
	program := "/lib/systemd/systemd"
	if _, err := os.Stat(program); err != nil || os.Getuid() != 0 {
		t.Skip("this test starts a systemd of its own, which root alone may; type: sudo apt-get install systemd && sudo -E go test ./lab/desktop")
	}
	run := t.TempDir()
	if err := os.Chmod(run, 0o700); err != nil {
		t.Fatal(err)
	}
	m.Env = append(m.Env, "XDG_RUNTIME_DIR="+run)
	var said output
	const enter = `mount -t tmpfs tmpfs /run/systemd && mkdir /run/systemd/system && exec "$0" --user`
	cmd := exec.Command("unshare", "--mount", "--", "sh", "-c", enter, program)
	cmd.Env, cmd.Stdout, cmd.Stderr = m.Environ("SYSTEMD_LOG_TARGET=console"), &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }() // ends with the process
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it ends its services and itself
		late := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
		<-ended
		late.Stop()
	})
	s := &session{m, strconv.Itoa(cmd.Process.Pid)}
	until(t, "systemd runs", func() bool {
		select {
		case <-ended:
			t.Skipf("systemd does not start here: %s; on a machine where root may mount, type: sudo -E go test ./lab/desktop", said.String())
		default:
		}
		state, _ := s.ask("is-system-running") // its exit status is another word for it
		return state == "running" || state == "degraded"
	})
	return s
}

// inside has a program run where the machine looks started by systemd.
func (s *session) inside(cmd *exec.Cmd) *exec.Cmd {
	within := exec.Command("nsenter", append([]string{"--mount", "--target", s.pid, "--", cmd.Path}, cmd.Args[1:]...)...)
	within.Env = cmd.Env
	return within
}

// ask asks the person's systemd.
func (s *session) ask(words ...string) (string, error) {
	cmd := exec.Command("systemctl", append([]string{"--user"}, words...)...)
	cmd.Env = s.m.Environ()
	out, err := s.inside(cmd).Output()
	return strings.TrimSpace(string(out)), err
}

// sayso runs a command within the session.
func (s *session) sayso(words ...string) machine.Result {
	return s.m.Run(s.inside(s.m.Command(words...)))
}

// The service is installed, started, found by commands, started again after it
// was killed, and removed, by a real systemd that knows nothing of what the
// person's shell sets.
func TestService(t *testing.T) {
	m := machine.New(t)
	s := login(t, m)
	shell := t.TempDir()
	m.Env = append(m.Env, "SAYSO_LISTEN=127.0.0.1:0", "XDG_STATE_HOME="+filepath.Join(shell, "state"), "XDG_CONFIG_HOME="+filepath.Join(shell, "config"))
	if r := s.sayso("service", "install", "--now"); r.Exit != 0 || !strings.HasPrefix(r.Stdout, "wrote ") {
		t.Fatalf("%+v", r)
	}
	answers := func() bool { return local.Answers(t.Context(), m.Paths().Socket()) }
	until(t, "the server answers", answers)
	if state, err := s.ask("is-enabled", "sayso.service"); err != nil || state != "enabled" && state != "linked" {
		t.Errorf("at the next login it is %q, %v", state, err)
	}
	if status := m.Sayso("status").Stdout; !strings.Contains(status, "gate     server "+m.Paths().Socket()) {
		t.Errorf("commands do not find the server:\n%s", status)
	}
	if database := m.Paths().Database(); !strings.Contains(m.Must("where"), database) || !exists(database) {
		t.Errorf("the service keeps its log elsewhere than %s", database)
	}
	first := s.mainPID(t)
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "it was started again", func() bool { return s.mainPID(t) != first && s.mainPID(t) != 0 && answers() })
	if r := s.sayso("service", "install", "--now"); r.Exit != 0 { // again, as after an update
		t.Errorf("installed twice: %+v", r)
	}
	until(t, "the server answers", answers)

	if r := s.sayso("service", "remove"); r.Exit != 0 || !strings.HasPrefix(r.Stdout, "removed ") || r.Stderr != "" {
		t.Errorf("%+v", r)
	}
	until(t, "nothing answers", func() bool { return !answers() })
	if state, err := s.ask("is-enabled", "sayso.service"); err == nil {
		t.Errorf("after it was removed, it is %q", state)
	}
	if r := s.sayso("service", "remove"); r.Exit != 2 || !strings.Contains(r.Stderr, "there is no service of ours") {
		t.Errorf("removed twice: %+v", r)
	}
}

// Without a systemd of the person's, nothing is said to be installed that is
// not.
func TestService_withoutSystemd(t *testing.T) {
	m := machine.New(t)
	m.Env = append(m.Env, "XDG_RUNTIME_DIR="+t.TempDir())
	r := m.Sayso("service", "install", "--now")
	if r.Exit != 2 || !strings.Contains(r.Stderr, "systemctl --user daemon-reload") || !strings.Contains(r.Stderr, "hint: log in where the system runs services for you") {
		t.Errorf("%+v", r)
	}
	if said := m.Must("service", "remove"); !strings.HasPrefix(said, "removed ") {
		t.Errorf("it said %q", said)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// mainPID is the number of the service's process; zero while it has none.
func (s *session) mainPID(t *testing.T) int {
	t.Helper()
	text, err := s.ask("show", "--property=MainPID", "--value", "sayso.service")
	n, wrong := strconv.Atoi(text)
	if err := errors.Join(err, wrong); err != nil {
		t.Fatal(err)
	}
	return n
}
