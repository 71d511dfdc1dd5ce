package policy_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

// TestSH11_outside: a condition sees whether a command runs, reads or writes
// outside the workspace, also where the policy names no folders and nobody
// looked where words lead.
func TestSH11_outside(t *testing.T) {
	const rule = `
rules:
  - allow: "bash:*"
    when: '!call.commands.exists(c, c.outside)'
`
	looked := load(t, "version: 1\nsandbox: {paths: {all: {root: /, mode: rw, write_approval: false}}}"+rule)
	blind := load(t, "version: 1"+rule)
	for _, tt := range []struct {
		line                string
		looked, notLookedAt sayso.Effect
	}{
		{"ls", sayso.Allow, sayso.Allow},
		{"cat main.go docs/a.md ./docs/../main.go", sayso.Allow, sayso.Allow},
		{"cat /home/dev/app/main.go", sayso.Allow, sayso.Allow},
		{"cd docs && cat ../main.go *.md ../docs/*.md", sayso.Allow, sayso.Allow},
		{"cd docs && cd .. && ls", sayso.Allow, sayso.Allow},
		{"cat *.go docs/{a,b}.md .git*", sayso.Allow, sayso.Allow},
		{"grep -rn /api/v1 .", sayso.Allow, sayso.Ask}, // nothing is there, so it is a pattern
		{"cat readme", sayso.Allow, sayso.Allow},
		{"diff main.go /dev/stdin && tee /dev/null", sayso.Allow, sayso.Allow},

		{"go test -run /sub ./...", sayso.Allow, sayso.Ask},
		{"tsc --outDir /api/v1", sayso.Allow, sayso.Ask},
		{"tsc --outDir /opt/x", sayso.Ask, sayso.Ask},
		{"tsc --outDir=/opt/x/y", sayso.Ask, sayso.Ask},
		{"python3 x.py /home/new", sayso.Ask, sayso.Ask},
		{"unheard-of /var/new", sayso.Ask, sayso.Ask},
		{"rg /opt/new .", sayso.Allow, sayso.Ask},
		{"cat /api/v1", sayso.Ask, sayso.Ask},
		{"cat ../gone", sayso.Ask, sayso.Ask},
		{"grep x ../gone", sayso.Ask, sayso.Ask},
		{"cat /etc/passwd", sayso.Ask, sayso.Ask},
		{"cat ../app2/secret", sayso.Ask, sayso.Ask},
		{"cat ../app2/*", sayso.Ask, sayso.Ask},
		{"cat docs/../../app2/secret", sayso.Ask, sayso.Ask},
		{"cat out/passwd", sayso.Ask, sayso.Allow}, // a link, of which nobody knew
		{"ls /etc", sayso.Ask, sayso.Ask},
		{"ls ..", sayso.Ask, sayso.Ask},
		{"ls ~", sayso.Ask, sayso.Ask},
		{"cat ~/notes", sayso.Ask, sayso.Ask},
		{"cat /etc/pass*", sayso.Ask, sayso.Ask},
		{"cat .[.]/app2/secret", sayso.Ask, sayso.Ask},
		{"cat docs/.?/.?/app2/secret", sayso.Ask, sayso.Ask},
		{"cat {/etc,docs}/passwd", sayso.Ask, sayso.Ask},
		{"cd / && ls", sayso.Ask, sayso.Ask},
		{"cd .. && ls", sayso.Ask, sayso.Ask},
		{"cd out && ls", sayso.Ask, sayso.Allow},
		{"cd ./out/../out/ && cat", sayso.Ask, sayso.Allow},
		{"cd - && ls", sayso.Ask, sayso.Ask},
		{"grep --file=/etc/passwd main.go", sayso.Ask, sayso.Ask},
		{"mkdir -p /new/folder", sayso.Ask, sayso.Ask},
		{"touch ../new", sayso.Ask, sayso.Ask},
		{"cp main.go /new", sayso.Ask, sayso.Ask},
		{"find . -name x; find / -name x", sayso.Ask, sayso.Ask},
	} {
		if v := judge(looked, bash(t, tt.line)); v.Effect != tt.looked {
			t.Errorf("%s: %s by %q (%s), want %s", tt.line, v.Effect, v.Rule, v.Reason, tt.looked)
		}
		if v := judge(blind, bash(t, tt.line)); v.Effect != tt.notLookedAt {
			t.Errorf("%s, without facts: %s by %q (%s), want %s", tt.line, v.Effect, v.Rule, v.Reason, tt.notLookedAt)
		}
	}
}
