package install_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/jcs"
)

func wallOf(t *testing.T, host string) install.Wall {
	t.Helper()
	h, ok := install.Find(host)
	if !ok || h.Wall == nil {
		t.Fatalf("%s has no second wall", host)
	}
	return *h.Wall
}

func TestWall_claudeThenOutLeavesNoTrace(t *testing.T) {
	w := wallOf(t, "claude-code")
	more := map[string]string{"permissions": "{\n  \"permissions\": {\n    \"ask\": [\"Bash\"]\n  },\n  \"z\": 1\n}\n", "in a line": `{"permissions":{"deny":[]}}`}
	for name, before := range settings {
		more[name] = before
	}
	for name, before := range more {
		t.Run(name, func(t *testing.T) {
			if w.Stands([]byte(before)) {
				t.Error("it stands before it was put")
			}
			in, err := w.Put([]byte(before))
			if err != nil {
				t.Fatal(err)
			}
			var read struct {
				Permissions map[string]any `json:"permissions"`
			}
			if err := jcs.UnmarshalLenient(in, &read); err != nil || read.Permissions["disableBypassPermissionsMode"] != "disable" || !w.Stands(in) {
				t.Errorf("%+v, %v in\n%s", read, err, in)
			}
			again, err := w.Put(in)
			if err != nil || string(again) != string(in) {
				t.Errorf("a second time: %v\n%s", err, again)
			}
			out, err := w.Take(in)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(before, string(out)); d != "" {
				t.Errorf("a trace is left:\n%s", d)
			}
		})
	}
	for _, bad := range []string{`{"permissions":{"disableBypassPermissionsMode":"enable"}}`, `{"permissions":[]}`, `[]`} {
		if out, err := w.Put([]byte(bad)); err == nil {
			t.Errorf("%s became %s", bad, out)
		}
		if w.Stands([]byte(bad)) {
			t.Errorf("it stands in %s", bad)
		}
	}
}

// The walls that are files of their own.
func TestWall_rules(t *testing.T) {
	for host, at := range map[string]string{"gemini": "/home/dev/.gemini/policies/sayso.toml", "codex": "/home/dev/.codex/rules/sayso.rules"} {
		t.Run(host, func(t *testing.T) { wallOfRules(t, host, at) })
	}
}

func wallOfRules(t *testing.T, host, at string) {
	w := wallOf(t, host)
	if path := w.Path(func(name string) string { return map[string]string{"HOME": "/home/dev"}[name] }, ""); path != at {
		t.Error(path)
	}
	in, err := w.Put(nil)
	if err != nil || !w.Stands(in) || w.Stands(nil) {
		t.Errorf("%v\n%s", err, in)
	}
	if out, err := w.Take(in); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, theirs := range []string{"[[rule]]\n", string(in) + "# mine\n"} {
		if _, err := w.Put([]byte(theirs)); err == nil || w.Stands([]byte(theirs)) {
			t.Errorf("written over: %s", theirs)
		}
	}
	if out, err := w.Take(append(in[:len(in):len(in)], "# mine\n"...)); err != nil || string(out) != "# mine\n" {
		t.Errorf("what was written beside it is gone: %v, %q", err, out)
	}
	for _, theirs := range []string{"[[rule]]\n", strings.NewReplacer("ask_user", "allow", "prompt", "allow").Replace(string(in))} {
		if _, err := w.Take([]byte(theirs)); err == nil {
			t.Errorf("somebody else's was taken: %s", theirs)
		}
	}
}
