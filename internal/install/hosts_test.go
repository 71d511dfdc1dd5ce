package install_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// theirs are settings that have a hook of somebody else, by host.
var theirs = map[string]string{
	"gemini":      "{\n  \"hooks\": {\n    \"BeforeTool\": [\n      {\n        \"matcher\": \"write_file\",\n        \"hooks\": [ { \"type\": \"command\", \"command\": \"lint\" } ]\n      }\n    ]\n  }\n}\n",
	"copilot":     "{\n  \"version\": 1,\n  \"hooks\": {\n    \"preToolUse\": [ { \"type\": \"command\", \"bash\": \"lint\" } ]\n  }\n}\n",
	"vscode":      "{\n  \"version\": 1,\n  \"hooks\": {\n    \"preToolUse\": [ { \"type\": \"command\", \"bash\": \"lint\" } ]\n  }\n}\n",
	"cursor":      "{\n  \"version\": 1,\n  \"hooks\": {\n    \"preToolUse\": [ { \"command\": \"lint\" } ],\n    \"stop\": [ { \"command\": \"bell\" } ]\n  }\n}\n",
	"antigravity": "{\n  \"lint\": {\n    \"PreToolUse\": [ { \"matcher\": \"\", \"hooks\": [ { \"type\": \"command\", \"command\": \"lint\" } ] } ]\n  }\n}\n",
}

// host finds one of the hosts.
func host(t *testing.T, name string) install.Host {
	t.Helper()
	h, ok := install.Find(name)
	if !ok {
		t.Fatalf("there is no host %s", name)
	}
	return h
}

func each(t *testing.T, run func(t *testing.T, h install.Host)) {
	for name := range theirs {
		h := host(t, name)
		t.Run(name, func(t *testing.T) { run(t, h) })
	}
}

var placed = install.Hook{Program: program, Place: []string{"--state", "/home/a person/state", "--config", "/c", "--runtime", "/r"}}

// leavesNoTrace puts a hook into settings, again, and takes it out, and checks that
// all else is as it was before.
func leavesNoTrace(t *testing.T, h install.Host, before string, hook install.Hook) {
	t.Helper()
	in, err := h.Put([]byte(before), hook)
	if err != nil {
		t.Fatal(err)
	}
	if err := jcs.Check(in); err != nil {
		t.Fatalf("%v in\n%s", err, in)
	}
	if s, err := h.Survey(in); err != nil || !s.Installed || s.Program != hook.Program {
		t.Errorf("not installed: %+v %v\n%s", s, err, in)
	}
	again, err := h.Put(in, hook)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(in), string(again)); d != "" {
		t.Errorf("a second time changes it:\n%s", d)
	}
	out, err := h.Take(in)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, string(out)); d != "" {
		t.Errorf("a trace is left:\n%s", d)
	}
}

func TestHosts_thenOutLeavesNoTrace(t *testing.T) {
	each(t, func(t *testing.T, h install.Host) {
		for _, before := range []string{theirs[h.Name], "{}\n", "{\"version\":1}", "{\n\t\"version\": 1,\n\t\"more\": [1, 2,   3]\n}"} {
			leavesNoTrace(t, h, before, placed)
		}
	})
}

// A hook that was changed so that the gate does not hold is not installed.
func TestHosts_changedHook(t *testing.T) {
	changes := map[string][][2]string{
		"gemini":      {{"3600000", "60000"}, {`"matcher": "*"`, `"matcher": "write_file"`}},
		"copilot":     {{`"timeoutSec": 3600`, `"timeoutSec": 30`}, {`"timeoutSec": 3600`, `"other": 3600`}},
		"vscode":      {{`"timeoutSec": 3600`, `"timeoutSec": 30`}},
		"cursor":      {{`"failClosed": true`, `"failClosed": false`}, {`"timeout": 3600`, `"timeout": 5`}},
		"antigravity": {{`"timeout": 3600`, `"timeout": 5`}, {`"PreToolUse"`, `"PostToolUse"`}},
	}
	each(t, func(t *testing.T, h install.Host) {
		in, err := h.Put(nil, placed)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes[h.Name] {
			changed := strings.Replace(string(in), c[0], c[1], 1)
			if changed == string(in) {
				t.Fatalf("there is no %s in\n%s", c[0], in)
			}
			if s, err := h.Survey([]byte(changed)); err != nil || s.Installed {
				t.Errorf("with %s it counts as installed: %+v, %v", c[1], s, err)
			}
			mended, err := h.Put([]byte(changed), placed)
			if err != nil {
				t.Fatal(err)
			}
			if s, err := h.Survey(mended); err != nil || !s.Installed {
				t.Errorf("with %s it is not mended: %v\n%s", c[1], err, mended)
			}
		}
	})
}

func TestHosts_othersAreSeen(t *testing.T) {
	each(t, func(t *testing.T, h install.Host) {
		if h.Name == "antigravity" {
			return // a hook of another name is another's affair
		}
		s, err := h.Survey([]byte(theirs[h.Name]))
		if err != nil || s.Installed || len(s.OtherHooks) != 1 || s.OtherHooks[0] != "lint" {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// line is the command of the hook that asks.
func line(t *testing.T, h install.Host, hook install.Hook) string {
	t.Helper()
	text, err := h.Put(nil, hook)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := jcs.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	var find func(v any) string
	find = func(v any) string {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{"bash", "command"} {
				if s, ok := v[name].(string); ok && strings.Contains(s, "||") {
					return s
				}
			}
			for _, m := range v {
				if s := find(m); s != "" {
					return s
				}
			}
		case []any:
			for _, e := range v {
				if s := find(e); s != "" {
					return s
				}
			}
		}
		return ""
	}
	found := find(all)
	if found == "" {
		t.Fatalf("no hook has a last word in\n%s", text)
	}
	return found
}

// Whatever becomes of the hook, a shell that runs its line says no, unless the
// hook said yes.
func TestHosts_lastWord(t *testing.T) {
	check := func(t *testing.T, h install.Host) {
		byStatus := h.Name != "cursor" && h.Name != "antigravity"
		for name, script := range map[string]string{
			"missing":       "",
			"exits 1":       "exit 1",
			"killed":        "kill -9 $$",
			"is no program": "exit 0",
			"denies":        "echo denied >&2; exit 2",
			"allows":        "echo yes",
		} {
			dir := filepath.Join(t.TempDir(), "a folder")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			hook := install.Hook{Program: filepath.Join(dir, "sayso-hook")}
			if script != "" {
				mode := os.FileMode(0o755)
				if name == "is no program" {
					mode = 0o644
				}
				if err := os.WriteFile(hook.Program, fmt.Appendf(nil, "#!/bin/sh\n%s\n", script), mode); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("/bin/sh", "-c", line(t, h, hook))
			var errout strings.Builder
			cmd.Stderr = &errout
			out, err := cmd.Output()
			status := cmd.ProcessState.ExitCode()
			switch {
			case name == "allows":
				if err != nil || string(out) != "yes\n" || errout.String() != "" {
					t.Errorf("an allow became status %d, %q, %q", status, out, errout.String())
				}
			case byStatus:
				if status != 2 || strings.TrimSpace(errout.String()) == "" {
					t.Errorf("a hook that %s: status %d with %q", name, status, errout.String())
				}
				if name == "denies" && errout.String() != "denied\n" {
					t.Errorf("words were added to a denial: %q", errout.String())
				}
			case status != 0 || !strings.Contains(string(out), `"deny"`) || jcs.Check(out) != nil:
				t.Errorf("a hook that %s: status %d with %q", name, status, out)
			}
		}
	}
	each(t, check)
	t.Run("codex", func(t *testing.T) { check(t, host(t, "codex")) })
}

// A file that counts can switch hooks off, whether our hook stands in it or not.
func TestHosts_off(t *testing.T) {
	const geminiOff, copilotOff, codexOff = `{"hooksConfig":{"enabled":false}}`, `{"disableAllHooks":true}`, "[features]\nhooks = false\n"
	for _, c := range []struct {
		host, file, text string
		off              bool
	}{
		{"gemini", "home/.gemini/settings.json", `{}`, false},
		{"gemini", "home/.gemini/settings.json", `{"hooksConfig":{"enabled":true}}`, false},
		{"gemini", "home/.gemini/settings.json", geminiOff, true},
		{"gemini", "home/.gemini/settings.json", `{"hooksConfig":{"disabled":["x"]}}`, false},
		{"gemini", "home/.gemini/settings.json", `{"hooksConfig":{"disabled":["x","sayso"]}}`, true},
		{"gemini", "app/sub/.gemini/settings.json", geminiOff, true},
		{"gemini", "app/sub/.gemini/settings.json", `{"hooks\u0043onfig":{"enabled":false}}`, true},
		{"gemini", "app/sub/.gemini/settings.json", "// a comment\n" + geminiOff, true},
		{"gemini", "app/sub/.gemini/settings.json", "// a comment\n{}", false},
		{"copilot", "home/.copilot/config.json", "// a comment\n{}", false},
		{"copilot", "home/.copilot/config.json", copilotOff, true},
		{"copilot", "home/.copilot/settings.json", copilotOff, true},
		{"copilot", "home/.copilot/hooks/sayso.json", copilotOff, true},
		{"copilot", "home/.claude/settings.json", copilotOff, true},
		{"copilot", "app/sub/.github/copilot/settings.json", copilotOff, true},
		{"copilot", "app/sub/.github/copilot/settings.json", `{"disableAllHooks":false}`, false},
		{"copilot", "app/.github/copilot/settings.local.json", copilotOff, true},
		{"copilot", "app/.claude/settings.json", copilotOff, true},
		{"copilot", "app/sub/.claude/settings.local.json", copilotOff, true},
		{"copilot", ".claude/settings.json", copilotOff, false}, // above the repository
		{"vscode", "home/.config/Code/User/settings.json", "{\n  // mine\n  \"chat.useHooks\": true,\n}", false},
		{"vscode", "home/.config/Code/User/settings.json", "{\n  // mine\n  \"chat.useHooks\": false,\n}", true},
		{"vscode", "home/.config/Code/User/settings.json", "{\n  // \"chat.useHooks\": false\n}", false},
		{"vscode", "app/.vscode/settings.json", `{"chat.hookFilesLocations": {"~/.copilot/hooks": false}}`, true},
		{"vscode", "app/.vscode/settings.json", `{"chat.hookFilesLocations": {"~/.copilot/hooks": true}}`, false},
		{"vscode", "app/.github/copilot/settings.json", copilotOff, true},
		{"codex", "app/.codex/config.toml", codexOff, true},
		{"codex", "app/sub/.codex/config.toml", "[features]\nhooks = true\n", false},
	} {
		root := t.TempDir()
		path := filepath.Join(root, c.file)
		for _, dir := range []string{"home", "app/.git", "app/sub", filepath.Dir(c.file)} {
			if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		getenv := func(name string) string { return map[string]string{"HOME": filepath.Join(root, "home")}[name] }
		h, _ := install.Find(c.host)
		d := h.Off(getenv, filepath.Join(root, "app/sub"))
		if (d != nil) != c.off || d != nil && (!strings.Contains(d.Why, path) || !strings.HasSuffix(d.Type, path)) {
			t.Errorf("%s with %s in %s: %+v, want off %v", c.host, c.text, c.file, d, c.off)
		}
		if d := h.Off(getenv, ""); (d != nil) != (c.off && strings.HasPrefix(c.file, "home")) {
			t.Errorf("%s with %s in %s, for no project: %+v", c.host, c.text, c.file, d)
		}
	}
}
