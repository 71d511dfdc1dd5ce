package broker_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
)

// elicit is a rule that lets people answer by way of the client.
func elicit(change func(*sayso.Match)) sayso.Match {
	m := rule(sayso.Ask)
	m.Elicit = true
	if change != nil {
		change(&m)
	}
	return m
}

// By way of the client a person answers only where all that asks lets them, and
// never what is dangerous or takes a person for certain.
func TestElicitable(t *testing.T) {
	for name, tt := range map[string]struct {
		v      sayso.Verdict
		policy sayso.Effect // of the session; deny for none
		locked bool
		want   bool
	}{
		"a rule that lets them":       {v: ruled(elicit(nil)), want: true},
		"a rule that does not":        {v: ruled(rule(sayso.Ask))},
		"one of two":                  {v: ruled(elicit(nil), rule(sayso.Ask))},
		"an allow beside it":          {v: ruled(elicit(nil), rule(sayso.Allow)), want: true},
		"no rule":                     {v: sayso.Verdict{Match: rule(sayso.Ask), Default: rule(sayso.Ask)}},
		"danger":                      {v: sayso.Verdict{Match: elicit(nil), Matches: []sayso.Match{elicit(nil)}, Danger: []sayso.Danger{"network_write"}}},
		"each time anew":              {v: ruled(elicit(func(m *sayso.Match) { m.Remember = sayso.RememberNever }))},
		"a person":                    {v: ruled(elicit(func(m *sayso.Match) { m.Person = true }))},
		"not understood":              {v: ruled(elicit(func(m *sayso.Match) { m.Cause = sayso.CauseNotUnderstood }))},
		"a session that has it asked": {v: ruled(elicit(nil)), policy: sayso.Ask},
		"the lock":                    {v: ruled(elicit(nil)), locked: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newHarness(t, &rules{version: "v1", judge: func(sayso.Call) sayso.Verdict { return tt.v }}, func(w *harness) {
					w.opts.Locked = func() bool { return tt.locked }
				})
				ctx := t.Context()
				if tt.policy == sayso.Ask {
					if err := w.b.Gate(agent).Begin(ctx, "s1", ""); err != nil {
						t.Fatal(err)
					}
					if err := w.b.Inbox(dev).SetPolicies(ctx, "s1", map[string]sayso.Effect{"bash": sayso.Ask}); err != nil {
						t.Fatal(err)
					}
				}
				c := sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"ls"}`), Session: "s1", CallID: "c1"}
				done := make(chan error, 1)
				ctx, leave := context.WithCancel(ctx)
				go func() {
					_, err := w.b.Gate(agent).Admit(ctx, sayso.Admission{Call: c})
					done <- err
				}()
				r, full, err := w.b.Elicitable(t.Context(), agent, "s1", "c1")
				if got := err == nil; got != tt.want || err != nil && !errors.Is(err, sayso.ErrNotAllowed) {
					t.Errorf("elicitable: %v, want %v: %v", got, tt.want, err)
				}
				if tt.want && string(full.Args) != `{"command":"ls"}` {
					t.Errorf("shown: %s", full.Args)
				}
				if !tt.want { // nor is an answer taken that comes that way
					if r, err = w.b.Inbox(dev).Request(t.Context(), string(first(t, w).ID)); err != nil {
						t.Fatal(err)
					}
					if _, err := w.b.Elicited(t.Context(), agent, r, sayso.Deny, "", time.Minute); !errors.Is(err, sayso.ErrNotAllowed) {
						t.Errorf("denied: %v", err)
					}
				}
				_, err = w.b.Elicited(t.Context(), agent, r, sayso.Allow, "", time.Minute)
				if (err == nil) != tt.want {
					t.Errorf("answered: %v", err)
				}
				leave()
				<-done
			})
		})
	}
}

// first is the request that is open.
func first(t *testing.T, w *harness) sayso.Request {
	t.Helper()
	list, err := w.b.Inbox(dev).Requests(t.Context(), sayso.RowQuery{States: sayso.OpenStates()})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d requests are open: %v", len(list), err)
	}
	return list[0]
}

// What came too fast for a person to read is not taken, and is on the record; who
// asks for another may not say what its person said; and a policy that by now takes
// a person elsewhere has the last word.
func TestElicited_notTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &rules{version: "v1", judge: func(sayso.Call) sayso.Verdict { return ruled(elicit(nil)) }}
		w := newHarness(t, p)
		ctx, leave := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := w.b.Gate(agent).Admit(ctx, sayso.Admission{Call: sayso.Call{Tool: "bash", Args: sayso.Args(`{}`), Session: "s1", CallID: "c1"}})
			done <- err
		}()
		r, _, err := w.b.Elicitable(ctx, agent, "s1", "c1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.b.Elicited(ctx, agent, r, sayso.Allow, "", 999*time.Millisecond); !errors.Is(err, sayso.ErrNotAllowed) {
			t.Errorf("too fast: %v", err)
		}
		if _, err := w.b.Elicited(ctx, program, r, sayso.Allow, "", time.Minute); !errors.Is(err, sayso.ErrNotAllowed) {
			t.Errorf("another requester: %v", err)
		}
		p.set("v2", func(sayso.Call) sayso.Verdict { return ruled(rule(sayso.Ask)) })
		if _, err := w.b.Elicited(ctx, agent, r, sayso.Allow, "", time.Minute); !errors.Is(err, sayso.ErrNotAllowed) {
			t.Errorf("by the rules of now: %v", err)
		}
		if _, err := w.b.Elicited(ctx, agent, r, sayso.Deny, "no", time.Minute); err != nil {
			t.Errorf("a denial: %v", err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		leave()
		var why []string
		events, err := w.b.Inbox(dev).Life(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Type == sayso.EventAnswerRefused {
				why = append(why, string(e.Payload)+e.Actor.Channel)
			}
		}
		if len(why) != 1 || why[0] != `{"effect":"allow","why":"too-fast"}elicitation` {
			t.Errorf("refused: %q", why)
		}
	})
}
