package policy_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// TestSH11_outside: a condition sees whether a command runs, reads or writes
// outside the workspace, also where the policy names no folders.
func TestSH11_outside(t *testing.T) {
	const rule = `
rules:
  - allow: "bash:*"
    when: '!call.commands.exists(c, c.outside)'
`
	named := load(t, "version: 1\nsandbox: {paths: {all: {root: /, mode: rw, write_approval: false}}}"+rule)
	unnamed := load(t, "version: 1"+rule)
	for _, tt := range []struct {
		line string
		want sayso.Effect
	}{
		{"ls", sayso.Allow},
		{"cat main.go docs/a.md ./docs/../main.go", sayso.Allow},
		{"cat /home/dev/app/main.go", sayso.Allow},
		{"cd docs && cat ../main.go *.md ../docs/*.md", sayso.Allow},
		{"cd docs && cd .. && ls", sayso.Allow},
		{"cat *.go docs/{a,b}.md .git*", sayso.Allow},
		{"grep -rn /api/v1 .", sayso.Allow}, // nothing is there, so it is a pattern
		{"cat readme", sayso.Allow},
		{"diff main.go /dev/stdin && tee /dev/null", sayso.Allow},

		{"go test -run /sub ./...", sayso.Allow},
		{"tsc --rootDir /api/v1", sayso.Allow},
		{"tsc --outDir /opt/x", sayso.Ask},
		{"tsc --outDir=/opt/x/y", sayso.Ask},
		{"python3 x.py /home/new", sayso.Ask},
		{"unheard-of /var/new", sayso.Ask},
		{"rg /opt/new .", sayso.Allow},
		{"cat /api/v1", sayso.Ask},
		{"cat ../gone", sayso.Ask},
		{"grep x ../gone", sayso.Ask},
		{"cat /etc/passwd", sayso.Ask},
		{"cat ../app2/secret", sayso.Ask},
		{"cat ../app2/*", sayso.Ask},
		{"cat docs/../../app2/secret", sayso.Ask},
		{"cat out/passwd", sayso.Ask}, // a link
		{"ls /etc", sayso.Ask},
		{"ls ..", sayso.Ask},
		{"ls ~", sayso.Ask},
		{"cat ~/notes", sayso.Ask},
		{"cat /etc/pass*", sayso.Ask},
		{"cat .[.]/app2/secret", sayso.Ask},
		{"cat docs/.?/.?/app2/secret", sayso.Ask},
		{"cat {/etc,docs}/passwd", sayso.Ask},
		{"cd / && ls", sayso.Ask},
		{"cd .. && ls", sayso.Ask},
		{"cd out && ls", sayso.Ask},
		{"cd ./out/../out/ && cat", sayso.Ask},
		{"cd - && ls", sayso.Ask},
		{"grep --file=/etc/passwd main.go", sayso.Ask},
		{"mkdir -p /new/folder", sayso.Ask},
		{"touch ../new", sayso.Ask},
		{"cp main.go /new", sayso.Ask},
		{"find . -name x; find / -name x", sayso.Ask},
	} {
		for name, p := range map[string]*policy.Policy{"folders": named, "none": unnamed} {
			if v := judge(p, bash(t, tt.line)); v.Effect != tt.want {
				t.Errorf("%s, %s named: %s by %q (%s), want %s", tt.line, name, v.Effect, v.Rule, v.Reason, tt.want)
			}
		}
	}
}
