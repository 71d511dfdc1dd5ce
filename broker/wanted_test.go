package broker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
)

// Facts that were gathered for another policy are gathered anew for the one in
// force, once, by whoever can. Who cannot is judged by what came, without what it
// says of another policy's folders.
func TestFacts_forTheirPolicy(t *testing.T) {
	wanted := sayso.FactsWanted{Policy: "v1", Roots: []string{"./notes"}}
	failed := errors.New("no disk")
	for name, c := range map[string]struct {
		came   string // the version that the facts came with
		want   sayso.FactsWanted
		cannot bool
		err    error
		asked  int
	}{
		"for none":              {"", wanted, false, nil, 1},
		"for another":           {"v0", wanted, false, nil, 1},
		"for this one":          {"v1", wanted, false, nil, 0},
		"it names no folders":   {"v0", sayso.FactsWanted{Policy: "v1"}, false, nil, 0},
		"they cannot be":        {"", wanted, false, failed, 1},
		"the caller has no way": {"", wanted, true, nil, 0},
		"no way, and another's": {"v0", wanted, true, nil, 0},
		"no way, and no need":   {"v1", wanted, true, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
				asked := 0
				a := sayso.Admission{Call: bash("c1", "ls"), Immediate: true, Facts: sayso.Facts{
					Policy: c.came, Workspace: "/came", Roots: []sayso.RootFact{{Root: "./notes", Resolved: "/came/notes"}},
				}}
				a.Gather = func(_ context.Context, want sayso.FactsWanted) (sayso.Facts, error) {
					asked++
					if diff := cmp.Diff(c.want, want); diff != "" {
						t.Errorf("wanted (-want +got):\n%s", diff)
					}
					return sayso.Facts{Policy: want.Policy, Workspace: "/gathered"}, c.err
				}
				if c.cannot {
					a.Gather = nil
				}
				d, err := w.b.Gate(agent).Admit(t.Context(), a)
				if asked != c.asked || !errors.Is(err, c.err) || d.Allowed() != (c.err == nil) {
					t.Fatalf("gathered %d times: %+v, %v", asked, d, err)
				}
				if c.err != nil {
					return
				}
				where := "/came"
				if c.asked > 0 {
					where = "/gathered"
				}
				if got := w.rules.facts.Workspace; got != where {
					t.Errorf("judged by the facts of %s", got)
				}
				stale := c.cannot && c.came != c.want.Policy
				if n := len(w.rules.facts.Roots); c.asked == 0 && (n == 0) != stale {
					t.Errorf("judged by what was known of %d folders", n)
				}
			}, func(w *harness) { w.opts.Wanted = func() sayso.FactsWanted { return c.want } })
		})
	}
}

// begins is a policy that begins to name a folder while a call waits; it denies
// what leads out of it.
func begins(w *harness) sayso.FactsWanted {
	want := sayso.FactsWanted{Policy: "v2", Roots: []string{"./notes"}}
	w.rules.set("v2", func(sayso.Call) sayso.Verdict {
		for _, o := range w.rules.facts.Operands {
			if len(w.rules.facts.Roots) > 0 && !sayso.Beneath(w.rules.facts.Roots[0].Resolved, o.Resolved) {
				return ruled(rule(sayso.Deny))
			}
		}
		return ruled(rule(sayso.Ask))
	})
	return want
}

// cat is a call that reads a file, and what is known of it where no policy names
// folders.
func cat(id string) sayso.Admission {
	a := sayso.Admission{Call: bash(id, "cat notes/x"), Patience: time.Second, Immediate: true}
	a.Facts = leads("/app/notes/x", sayso.FactsWanted{})
	return a
}

// leads are the facts about a file, for a policy.
func leads(to string, want sayso.FactsWanted) sayso.Facts {
	f := sayso.Facts{Workspace: "/app", Cwd: "/app"}
	word := []sayso.PathFact{{Arg: "command", Path: "/app/notes/x", Resolved: to, State: sayso.PathFile, Links: 1}}
	if len(want.Roots) == 0 {
		f.Words = word
		return f
	}
	f.Policy, f.Operands, f.Roots = want.Policy, word, []sayso.RootFact{{Root: want.Roots[0], Resolved: "/app/notes"}}
	return f
}

// A policy that begins to name folders wants more to be known of a call that
// waits. That is no change of what the call means, and does not hide one.
func TestTakeUp_policyBeginsToNameFolders(t *testing.T) {
	for name, c := range map[string]struct {
		to    string
		taken bool
	}{
		"it leads where it led": {"/app/notes/x", true},
		"it leads elsewhere":    {"/app/notes/secret", false},
	} {
		for _, id := range [...]string{"c1", "c2"} {
			t.Run(name+", as "+id, func(t *testing.T) {
				var want sayso.FactsWanted
				bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
					_, err := w.admit(cat("c1"))
					wantErr(t, err, sayso.ErrPending)
					first := w.onlyOpen().ID
					want = begins(w)
					again := cat(id)
					again.Gather = func(_ context.Context, want sayso.FactsWanted) (sayso.Facts, error) { return leads(c.to, want), nil }
					_, err = w.admit(again)
					if !c.taken && id == "c1" {
						wantErr(t, err, sayso.ErrConflict)
						return
					}
					wantErr(t, err, sayso.ErrPending)
					if n := len(w.open()); (n == 1) != c.taken {
						t.Fatalf("%d requests are open", n)
					}
					if !c.taken {
						return
					}
					w.answerAsOwner(first, sayso.Allow)
					if d := w.allowed(again); d.Request != first {
						t.Errorf("got the answer to %s", d.Request.Short())
					}
				}, func(w *harness) { w.opts.Wanted = func() sayso.FactsWanted { return want } })
			})
		}
	}
}

// A yes to a call that was asked about before the policy named folders does not
// turn round what the policy says of where the call leads.
func TestAnswer_policyBeganToNameFolders(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		err      error
	}{
		"it permits it":      {"/app/notes/x", "/app/notes/x", nil},
		"it denies it":       {"/etc/x", "/etc/x", sayso.ErrVoided},
		"the call has moved": {"/etc/x", "/app/notes/x", sayso.ErrVoided},
	} {
		for _, far := range [...]bool{false, true} { // the caller is elsewhere
			t.Run(name, func(t *testing.T) {
				var want sayso.FactsWanted
				bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
					a := cat("")
					a.Patience, a.Facts = 0, leads(c.from, want)
					a.Gather = func(_ context.Context, want sayso.FactsWanted) (sayso.Facts, error) {
						if far {
							return sayso.Facts{}, &sayso.FactsWantedError{Wanted: want}
						}
						return leads(c.to, want), nil
					}
					caller := w.ask(t.Context(), a)
					id := w.onlyOpen().ID
					want = begins(w)
					w.answerAsOwner(id, sayso.Allow)
					d, err := caller.result()
					if far {
						wantErr(t, err, sayso.ErrFactsWanted)
						a.Facts, a.Gather, a.Patience = leads(c.to, want), nil, time.Second
						if d, err = w.admit(a); c.from != c.to {
							wantErr(t, err, sayso.ErrPending) // it is asked about anew
							return
						}
					}
					wantErr(t, err, c.err)
					if d.Allowed() != (c.err == nil) || d.Allowed() != w.request(id).Life.Redeemed {
						t.Errorf("got %+v", d)
					}
				}, func(w *harness) { w.opts.Wanted = func() sayso.FactsWanted { return want } })
			})
		}
	}
}
