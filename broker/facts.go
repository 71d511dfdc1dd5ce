package broker

import (
	"context"
	"fmt"

	"github.com/sayso-dev/sayso"
)

// gatherFacts has the facts of a call be those for the policy in force.
func (g *gate) gatherFacts(ctx context.Context, a *sayso.Admission) error {
	if g.checkRequester() != nil {
		return nil
	}
	f, err := gatherFor(ctx, a.Facts, a.Gather, g.b.o.Wanted())
	if err == nil {
		a.Facts = f
	}
	return err
}

// gatherFunc is how a caller gathers facts anew; nil for one that cannot.
type gatherFunc = func(context.Context, sayso.FactsWanted) (sayso.Facts, error)

// gatherFor has facts that were gathered for another policy gathered anew. Of a
// caller that cannot do that, what they say of the policy's folders does not
// count: policy asks where it misses them.
func gatherFor(ctx context.Context, f sayso.Facts, gather gatherFunc, want sayso.FactsWanted) (sayso.Facts, error) {
	if len(want.Roots) == 0 || f.Policy == want.Policy {
		return f, nil
	}
	if gather == nil {
		return f.ForNoPolicy(), nil
	}
	f, err := gather(ctx, want)
	if err != nil {
		return f, fmt.Errorf("gathering the facts for the policy in force: %w", err)
	}
	return f, nil
}

// isUnmoved reports whether the call still means what it meant when people were
// asked: its directory and its paths lead where they led, and the files that it
// runs hold what they held. A no, and what was spent, mean the same anyway.
func (w *waiter) isUnmoved(r *sayso.Request) bool {
	if !r.State.Open() && !r.Unspent() {
		return true
	}
	asked, err := r.Asked()
	return err == nil && w.a.Facts.Unmoved(asked.Facts)
}

// checkWantedFacts judges an approval by the policy in force where people were asked
// under one that named other folders: what this one says of the places that the
// call leads to could not be told when they answered. A deny is final.
func (w *waiter) checkWantedFacts(ctx context.Context, r *sayso.Request) error {
	want := w.b.o.Wanted()
	if len(want.Roots) == 0 || r.Decision.Source != sayso.SourcePerson {
		return nil
	}
	asked, err := r.Asked()
	if err != nil || asked.Facts.Policy == want.Policy {
		return err
	}
	facts, err := gatherFor(ctx, w.requested.Facts, w.gather, want)
	if err != nil {
		return err
	}
	c, why := w.requested.Call, ""
	if len(r.Decision.Args) > 0 {
		c.Args = r.Decision.Args
	}
	if !facts.Unmoved(asked.Facts) {
		why = "what the call names has changed"
	} else if w.b.verdict(ctx, c, facts).Effect == sayso.Deny {
		why = "the policy in force denies it"
	}
	if why == "" {
		return nil
	}
	w.b.void(ctx, r, why)
	return fmt.Errorf("request %s: %w: %s", r.ID.Short(), sayso.ErrVoided, why)
}
