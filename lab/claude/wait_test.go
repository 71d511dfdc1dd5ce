//go:build unix

package claude_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
)

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// TestSignals: when the host is told to end, or the user interrupts, a hook
// that waits gets SIGTERM and, about a second and a half later, SIGKILL. The
// tool does not run. When the host is killed, the hook is told nothing: it
// sees a new parent.
func TestSignals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		sig  syscall.Signal
		want string
	}{
		{"terminated", syscall.SIGTERM, "TERM"},
		{"interrupted", syscall.SIGINT, "TERM"},
		{"hung up", syscall.SIGHUP, "TERM"},
		{"killed", syscall.SIGKILL, "orphan"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			news := fifo(t, t.TempDir(), "news")
			script := fmt.Sprintf(`exec 3>%s; trap 'echo TERM >&3; exit 0' TERM INT HUP
parent=$PPID; echo up >&3
while [ "$(ps -o ppid= -p $$ | tr -d ' ')" = "$parent" ]; do sleep 0.05; done
echo orphan >&3`, news)
			s := claude.Start(t, claude.Options{Dir: dir, Stub: modelstub.New(modelstub.Use(touch)), Settings: claude.Settings("", claude.Shell(script))})
			r := reader(t, news)
			if got := line(t, r); got != "up" {
				t.Fatalf("the hook said %q first", got)
			}
			if err := s.Signal(tt.sig); err != nil {
				t.Fatal(err)
			}
			if got := line(t, r); got != tt.want {
				t.Errorf("the hook saw %q, want %q", got, tt.want)
			}
			s.Wait()
			if did := ran(dir, ""); did != "" {
				t.Errorf("ran %q", did)
			}
		})
	}
}

// TestInterruptedCall: of a call that is interrupted while it runs, no hook is
// told how it ended. Its outcome stays unknown.
func TestInterruptedCall(t *testing.T) {
	t.Parallel()
	out, news := t.TempDir(), fifo(t, t.TempDir(), "news")
	s := claude.Start(t, claude.Options{
		Settings: claude.Settings("", recorders(callEvents, out)...),
		Stub:     modelstub.New(modelstub.Use(modelstub.Call{ID: "toolu_01", Name: "Bash", Input: bash("echo up > " + news + "; exec sleep 60")})),
	})
	if got := line(t, reader(t, news)); got != "up" {
		t.Fatalf("the call said %q", got)
	}
	if err := s.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	s.Wait()
	var events []string
	files, _ := filepath.Glob(filepath.Join(out, "*"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, name(t, b, map[string]string{"toolu_01": "Bash"}))
	}
	slices.Sort(events)
	if diff := cmp.Diff([]string{"PreToolUse.Bash", "SessionEnd", "SessionStart"}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestHookSession: a hook leads a session of its own, without a terminal, so
// signals to the agent's process group do not reach it, and it knows the
// process it works for.
func TestHookSession(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	script := fmt.Sprintf(`{ ps -o sid= -p $$ | tr -d ' '; echo $$; echo $PPID; echo $CLAUDE_PID; echo $CLAUDE_PROJECT_DIR; echo $CLAUDECODE; } > %s`, out)
	dir := t.TempDir()
	claude.Run(t, claude.Options{Dir: dir, Stub: modelstub.New(modelstub.Use(touch)), Settings: claude.Settings("", claude.Shell(script))})
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	l := strings.Split(string(b), "\n")
	if len(l) < 6 || l[0] != l[1] || l[2] != l[3] || l[4] != dir || l[5] != "1" {
		t.Errorf("session, pid, parent, agent, project, flag: %q", l)
	}
}

// TestWhichCallsWaitTogether: of the calls in one message, the host asks the
// hooks of neighbouring calls at once if it takes the tools to be read-only,
// and of the others one by one, each after the call before it has run.
func TestWhichCallsWaitTogether(t *testing.T) {
	t.Parallel()
	read := func(i int) modelstub.Call {
		return modelstub.Call{Name: "Read", Input: fmt.Sprintf(`{"file_path":"/etc/hostname","offset":%d}`, i+1)}
	}
	shell := func(command string) func(int) modelstub.Call {
		return func(int) modelstub.Call { return modelstub.Call{Name: "Bash", Input: bash(command)} }
	}
	mcp := func(tool string) func(int) modelstub.Call {
		return func(int) modelstub.Call { return modelstub.Call{Name: tool, Input: `{"env":"test"}`} }
	}
	write := func(i int) modelstub.Call {
		return modelstub.Call{Name: "Write", Input: fmt.Sprintf(`{"file_path":"/nonexistent/%d","content":""}`, i)}
	}
	search := func(int) modelstub.Call { return modelstub.Call{Name: "WebSearch", Input: `{"query":"weather"}`} }
	for name, tt := range map[string]struct {
		call     func(int) modelstub.Call
		together bool
	}{
		"Read":                     {read, true},
		"WebSearch":                {search, true},
		"Bash that only reads":     {shell("cat /etc/hostname"), true},
		"MCP tool marked readOnly": {mcp("mcp__lab__look"), true},
		"Bash that writes":         {shell("touch x"), false},
		"Write":                    {write, false},
		"MCP tool":                 {mcp("mcp__lab__deploy"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 10
			if !tt.together {
				n = 3
			}
			if got := order(t, tt.call, n, tt.together); got != tt.together {
				t.Errorf("together: %v, want %v", got, tt.together)
			}
		})
	}
}

// order makes n calls in one message and reports whether all hooks had started
// before the first ended. With barrier the hooks wait for each other, so that
// it is not a matter of speed.
func order(t *testing.T, call func(int) modelstub.Call, n int, barrier bool) bool {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	script := fmt.Sprintf(`echo start >> %[1]s; `, log)
	if barrier {
		script += fmt.Sprintf(`while [ $(grep -c start %[1]s) -lt %[2]d ]; do sleep 0.05; done; `, log, n)
	}
	script += fmt.Sprintf(`echo end >> %s; `, log) + printing(deny)
	var calls []modelstub.Call
	for i := range n {
		c := call(i)
		c.ID = fmt.Sprintf("toolu_%02d", i)
		calls = append(calls, c)
	}
	res := claude.Run(t, claude.Options{Stub: modelstub.New(modelstub.Use(calls...)), Args: mcpConfig(), Settings: claude.Settings("", claude.Shell(script))})
	if len(res.Results) != n {
		t.Errorf("%d results, want %d", len(res.Results), n)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(b))
	serial := strings.Fields(strings.Repeat("start end ", n))
	return !cmp.Equal(got, serial)
}

func reader(t *testing.T, path string) *bufio.Reader {
	t.Helper()
	f, err := os.Open(path) // waits for the hook to open its end
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return bufio.NewReader(f)
}

func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	s, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("the hook went without a word: %v", err)
	}
	return strings.TrimSpace(s)
}
