package policy_test

import (
	"slices"
	"strings"
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

// A rule that lets a client put the question to the person, and that no call of such a
// client can fit, is not what was meant: loading says so, and where.
func TestElicit_thatNothingFits(t *testing.T) {
	for matcher, want := range map[string]bool{
		`mcp__files__write`: false, `mcp__*`: false, `"*"`: false, `{server: files}`: false, `{host: mcp}`: false, `{host: "*"}`: false, `{kind: mcp}`: false, `{tool: "write*"}`: false, `{caller: "x/*"}`: false,
		`"bash:git push*"`: false, `file-edit`: false, `"file-*"`: false, `{host: acp, kind: shell}`: false, `{kind: [list, read]}`: false, `[file-list, mcp__files__write]`: false, `of-some-editor`: false,
		`"web-search"`: true, `[file-list, delegate]`: true, `{host: claude-code}`: true, `{host: [codex, "gem*"], server: files}`: true, `{kind: [list, search]}`: true,
		`{kind: mcp, host: acp}`: true, `{kind: shell, host: mcp}`: true, `{kind: shell, server: files}`: true, `{tool: file-search, host: acp}`: true, `"todo-write"`: true,
	} {
		f, err := policy.Parse("policy.yaml", []byte("version: 1\nrules:\n  - ask: "+matcher+"\n    elicit: true\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := slices.ContainsFunc(f.Warnings, func(w policy.Warning) bool {
			return strings.HasPrefix(w.String(), "policy.yaml:4:5: warning: elicit: true never counts here")
		})
		if got != want {
			t.Errorf("%s: warned %v, want %v: %v", matcher, got, want, f.Warnings)
		}
	}
	for text, want := range map[string]int{"elicit: true": 1, "elicit: false": 0, "remember: never": 0} {
		for tier, more := range map[policy.Tier]int{policy.TierUser: 0, policy.TierRepo: want} {
			p, err := policy.New(policy.Options{}, tiersOf(t, tier, "version: 1\nrules:\n  - {ask: mcp__files__write, "+text+"}\n")...)
			if err != nil || len(p.Warnings()) != more {
				t.Errorf("%s in a file of %v: %v, %v", text, tier, p.Warnings(), err)
			}
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
