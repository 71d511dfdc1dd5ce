package policy

import (
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// TestDE1_theReaderBreaks: a line on which the reader of commands breaks is asked
// about, and denials are looked for in its text.
func TestDE1_theReaderBreaks(t *testing.T) {
	f, err := Parse("p", []byte("version: 1\ndefault: allow\nrules: [{allow: \"bash:ls*\"}, {deny: \"bash:rm -r*\"}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(Options{}, Tiered{Tier: TierUser, File: f})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]sayso.Effect{"ls": sayso.Ask, "ls; sudo rm -r x": sayso.Deny, "echo 'rm x'": sayso.Ask} {
		var s subject
		facts := sayso.Facts{Workspace: "/a", Cwd: "/a"}
		s.of(&sayso.Call{Tool: "bash", Args: []byte(`{"command":""}`)}, &facts, "")
		s.arg = line
		s.inspected = s.inspect(func(string) *shell.Line { panic("broken") })
		spoken, rest := p.said(&s)
		var v sayso.Verdict
		p.speak(&v, spoken)
		v.Matches = append(v.Matches, p.floors(&s)...)
		if rest != nil {
			v.Matches = append(v.Matches, *rest)
		}
		if m := sayso.Combine(v.Matches, p.otherwise(&s)); m.Effect != want {
			t.Errorf("%q: %s by %q, want %s", line, m.Effect, m.Rule, want)
		}
	}
}
