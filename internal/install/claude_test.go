package install_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/jcs"
)

const program = "/usr/local/bin/sayso-hook"

// settings are files as people have them.
var settings = map[string]string{
	"nothing":    "{}\n",
	"one member": "{\n  \"model\": \"opus\"\n}\n",
	"tabs":       "{\n\t\"model\": \"opus\",\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"Bash(npm test)\"\n\t\t]\n\t}\n}",
	"four":       "{\n    \"z\": 1,\n    \"a\": [1, 2,   3],\n    \"n\": 1.50\n}\n",
	"compact":    `{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`,
	"CRLF":       "{\r\n  \"model\": \"opus\"\r\n}\r\n",
	"their hook": "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [ { \"type\": \"command\", \"command\": \"lint\" } ]\n      }\n    ]\n  },\n  \"last\": true\n}\n",
	"on a line":  "{\n  \"hooks\": { \"PreToolUse\": [{ \"hooks\": [] }] }\n}\n",
	"quotes":     "{\n  \"a \\\"hooks\\\" \\\\\": \"\\\\\\\"\",\n  \"b\": \"\u00fc\"\n}\n",
}

func TestClaude_thenOutLeavesNoTrace(t *testing.T) {
	for name, before := range settings {
		t.Run(name, func(t *testing.T) {
			leavesNoTrace(t, host(t, "claude-code"), before, placed)
		})
	}
}

func TestClaude_keepsLaterEdits(t *testing.T) {
	in, err := install.Claude([]byte(settings["their hook"]), placed)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(in), `"last": true`, `"last": false`, 1)
	edited = strings.Replace(edited, `"lint"`, `"lint --fix"`, 1)
	out, err := install.Unclaude([]byte(edited))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(strings.Replace(settings["their hook"], `"last": true`, `"last": false`, 1), `"lint"`, `"lint --fix"`, 1)
	if d := cmp.Diff(want, string(out)); d != "" {
		t.Error(d)
	}
}

func TestClaude_replacesAnOldHookOfOurs(t *testing.T) {
	old, err := install.Claude([]byte(settings["one member"]), install.Hook{Program: "/old/place/sayso-hook", Place: placed.Place})
	if err != nil {
		t.Fatal(err)
	}
	weakened := strings.Replace(string(old), `"onFailure": "block"`, `"onFailure": "continue"`, 1)
	if s, err := install.SurveyClaude([]byte(weakened)); err != nil || s.Installed {
		t.Errorf("a hook that does not block counts as installed: %+v %v", s, err)
	}
	got, err := install.Claude([]byte(weakened), placed)
	if err != nil {
		t.Fatal(err)
	}
	want, err := install.Claude([]byte(settings["one member"]), placed)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Error(d)
	}
}

func TestClaude_refusesWhatItCannotEdit(t *testing.T) {
	for name, bad := range map[string]string{
		"no JSON":      `{"a":`,
		"a list":       `[]`,
		"twice":        `{"hooks":{},"hooks":{}}`,
		"hooks a list": `{"hooks":[]}`,
		"event a map":  `{"hooks":{"PreToolUse":{}}}`,
		"comment":      "{ // mine\n}",
	} {
		if out, err := install.Claude([]byte(bad), placed); err == nil {
			t.Errorf("%s: gave %s", name, out)
		}
	}
	if _, err := install.Claude(nil, install.Hook{Program: "sayso-hook"}); err == nil {
		t.Error("a program by a relative path was taken")
	}
}

func TestSurveyClaude(t *testing.T) {
	s, err := install.SurveyClaude([]byte(`{
		"disableAllHooks": true, "allowManagedHooksOnly": true,
		"permissions": {"defaultMode": "acceptEdits",
			"allow": ["Bash(npm test)", "Bash(npm run *)", "Read", "mcp__memory__get", "mcp__memory"],
			"ask": ["Bash(git push:*)"], "deny": ["Read(./.env)", "Nonsense", "WebSearch"]},
		"hooks": {"PreToolUse": [{"hooks": [{"type":"command","command":"lint"},{"type":"http","url":"http://x"}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range s.Rules {
		got = append(got, r.List+" "+r.Text+" > "+r.Pattern)
		if (r.Pattern == "") != (r.Why != "") {
			t.Errorf("%+v", r)
		}
	}
	want := []string{
		"allow Bash(npm test) > bash:npm test", "allow Bash(npm run *) > ", "allow Read > file-read",
		"allow mcp__memory__get > mcp__memory__get", "allow mcp__memory > ", "ask Bash(git push:*) > ",
		"deny Read(./.env) > ", "deny Nonsense > ", "deny WebSearch > web-search",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if !s.DisableAllHooks || !s.ManagedOnly || s.DefaultMode != "acceptEdits" || s.Installed {
		t.Errorf("%+v", s)
	}
	if d := cmp.Diff([]string{"lint", "http://x"}, s.OtherHooks); d != "" {
		t.Error(d)
	}
}

func FuzzClaude(f *testing.F) {
	for _, s := range settings {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, before string) {
		clean, err := install.Unclaude([]byte(before))
		if err != nil {
			return
		}
		in, err := install.Claude(clean, placed)
		if err != nil {
			return
		}
		out, err := install.Unclaude(in)
		if err != nil {
			t.Fatalf("%v in\n%s", err, in)
		}
		if len(strings.TrimSpace(string(clean))) == 0 {
			return
		}
		want, err := jcs.Canonicalize(clean)
		if err != nil {
			t.Fatal(err)
		}
		got, err := jcs.Canonicalize(out)
		if err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		if d := cmp.Diff(bare(string(want)), bare(string(got))); d != "" {
			t.Errorf("%s", d)
		}
	})
}

// bare leaves out the empty lists and objects that may go when our hooks go.
func bare(s string) string {
	for _, e := range []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionStart", "SessionEnd"} {
		for _, form := range []string{`"` + e + `":[],`, `,"` + e + `":[]`, `"` + e + `":[]`} {
			s = strings.ReplaceAll(s, form, "")
		}
	}
	for _, form := range []string{`"hooks":{},`, `,"hooks":{}`, `"hooks":{}`} {
		s = strings.ReplaceAll(s, form, "")
	}
	return s
}
