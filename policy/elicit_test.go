package policy_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// A call may be answered by way of the client where every rule that asks about it
// says so, and where nothing else does: not the default, not a danger, and not on
// the word of a project.
func TestElicit(t *testing.T) {
	const lets = "version: 1\nrules:\n  - {ask: mcp__files__write, elicit: true}\n"
	const asks = "version: 1\nrules:\n  - ask: mcp__files__*\n"
	for name, tt := range map[string]struct {
		tiers []policy.Tiered
		want  bool
	}{
		"the rule that asks":        {tiersOf(t, policy.TierUser, lets), true},
		"another one asks too":      {tiersOf(t, policy.TierUser, lets+"  - ask: mcp__files__*\n"), false},
		"one allows beside it":      {tiersOf(t, policy.TierUser, lets+"  - allow: mcp__files__*\n"), true},
		"the organisation asks too": {append(tiersOf(t, policy.TierUser, lets), tiersOf(t, policy.TierOrg, asks)...), false},
		"a project lets it":         {tiersOf(t, policy.TierRepo, lets), false},
		"no rule":                   {tiersOf(t, policy.TierUser, "version: 1\ndefault: ask\n"), false},
		"it says false":             {tiersOf(t, policy.TierUser, "version: 1\nrules:\n  - {ask: mcp__files__write, elicit: false}\n"), false},
	} {
		p, err := policy.New(policy.Options{}, tt.tiers...)
		if err != nil {
			t.Fatal(err)
		}
		c := sayso.Call{Tool: "write", Server: "files", Host: sayso.HostMCP, DefinitionDigest: "sha256:x", Kind: sayso.KindMCP, Args: sayso.Args(`{}`), Cwd: "/srv/app"}
		v := p.Judge(t.Context(), c, sayso.Facts{Workspace: "/srv/app"})
		if name == "a project lets it" && v.File != "policy.yaml" {
			t.Errorf("the rule of the project did not speak: %+v", v.Match)
		}
		if got := (sayso.Besides{}).Settle(v); got.Effect != sayso.Ask || got.Elicit != tt.want {
			t.Errorf("%s: %v, elicit %v", name, got.Effect, got.Elicit)
		}
	}
}

// tiersOf is a file of a tier.
func tiersOf(t *testing.T, tier policy.Tier, text string) []policy.Tiered {
	t.Helper()
	f, err := policy.Parse("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out := policy.Tiered{Tier: tier, File: f}
	if tier == policy.TierRepo {
		out.Workspace = "/srv/app"
	}
	return []policy.Tiered{out}
}
