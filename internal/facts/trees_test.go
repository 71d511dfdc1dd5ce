package facts_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
)

// What lies beneath a folder that a command reads as a whole is told, and no more of it
// than could be looked at.
func TestGather_trees(t *testing.T) {
	home := place(t)
	app := home + "/app"
	for _, name := range []string{".env", "sub/.env.local", "sub/deep/key.pem", "x.md", "node_modules/x/test.pem", ".git/x.pem", "target/CACHEDIR.TAG", "target/.env", "marked/CACHEDIR.TAG", "marked/.env", "target/x/.env"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(app, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(app, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(app+"/large", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../sub", app+"/large/link"); err != nil {
		t.Fatal(err)
	}
	all := []string{".env", "marked/.env", "sub/.env.local", "sub/deep/key.pem"}
	for line, want := range map[string][]sayso.TreeFact{
		"grep -r x .":             {{Path: app + "/.", Secrets: all}},
		"grep -r x . ; grep -r y": {{Path: app + "/.", Secrets: all}},
		"cd sub && grep -r x":     {{Path: app + "/sub/.", Secrets: []string{".env.local", "deep/key.pem"}}},
		"grep -r x s*":            {{Path: app + "/sub", Secrets: []string{".env.local", "deep/key.pem"}}},
		"grep -r x large":         nil,
		"grep -R x large":         {{Path: app + "/large", Secrets: []string{"link/.env.local", "link/deep/key.pem"}}},
		"grep -r x missing x.md":  nil,
		"grep x .":                nil,
		"grep -r x $PWD":          nil,
		"cat sub/deep/key.pem":    nil,
		"grep -r x sub sub/deep":  {{Path: app + "/sub", Secrets: []string{".env.local", "deep/key.pem"}}, {Path: app + "/sub/deep", Secrets: []string{"key.pem"}}},
		"grep -r x target":        {{Path: app + "/target", Secrets: []string{".env", "x/.env"}}},
	} {
		got := facts.Gather(t.Context(), call(t, app, "bash", obj{"command": line}), facts.Options{Home: home})
		if diff := cmp.Diff(want, got.Trees); diff != "" {
			t.Errorf("%s:\n%s", line, diff)
		}
	}
	for i := range 20_000 {
		if err := os.Mkdir(app+"/large/"+strconv.Itoa(i), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	got := facts.Gather(t.Context(), call(t, app, "bash", obj{"command": "grep -r x ."}), facts.Options{Home: home})
	if diff := cmp.Diff([]sayso.TreeFact{{Path: app + "/.", Cut: true}}, got.Trees); diff != "" {
		t.Errorf("a large folder:\n%s", diff)
	}
	got = facts.Gather(t.Context(), call(t, app, "file-search", obj{"path": "large"}), facts.Options{Home: home})
	if diff := cmp.Diff([]sayso.TreeFact{{Path: app + "/large", Cut: true}}, got.Trees); diff != "" || len(got.Secrets) > 0 {
		t.Errorf("a search of a large folder, %v:\n%s", got.Secrets, diff)
	}
}

func BenchmarkGather_trees(b *testing.B) {
	app := b.TempDir()
	for i := range 1000 {
		dir := filepath.Join(app, strconv.Itoa(i%10), strconv.Itoa(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		for k := range 15 {
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(k)), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	c := sayso.Call{Tool: "bash", Cwd: app, Args: sayso.Args(`{"command":"grep -r x ."}`)}
	for b.Loop() {
		facts.Gather(b.Context(), c, facts.Options{})
	}
}
