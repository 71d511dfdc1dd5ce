package install_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/install"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestReplace_keepsModeLinkAndACopy(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles.json"), filepath.Join(dir, "settings.json")
	if err := os.WriteFile(real, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	backup, err := install.Replace(link, []byte("old"), []byte("new"), noon)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{real: "new", link: "new", backup: "old"} {
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", path, got, err)
		}
	}
	st, err := os.Lstat(link)
	if err != nil || st.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link became %v, %v", st.Mode(), err)
	}
	if st, err := os.Stat(real); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("the mode became %v, %v", st.Mode(), err)
	}
	if _, err := install.Replace(link, []byte("old"), []byte("newer"), noon); !errors.Is(err, sayso.ErrConflict) {
		t.Errorf("a file that changed meanwhile: %v", err)
	}
}

func TestClaudeTrusts(t *testing.T) {
	dir := t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": dir}[name] }
	if ok, err := install.ClaudeTrusts(getenv, "/p"); ok || err != nil {
		t.Errorf("with nothing known: %v %v", ok, err)
	}
	text := `{"x":1,"projects":{"/p":{"hasTrustDialogAccepted":true,"y":2},"/q":{}}}`
	if err := os.WriteFile(filepath.Join(dir, ".claude.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for project, want := range map[string]bool{"/p": true, "/q": false, "/r": false} {
		if ok, err := install.ClaudeTrusts(getenv, project); ok != want || err != nil {
			t.Errorf("%s: %v %v, want %v", project, ok, err, want)
		}
	}
}

func TestFits(t *testing.T) {
	host, _ := install.Find("claude-code")
	for version, want := range map[string]error{
		"2.1.294": sayso.ErrNotAllowed, "2.1.295": nil, "2.1.329": nil, "2.2.0": nil, "3.0.0": nil, "1.9.999": sayso.ErrNotAllowed,
		"2.1.295-beta": nil, "2.1": sayso.ErrInvalid, "": sayso.ErrInvalid, "two": sayso.ErrInvalid,
	} {
		if err := host.Fits(version); !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("%q: %v, want %v", version, err, want)
		}
	}
}

func TestClaudePlace(t *testing.T) {
	host, _ := install.Find("claude-code")
	home := t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	project := filepath.Join(home, "app")
	for _, tt := range []struct {
		dir   string
		scope install.Scope
		want  string
	}{
		{project, install.ScopeUser, home + "/.claude/settings.json"},
		{project, install.ScopeProject, project + "/.claude/settings.json"},
		{project, install.ScopeLocal, project + "/.claude/settings.local.json"},
		{project, install.ScopeManaged, ""},
		{project, "everywhere", ""},
		{home, install.ScopeUser, home + "/.claude/settings.json"},
		{home, install.ScopeProject, home + "/.claude/settings.json"}, // one file for both
		{home, "everywhere", ""},
	} {
		got, err := host.Place(install.ClaudePlaces(getenv, tt.dir), tt.scope)
		if got != tt.want || (err != nil) != (tt.want == "") || err != nil && !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%s in %s: %q, %v; want %q", tt.scope, tt.dir, got, err, tt.want)
		}
	}
}
