package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/policy"
)

// allocations is what judging a line of many commands, as agents write them,
// takes under some rules.
func allocations(t *testing.T, line string, list []string) float64 {
	t.Helper()
	p := loadWith(t, policy.Options{Home: "/home/dev"}, rules(list...))
	c := bash(t, line)
	f := gather(t.Context(), c)
	return testing.AllocsPerRun(10, func() { p.Judge(t.Context(), c, f) })
}

// TestSH12_rulesCostNoLook holds that rules which have nothing to say of a line
// cost next to nothing each, however many commands it has: read whole, and where
// its end was not found.
func TestSH12_rulesCostNoLook(t *testing.T) {
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf(`deny: "bash:tool%d destroy*"`, i))
	}
	line := strings.Repeat("git status -s | head -5\n", 200)
	for _, text := range []string{line, line + "'"} {
		few, all := allocations(t, text, many[:1]), allocations(t, text, many)
		if all > few+10 {
			t.Errorf("%.0f allocations with one rule, %.0f with a hundred", few, all)
		}
	}
}

// TestSH12_conditionsShareTheirCall holds that what conditions see of a call is
// worked out once, not where each of them names it.
func TestSH12_conditionsShareTheirCall(t *testing.T) {
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("ask: \"bash:git*\"\n    when: 'call.host == \"%d\" && call.commands.size() > 0'", i))
	}
	line := strings.Repeat("git status -s docs | head -5\n", 200)
	one, all := allocations(t, line, many[:1]), allocations(t, line, many)
	if all > one+20*100 {
		t.Errorf("%.0f allocations with one condition, %.0f with twenty", one, all)
	}
}
