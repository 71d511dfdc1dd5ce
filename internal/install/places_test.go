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

// Two changes within one second leave two copies, and none takes the place of what
// somebody else put there.
func TestReplace_neverReplacesACopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	copies := map[string]string{}
	for _, step := range []string{"01", "12", "23"} {
		copied, err := install.Replace(path, []byte(step[:1]), []byte(step[1:]), noon)
		if err != nil {
			t.Fatal(err)
		}
		copies[copied] = step[:1]
	}
	if len(copies) != 3 {
		t.Errorf("copies: %v", copies)
	}
	for copied, want := range copies {
		if got, err := os.ReadFile(copied); err != nil || string(got) != want {
			t.Errorf("%s holds %q, want %q: %v", copied, got, want, err)
		}
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
		"2.1.294": sayso.ErrNotAllowed, "2.1.295": nil, "2.1.330": nil, "2.2.0": nil, "3.0.0": nil, "1.9.999": sayso.ErrNotAllowed,
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

// What stands in a project may lead anywhere, also where nothing is yet; what is
// changed is in it.
func TestReal(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo, out := filepath.Join(base, "repo"), filepath.Join(base, "out")
	for _, dir := range []string{filepath.Join(repo, ".git"), filepath.Join(repo, "sub"), out} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(repo, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"out": out, "far": filepath.Join(out, "far"), "nowhere": "none"} {
		if err := os.Symlink(to, filepath.Join(repo, "sub", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../file", filepath.Join(repo, "sub", "up")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"up": file, "new": filepath.Join(repo, "sub", "new"), "a/b/new": filepath.Join(repo, "sub", "a", "b", "new"),
		"out": "", "out/new": "", "out/a/new": "", "far": "", "nowhere": "", "nowhere/new": "", "../../out/x": "",
	} {
		got, err := install.Real(install.Place{Scope: install.ScopeProject, Path: filepath.Join(repo, "sub", path)}, filepath.Join(repo, "sub"))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s leads to %q, %v; want %q", path, got, err, want)
		}
	}
	if got, err := install.Real(install.Place{Scope: install.ScopeUser, Path: filepath.Join(repo, "sub", "out")}, repo); err != nil || got != out {
		t.Errorf("a person's own link leads to %q, %v", got, err)
	}
}
