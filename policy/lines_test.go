package policy_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestSH_lines holds the lines of testdata/lines.txt against a policy.
func TestSH_lines(t *testing.T) {
	p := load(t, rules(
		`allow: ["bash:ls*", "bash:cat*", "bash:echo*", "bash:grep*", "bash:sort*", "bash:test*", "bash:[*", "bash:true"]`,
		`allow: ["bash:timeout*", "bash:nice*", "bash:command*", "bash:sh*", "bash:find*"]`,
		`deny: ["bash:rm*", "bash:git push*"]`,
	))
	table, err := os.ReadFile("testdata/lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	for n, row := range strings.Split(string(table), "\n") {
		want, line, ok := strings.Cut(row, "\t")
		if !ok {
			continue
		}
		if text, err := strconv.Unquote(line); err == nil && line[0] == '"' {
			line = text
		}
		if v := judge(p, bash(t, line)); v.Effect.String() != want {
			t.Errorf("lines.txt:%d: %q: %s by %q (%s), want %s", n+1, line, v.Effect, v.Rule, v.Reason, want)
		}
	}
}
