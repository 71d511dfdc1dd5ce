package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/install"
)

func TestCodex_thenOutLeavesNoTrace(t *testing.T) {
	h := host(t, "codex")
	for name, before := range settings {
		t.Run(name, func(t *testing.T) {
			hook := install.Hook{Program: "/home/o'brien/my tools/sayso-hook", Place: []string{"--state", "/home/o'brien/.local/state/sayso", "--config", "/c", "--runtime", "/r"}}
			leavesNoTrace(t, h, before, hook)
		})
	}
}

// A hook for some tools alone, or one that Codex does not wait for, is no gate.
func TestCodex_surveySeesHalfAHook(t *testing.T) {
	h := host(t, "codex")
	in, err := h.Put(nil, placed)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"for one tool":      {`"PreToolUse": [`, `"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "` + program + ` codex"}]}], "Other": [`},
		"not waited for":    {`"type": "command",`, `"type": "command", "async": true,`},
		"of another host":   {program + " codex", program + " claude-code"},
		"of another events": {`"PreToolUse"`, `"PostCompact"`},
	} {
		text := strings.Replace(string(in), change[0], change[1], 1)
		if text == string(in) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if s, err := h.Survey([]byte(text)); err != nil || s.Installed {
			t.Errorf("%s counts as installed: %+v %v", name, s, err)
		}
	}
}

// The hashes are those that Codex 0.169.0 told of the same hooks.
func TestCodex_doubt(t *testing.T) {
	dir := t.TempDir()
	place := install.Place{Scope: install.ScopeUser, Path: filepath.Join(dir, "hooks.json")}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("hooks.json", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"x"}]},`+
		`{"hooks":[{"type":"command","command":"/bin/sayso-hook codex","timeout":3600,"statusMessage":"waits"}]}],`+
		`"PermissionRequest":[{"matcher":"*","hooks":[{"type":"command","command":"/bin/sayso-hook codex"}]}]}}`)
	const before, asking = "sha256:8f6fac3e44a6d3c7b13973bb2e984f8e85c032547deb4dc0eef8839aeba457c1", "sha256:f5acadbecaca4bac09b334532dc4acf0ef82728612ba3135a138461dd8b5cb09"
	state := func(event, hash string) string {
		return "[hooks.state.\"" + place.Path + ":" + event + "\"]\ntrusted_hash = \"" + hash + "\"\n"
	}
	both := "model = \"m\"\n" + state("pre_tool_use:1:0", before) + state("permission_request:0:0", asking)
	for name, tt := range map[string]struct {
		config string
		want   string
	}{
		"trusted":               {both, ""},
		"nothing said":          {"", "does not trust the hook for PreToolUse"},
		"one of two":            {state("pre_tool_use:1:0", before), "does not trust the hook for PermissionRequest"},
		"another":               {strings.Replace(both, before, asking, 1), "another than the one"},
		"another place":         {strings.Replace(both, "pre_tool_use:1:0", "pre_tool_use:0:0", 1), "does not trust the hook for PreToolUse"},
		"switched off":          {strings.Replace(both, "trusted_hash = \""+before, "enabled = false\ntrusted_hash = \""+before, 1), "is switched off"},
		"switched off, later":   {both + "enabled = false\n", "is switched off"},
		"said of another table": {strings.ReplaceAll(both, "[hooks.state.", "[hooks.stale."), "does not trust"},
		"all off":               {both + "[features]\nhooks = false # for now\n", "switches hooks off"},
		"all off, in one line":  {"features.hooks=false\n" + both, "switches hooks off"},
		"all off, in a table":   {"features = { hooks = false }\n" + both, "switches hooks off"},
		"all on":                {both + "[features]\nhooks = true\n", ""},
		"in a comment":          {strings.ReplaceAll(both, "trusted_hash", "# trusted_hash"), "does not trust"},
	} {
		write("config.toml", tt.config)
		doubt := host(t, "codex").Doubt(func(name string) string { return map[string]string{"CODEX_HOME": dir}[name] }, place)
		got := ""
		if doubt != nil {
			got = doubt.Why
		}
		if (tt.want == "") != (doubt == nil) || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func FuzzCodexDoubt(f *testing.F) {
	f.Add("[hooks.state.\"a:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:x\"\n", `{"hooks":{"PreToolUse":[{"hooks":[{"command":"sayso-hook codex"}]}]}}`)
	dir := f.TempDir()
	host, _ := install.Find("codex")
	f.Fuzz(func(t *testing.T, config, hooks string) {
		for name, text := range map[string]string{"config.toml": config, "hooks.json": hooks} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		place := install.Place{Scope: install.ScopeUser, Path: filepath.Join(dir, "hooks.json")}
		if host.Doubt(func(string) string { return dir }, place) == nil && !strings.Contains(config, "trusted_hash") {
			t.Error("trusted, although nobody said so")
		}
	})
}
