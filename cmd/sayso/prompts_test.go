package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
)

func TestCountPrompts(t *testing.T) {
	call := func(host, rule string, source sayso.Source) sayso.Request {
		return sayso.Request{Host: host, Rule: rule, File: "policy.yaml", Line: 3, Decision: &sayso.Decision{Source: source}}
	}
	open := sayso.Request{Host: "codex", Rule: "default: ask", State: sayso.StateOpen}
	got := countPrompts([]sayso.Request{
		call("claude-code", "allow: bash:ls*", sayso.SourcePolicy), call("claude-code", "pushing", sayso.SourcePerson), call("claude-code", "pushing", sayso.SourceGrant),
		call("claude-code", "pushing", sayso.SourceDeadline), call("claude-code", "installing", sayso.SourcePerson), call("claude-code", "installing", sayso.SourceMode),
		call("", "reading", sayso.SourcePolicy), open,
	})
	want := &prompts{
		Calls: 8, Prompts: 4, Per100: 50, Rule: "pushing", RuleFile: "policy.yaml", RuleLine: 3, RuleAsked: 2,
		Hosts: []hostPrompts{{"codex", 1, 1, 100}, {"claude-code", 6, 3, 50}, {"", 1, 0, 0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if p := countPrompts(nil); p != nil {
		t.Errorf("of no calls: %+v", p)
	}
	if p := countPrompts([]sayso.Request{call("x", "allow", sayso.SourcePolicy)}); p.Prompts != 0 || p.Rule != "" || p.Per100 != 0 {
		t.Errorf("nobody was asked: %+v", p)
	}
	if p := countPrompts([]sayso.Request{call("x", "b", sayso.SourcePerson), call("x", "a", sayso.SourcePerson)}); p.Rule != "a" {
		t.Errorf("of two that ask alike it is %q", p.Rule)
	}
}
