package install_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/install"
)

func TestOpencode_thenOutLeavesNothing(t *testing.T) {
	h := host(t, "opencode")
	in, err := h.Put(nil, placed)
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.Survey(in)
	if err != nil || !s.Installed || s.Program != program || s.State != "/home/a person/state" {
		t.Errorf("%+v, %v", s, err)
	}
	if again, err := h.Put(in, placed); err != nil || string(again) != string(in) {
		t.Errorf("a second time changes it: %v\n%s", err, cmp.Diff(string(in), string(again)))
	}
	if out, err := h.Take(in); err != nil || len(out) > 0 {
		t.Errorf("left: %q, %v", out, err)
	}
	if s, err := h.Survey(nil); err != nil || s.Installed || s.Program != "" {
		t.Errorf("of no file: %+v, %v", s, err)
	}
	if _, err := h.Put(nil, install.Hook{Program: "sayso-hook"}); !errors.Is(err, sayso.ErrInvalid) {
		t.Errorf("a program that is looked for: %v", err)
	}
}

// The plugin is a program: one line more lets everything run.
func TestOpencode_changed(t *testing.T) {
	h := host(t, "opencode")
	in, err := h.Put(nil, placed)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"const askingMS = 3600000", "const askingMS = 1"},
		{"export const Sayso = async (opened) => {\n", "export const Sayso = async (opened) => {\n  return {}\n"},
		{"const hook = [", "const hook = [] //"},
		{`"opencode"`, `"gemini"`},
	} {
		changed := strings.Replace(string(in), c[0], c[1], 1)
		if changed == string(in) {
			t.Fatalf("there is no %s in the plugin", c[0])
		}
		if s, err := h.Survey([]byte(changed)); err != nil || s.Installed || s.Differs == "" {
			t.Errorf("with %s it counts as installed: %+v, %v", c[1], s, err)
		}
		if mended, err := h.Put([]byte(changed), placed); err != nil || string(mended) != string(in) {
			t.Errorf("with %s it is not mended: %v", c[1], err)
		}
		if out, err := h.Take([]byte(changed)); err != nil || len(out) > 0 {
			t.Errorf("with %s it is not taken out: %v", c[1], err)
		}
	}
}

// A plugin of somebody else that has this name stays.
func TestOpencode_somebodyElses(t *testing.T) {
	h := host(t, "opencode")
	other := []byte("export const Other = async () => ({})\n")
	if _, err := h.Put(other, placed); !errors.Is(err, sayso.ErrConflict) {
		t.Errorf("overwritten: %v", err)
	}
	if out, err := h.Take(other); err != nil || string(out) != string(other) {
		t.Errorf("taken out: %q, %v", out, err)
	}
	if s, err := h.Survey(other); err != nil || s.Installed || s.Differs != "" {
		t.Errorf("taken for ours: %+v, %v", s, err)
	}
}

func TestOpencode_inTheWay(t *testing.T) {
	h := host(t, "opencode")
	dir := t.TempDir()
	for _, tt := range []struct {
		name, value string
		scope       install.Scope
		off         bool
	}{
		{"HOME", "/home/dev", install.ScopeUser, false},
		{"OPENCODE_PURE", "1", install.ScopeUser, true},
		{"OPENCODE_PURE", "TRUE", install.ScopeProject, true},
		{"OPENCODE_PURE", "0", install.ScopeUser, false},
		{"OPENCODE_DISABLE_PROJECT_CONFIG", "1", install.ScopeProject, true},
		{"OPENCODE_DISABLE_PROJECT_CONFIG", "1", install.ScopeUser, false},
	} {
		getenv := func(name string) string {
			if name == tt.name {
				return tt.value
			}
			return ""
		}
		d := h.InTheWay(getenv, dir, install.Place{Scope: tt.scope})
		if (d != nil) != tt.off {
			t.Errorf("%s=%s, %s: %+v", tt.name, tt.value, tt.scope, d)
		}
		if d != nil && d.Type != "unset "+tt.name {
			t.Errorf("%s=%s: type %q", tt.name, tt.value, d.Type)
		}
	}
}

func TestOpencode_places(t *testing.T) {
	h := host(t, "opencode")
	for _, tt := range []struct{ config, want string }{
		{"", "/home/dev/.config/opencode/plugin/sayso.js"},
		{"/c", "/c/opencode/plugin/sayso.js"},
	} {
		getenv := func(name string) string {
			return map[string]string{"HOME": "/home/dev", "XDG_CONFIG_HOME": tt.config}[name]
		}
		user, err := h.Place(h.Places(getenv, "/w"), install.ScopeUser)
		if err != nil || user != filepath.FromSlash(tt.want) {
			t.Errorf("%s, %v", user, err)
		}
		project, err := h.Place(h.Places(getenv, "/w"), install.ScopeProject)
		if err != nil || project != filepath.FromSlash("/w/.opencode/plugin/sayso.js") {
			t.Errorf("%s, %v", project, err)
		}
	}
}

func TestWall_opencode(t *testing.T) {
	w := wallOf(t, "opencode")
	getenv := func(name string) string { return map[string]string{"HOME": "/home/dev"}[name] }
	if path := w.Path(getenv, ""); path != filepath.FromSlash("/home/dev/.config/opencode/config.json") {
		t.Error(path)
	}
	in, err := w.Put(nil)
	if err != nil || !w.Stands(in) || w.Stands(nil) {
		t.Errorf("%v\n%s", err, in)
	}
	if out, err := w.Take(in); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, theirs := range []string{"{}\n", strings.Replace(string(in), "ask", "allow", 1)} {
		if _, err := w.Put([]byte(theirs)); !errors.Is(err, sayso.ErrConflict) || w.Stands([]byte(theirs)) {
			t.Errorf("written over: %s", theirs)
		}
		if _, err := w.Take([]byte(theirs)); !errors.Is(err, sayso.ErrConflict) {
			t.Errorf("taken: %s", theirs)
		}
	}
}
