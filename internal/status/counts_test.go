package status_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/status"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// calls are calls, the newest first, each a minute older than the one before.
func calls(list ...sayso.Request) []sayso.Request {
	for i := range list {
		list[i].CreatedAt = noon.Add(-time.Duration(i) * time.Minute)
		list[i].ID = sayso.ID(fmt.Sprint("r", i))
	}
	return list
}

func decided(host, rule string, source sayso.Source) sayso.Request {
	return sayso.Request{Host: host, SessionID: "s-" + host, Cwd: "/app", Rule: rule, File: "policy.yaml", Line: 3, Decision: &sayso.Decision{Source: source}}
}

func TestCount(t *testing.T) {
	at := func(i int) time.Time { return noon.Add(-time.Duration(i) * time.Minute) }
	few := func(calls, prompts int, per100 float64) status.Rate {
		return status.Rate{Calls: calls, Prompts: prompts, Per100: per100, Few: true}
	}
	got := status.Count(calls(
		decided("claude-code", "allow: bash:ls*", sayso.SourcePolicy), decided("claude-code", "pushing", sayso.SourcePerson),
		decided("claude-code", "pushing", sayso.SourceGrant), decided("claude-code", "pushing", sayso.SourceDeadline),
		decided("claude-code", "installing", sayso.SourcePerson), decided("claude-code", "installing", sayso.SourceMode),
		decided("", "reading", sayso.SourcePolicy),
		sayso.Request{Host: "codex", SessionID: "s9", Rule: "default: ask", State: sayso.StateOpen},
	))
	want := status.Counts{
		Since: at(7), Rate: few(8, 4, 50),
		Hosts: []status.Host{{"codex", at(7), few(1, 1, 100)}, {"claude-code", at(0), few(6, 3, 50)}, {"", at(6), few(1, 0, 0)}},
		Rules: []status.Rule{
			{"pushing", "policy.yaml", 3, 2, "r1"}, {"default: ask", "", 0, 1, "r7"}, {"installing", "policy.yaml", 3, 1, "r4"},
		},
		Sessions: []status.Session{
			{"s-claude-code", "claude-code", "/app", at(0), few(6, 3, 50)}, {"s-", "", "/app", at(6), few(1, 0, 0)}, {"s9", "codex", "", at(7), few(1, 1, 100)},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What the doctor had an agent try counts as nobody's, and what an agent was allowed
// counts whatever it names.
func TestCount_leavesTheDoctorOut(t *testing.T) {
	named := func(e sayso.Effect, source sayso.Source) sayso.Request {
		return sayso.Request{Host: "claude-code", SessionID: "s1", Preview: sayso.Args(`{"command":"sayso approve ` + sayso.Canary + `"}`), Decision: &sayso.Decision{Effect: e, Source: source}}
	}
	got := status.Count(calls(named(sayso.Deny, sayso.SourcePolicy), named(sayso.Allow, sayso.SourcePolicy), named(sayso.Deny, sayso.SourcePerson)))
	if got.Calls != 2 || len(got.Sessions) != 1 || got.Sessions[0].Calls != 2 {
		t.Errorf("counted: %+v", got)
	}
}

// A call that the hook of its host asked about, and that then comes to the gateway, is
// two requests with one question.
func TestCount_oneQuestionCountsOnce(t *testing.T) {
	first := decided("claude-code", "pushing", sayso.SourcePerson)
	linked := decided("mcp", "pushing", sayso.SourcePerson)
	linked.Decision.Link = "r1"
	got := status.Count(calls(linked, first))
	if got.Calls != 2 || got.Prompts != 1 || len(got.Rules) != 1 || got.Rules[0].Asked != 1 || got.Rules[0].Request != "r1" {
		t.Errorf("counted: %+v", got)
	}
}

func TestCount_rateTakesCalls(t *testing.T) {
	var list []sayso.Request
	for n := range 2 * status.Enough {
		if got := status.Count(calls(list...)).Few; got != (n < status.Enough) {
			t.Errorf("%d calls: few is %v", n, got)
		}
		list = append(list, decided("x", "allow", sayso.SourcePolicy))
	}
}

// many is an inbox in which so many requests wait.
type many struct {
	sayso.Inbox
	n int
}

func (m many) Requests(_ context.Context, q sayso.RowQuery) ([]sayso.Request, error) {
	return make([]sayso.Request, min(m.n, q.Limit)), nil
}

func TestWaiting_saysWhereItStopsCounting(t *testing.T) {
	for n, cut := range map[int]bool{0: false, 3: false, status.MaxOpen - 1: false, status.MaxOpen + 1: true} {
		got, err := status.Waiting(t.Context(), many{n: n}, noon)
		if err != nil || got.Cut != cut || got.Count != min(n, status.MaxOpen) {
			t.Errorf("%d wait: %d count, cut %v, %v", n, got.Count, got.Cut, err)
		}
	}
}

func TestOpenOf(t *testing.T) {
	var open []sayso.Request
	for _, age := range []time.Duration{time.Second, time.Minute, 61 * time.Second, 59 * time.Minute, 2 * time.Hour, 48 * time.Hour, 72 * time.Hour} {
		open = append(open, sayso.Request{CreatedAt: noon.Add(-age)})
	}
	oldest := noon.Add(-72 * time.Hour)
	want := status.Open{Count: 7, Oldest: &oldest, Ages: []status.AgeCount{{"1m", 2}, {"10m", 1}, {"1h", 1}, {"1d", 1}, {"older", 2}}}
	if diff := cmp.Diff(want, status.OpenOf(open, noon)); diff != "" {
		t.Error(diff)
	}
	if got := status.OpenOf(nil, noon); got.Count != 0 || got.Oldest != nil || len(got.Ages) != len(status.Ages) {
		t.Errorf("nothing waits: %+v", got)
	}
}
