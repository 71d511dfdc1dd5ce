package policy_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
)

// TestFS3_globs: a glob is what it stands for: a file that steers other programs,
// or a link to a secret.
func TestFS3_globs(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"app/.git", "app/plain", "app/npm", ".ssh"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"app/plain/a.json", "app/npm/.mcp.json", ".ssh/id_rsa", "app/npm/a.txt"} {
		if err := os.WriteFile(filepath.Join(home, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"app/npm/b.key": "../../.ssh/id_rsa", "app/npm/c.json": ".mcp.json"} {
		if err := os.Symlink(to, filepath.Join(home, from)); err != nil {
			t.Fatal(err)
		}
	}
	p := load(t, rules(`allow: "bash:*"`, "ask: {kind: shell}\n    when: call.secrets"))
	for line, want := range map[string]sayso.Effect{
		"tee npm/*.txt": sayso.Allow, "tee npm/*.json": sayso.Ask, "tee npm/c*": sayso.Ask, "cd npm; tee *.json": sayso.Ask, "cat npm/*.txt": sayso.Allow, "cat npm/b*": sayso.Ask,
	} {
		c := bash(t, line)
		c.Cwd = home + "/app"
		f := facts.Gather(t.Context(), c, facts.Options{Home: home, Roots: p.Roots(), Policy: p.Version()})
		if v := p.Judge(t.Context(), c, f); v.Effect != want {
			t.Errorf("%q: %s by %q (%s), want %s", line, v.Effect, v.Rule, v.Reason, want)
		}
	}
}
