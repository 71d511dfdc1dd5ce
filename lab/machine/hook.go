//go:build unix

package machine

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Session is the session of calls that are made with [Machine.Touch].
const Session = "session-1"

// Touch is the input of a hook for a command that would leave a file.
func (m *Machine) Touch(id, name string) string {
	return fmt.Sprintf(`{"session_id":%q,"cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse",`+
		`"tool_name":"Bash","tool_input":{"command":"touch %s","description":"make a marker"},"tool_use_id":%q}`, Session, m.Dir, name, id)
}

// HookCommand is a run of the hook as the host starts it.
func (m *Machine) HookCommand(input string, env ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(m.Bin, "sayso-hook"), "claude-code")
	cmd.Env, cmd.Dir, cmd.Stdin = m.Environ(env...), m.Dir, strings.NewReader(input)
	return cmd
}

// Hook runs the hook to its end.
func (m *Machine) Hook(input string, env ...string) Result {
	m.t.Helper()
	return m.Run(m.HookCommand(input, env...))
}

// Waiting is a hook that runs.
type Waiting struct {
	t         testing.TB
	cmd       *exec.Cmd
	out, errs bytes.Buffer
	done      chan struct{}
}

// Start starts the hook.
func (m *Machine) Start(input string, env ...string) *Waiting {
	m.t.Helper()
	w := &Waiting{t: m.t, cmd: m.HookCommand(input, env...), done: make(chan struct{})}
	w.cmd.Stdout, w.cmd.Stderr = &w.out, &w.errs
	if err := w.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	go func() { // ends with the process
		defer close(w.done)
		_ = w.cmd.Wait() // ProcessState says how it ended
	}()
	m.t.Cleanup(func() {
		_ = w.cmd.Process.Kill() // it may have ended by itself
		<-w.done
	})
	return w
}

// Signal sends the hook a signal.
func (w *Waiting) Signal(s os.Signal) {
	w.t.Helper()
	if err := w.cmd.Process.Signal(s); err != nil {
		w.t.Fatal(err)
	}
}

// Wait waits for the end of the hook.
func (w *Waiting) Wait() Result {
	w.t.Helper()
	select {
	case <-w.done:
	case <-time.After(limit):
		w.t.Fatal("the hook does not end")
	}
	return Result{w.cmd.ProcessState.ExitCode(), w.out.String(), w.errs.String()}
}

// Reply is what a host reads on the standard output of a hook.
type Reply struct {
	Specific struct {
		Event   string     `json:"hookEventName"`
		Effect  string     `json:"permissionDecision"`
		Reason  string     `json:"permissionDecisionReason"`
		Updated sayso.Args `json:"updatedInput"`
	} `json:"hookSpecificOutput"`
}

// Denied checks that the host was told no in each of the ways that it listens
// to, and returns with which words.
func (r Result) Denied(t testing.TB) string {
	t.Helper()
	reply := r.reply(t)
	said := strings.TrimSuffix(r.Stderr, "\n")
	if r.Exit != 2 || reply.Specific.Effect != "deny" || reply.Specific.Reason != said {
		t.Fatalf("the hook did not deny: %+v", r)
	}
	if said == "" || strings.ContainsAny(said, "\n\r") {
		t.Fatalf("the hook said %q, which is not one line", said)
	}
	return said
}

// Allowed checks that the host was told yes.
func (r Result) Allowed(t testing.TB) {
	t.Helper()
	if reply := r.reply(t); r.Exit != 0 || r.Stderr != "" || reply.Specific.Effect != "allow" {
		t.Fatalf("the hook did not allow: %+v", r)
	}
}

// Silent checks that the host was told nothing and goes on as without us.
func (r Result) Silent(t testing.TB) {
	t.Helper()
	if r != (Result{}) {
		t.Fatalf("the hook has an opinion: %+v", r)
	}
}

// reply reads exactly one JSON object on one line.
func (r Result) reply(t testing.TB) (reply Reply) {
	t.Helper()
	if strings.Count(r.Stdout, "\n") != 1 || !strings.HasSuffix(r.Stdout, "}\n") {
		t.Fatalf("the hook printed no line with one object: %+v", r)
	}
	if err := jcs.Unmarshal([]byte(r.Stdout), &reply); err != nil {
		t.Fatalf("%v: %+v", err, r)
	}
	return reply
}
