package policy_test

import (
	"os"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
)

// The agent reads `notes.txt`, a link to the person's private key. The rules deny
// what shows secrets, but named no folders, so nobody looked where the word leads.
func TestFS2_aLinkToSecrets(t *testing.T) {
	root, app := project(t)
	for name, to := range map[string]string{"notes.txt": ".env", "src/deep.txt": "../.env"} {
		if err := os.Symlink(to, app+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	p := load(t, rules(`allow: "bash:*"`, "deny: bash\n    when: call.commands.exists(c, c.secrets)", "deny: {kind: shell}\n    when: call.secrets"))
	for line, want := range map[string]sayso.Effect{
		"cat notes.txt": sayso.Deny, "cat < notes.txt": sayso.Deny, "cat src/deep.txt": sayso.Deny, "cd src && cat deep.txt": sayso.Deny, "cat n*": sayso.Deny, "cat [!x]otes.txt": sayso.Deny,
		"cat */deep.txt": sayso.Deny, "cat s*/*.txt": sayso.Deny, "{ cat; } < notes.txt": sayso.Deny, "cat a.go": sayso.Allow, "cat *.go": sayso.Allow, "cat */*.go": sayso.Allow, "grep x a.go src/b.go": sayso.Allow,
	} {
		c := bash(t, line)
		c.Cwd = app
		if v := p.Judge(t.Context(), c, facts.Gather(t.Context(), c, facts.Options{Home: root, Roots: p.Roots(), Policy: p.Version()})); v.Effect != want {
			t.Errorf("%s: %s by %q (%s), want %s", line, v.Effect, v.Rule, v.Reason, want)
		}
	}
}
