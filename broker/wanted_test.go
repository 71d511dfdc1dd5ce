package broker_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
)

// Facts that were gathered for another policy are gathered anew for the one in
// force, once, by whoever can. Who cannot is judged by what came.
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
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Allow), func(t *testing.T, w *world) {
				asked := 0
				a := sayso.Admission{Call: bash("c1", "ls"), Facts: sayso.Facts{Policy: c.came, Workspace: "/came"}, Immediate: true}
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
			}, func(w *world) { w.opts.Wanted = func() sayso.FactsWanted { return c.want } })
		})
	}
}
