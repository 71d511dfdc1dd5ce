package agentproc_test

import (
	"os"
	"testing"

	"github.com/sayso-dev/sayso/internal/agentproc"
)

func TestAbove(t *testing.T) {
	shell := agentproc.Process{Comm: "bash", Args: []string{"-bash"}}
	for _, c := range []struct {
		name string
		up   []agentproc.Process
		want string
	}{
		{"a terminal", []agentproc.Process{shell, {Comm: "tmux: server"}, {Comm: "systemd"}}, ""},
		{"the binary", []agentproc.Process{shell, {Comm: "claude", Args: []string{"claude", "-p"}}}, "Claude Code"},
		{"a renamed thread", []agentproc.Process{shell, {Comm: "MainThread", Args: []string{"/opt/bin/claude"}}}, "Claude Code"},
		{"a script", []agentproc.Process{shell, {Comm: "node", Args: []string{"node", "--no-warnings", "/usr/bin/gemini"}}}, "Gemini CLI"},
		{"a package", []agentproc.Process{{Comm: "node", Args: []string{"/usr/bin/node", "/x/node_modules/@openai/codex/bin/x.js"}}}, "Codex"},
		{"far up", []agentproc.Process{shell, shell, shell, {Comm: "codex"}}, "Codex"},
		{"a file named so", []agentproc.Process{{Comm: "vim", Args: []string{"vim", "claude"}}}, ""},
		{"an editor", []agentproc.Process{shell, {Comm: "cursor"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			look := func(pid int) (agentproc.Process, bool) {
				if pid < 1 || pid > len(c.up) {
					return agentproc.Process{}, false
				}
				p := c.up[pid-1]
				p.PID, p.Parent = pid, pid+1
				return p, true
			}
			got, ok := agentproc.Above(1, look)
			if got.Name != c.want || ok != (c.want != "") {
				t.Errorf("found %q, %v; want %q", got.Name, ok, c.want)
			}
		})
	}
}

func TestAbove_endsInACircle(t *testing.T) {
	look := func(pid int) (agentproc.Process, bool) {
		return agentproc.Process{PID: pid, Parent: pid%2 + 1, Comm: "sh"}, true
	}
	if a, ok := agentproc.Above(1, look); ok {
		t.Errorf("found %v", a)
	}
}

func TestMarked(t *testing.T) {
	for name, want := range map[string]bool{"CLAUDECODE": true, "AI_AGENT": true, "CLAUDE_CODE_SSE_PORT": false, "HOME": false} {
		_, got := agentproc.Marked(func(v string) string {
			if v == name {
				return "1"
			}
			return ""
		})
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestDetect_seesThisProcess(t *testing.T) {
	// A marker in our own environment is seen whatever runs the tests.
	t.Setenv("CLAUDECODE", "1")
	if a, ok := agentproc.Detect(); !ok || a.Name != "Claude Code" {
		t.Errorf("%v %v (pid %d)", a, ok, os.Getpid())
	}
}
