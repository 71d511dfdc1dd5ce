package traffic_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/inspect/shell"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/policy"
)

// recorded is the person's folder on the machine where sessions were recorded.
const recorded = "/home/dev"

// world is a person's folder with a project in it, as the sessions had it.
type world struct {
	t      *testing.T
	home   string
	policy *policy.Policy
}

func newWorld(t *testing.T, preset string) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: root + recorded}
	for _, dir := range []string{w.workspace() + "/.git", w.home + "/.ssh", w.home + "/.aws"} {
		w.folder(dir)
	}
	text, ok := policy.Preset(preset)
	if !ok {
		t.Fatalf("no preset %s", preset)
	}
	f, err := policy.Parse(preset, text)
	if err != nil {
		t.Fatal(err)
	}
	if w.policy, err = policy.New(policy.Options{Home: w.home}, policy.Tiered{Tier: policy.TierUser, File: f}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) workspace() string { return w.home + "/app" }

// session reads a recorded session, with its folders moved to this world.
func (w *world) session(name string) []sayso.Call {
	w.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		w.t.Fatal(err)
	}
	var calls []sayso.Call
	for line := range bytes.Lines(text) {
		c, err := sayso.ParseCall(bytes.ReplaceAll(bytes.TrimSpace(line), []byte(recorded), []byte(w.home)))
		if err == nil && c.Host == claudecode.Host {
			c, err = hooked(c)
		}
		if err != nil {
			w.t.Fatalf("%s, call %d: %v", name, len(calls)+1, err)
		}
		calls = append(calls, c)
	}
	return calls
}

// hooked is a call as the hook of its host hands it on: what the model says
// about it is recorded among its arguments, and is none of them.
func hooked(c sayso.Call) (sayso.Call, error) {
	input := map[string]any{
		"session_id": c.Session, "cwd": c.Cwd, "hook_event_name": claudecode.PreToolUse, "tool_name": c.Tool, "tool_use_id": c.CallID, "tool_input": c.Args,
	}
	if c.Server != "" {
		input["mcp_server"] = map[string]any{"name": c.Server, "source": "user"}
	}
	if agent, ok := strings.CutPrefix(c.Caller, c.Host+"/"); ok && agent != "main" {
		input["agent_id"], input["agent_type"] = agent, agent
	}
	text, err := jcs.Marshal(input)
	if err != nil {
		return c, err
	}
	h, err := claudecode.Parse(text)
	return h.Call, err
}

// gather finds out what a call means here, as the hook would.
func (w *world) gather(c sayso.Call) sayso.Facts {
	return facts.Gather(w.t.Context(), c, facts.Options{
		Workspace: w.workspace(), Home: w.home, HostHome: w.home, Roots: w.policy.Roots(),
		State: []string{w.home + "/.local/state/sayso", w.home + "/.config/sayso"},
	})
}

// args are the arguments that leave something in the workspace.
type args struct {
	Path    string `json:"file_path"`
	Old     string `json:"old_string"`
	New     string `json:"new_string"`
	Content string `json:"content"`
	Command string `json:"command"`
}

// ran leaves in the workspace what a call would have left there, as far as later
// calls can tell: its files and folders.
func (w *world) ran(c sayso.Call) {
	w.t.Helper()
	var a args
	if err := jcs.UnmarshalLenient(c.Args, &a); err != nil {
		w.t.Fatal(err)
	}
	switch c.Tool {
	case "Write":
		w.write(a.Path, a.Content)
	case "Edit":
		old, _ := os.ReadFile(a.Path) // a command that was not run may have written it
		w.write(a.Path, strings.Replace(string(old), a.Old, a.New, 1))
	case "Bash":
		w.line(c.Cwd, a.Command)
	}
}

// line makes the files and folders that a command line names as written.
func (w *world) line(cwd, text string) {
	l := shell.Inspect(text)
	for i := range l.Commands {
		c := &l.Commands[i]
		for _, t := range c.Traits {
			if t.Kind == shell.Writes && t.Target != nil {
				w.make(cwd, *t.Target, c.Dirs, c.Base() == "mkdir")
			}
		}
	}
	for i := range l.Redirects {
		if r := &l.Redirects[i]; r.Kind == shell.Write {
			w.make(cwd, r.Target, r.Dirs, false)
		}
	}
}

func (w *world) make(cwd string, name shell.Word, dirs []shell.Dir, folder bool) {
	if !name.Literal() || len(dirs) == 0 || dirs[0].Unknown {
		return
	}
	at := name.Text
	if !filepath.IsAbs(at) {
		at = filepath.Join(path.Enter(cwd, dirs[0].Steps), at)
	}
	if _, err := os.Lstat(at); err == nil {
		return
	}
	if folder {
		w.folder(at)
	} else {
		w.write(at, "")
	}
}

// write writes a file of this world, and no other.
func (w *world) write(name, content string) {
	if !strings.HasPrefix(name, w.home+"/") {
		return
	}
	w.folder(filepath.Dir(name))
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) folder(name string) {
	if !strings.HasPrefix(name, w.home+"/") {
		return
	}
	if err := os.MkdirAll(name, 0o700); err != nil {
		w.t.Fatal(err)
	}
}
