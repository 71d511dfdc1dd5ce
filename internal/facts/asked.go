package facts

import (
	"context"

	"github.com/sayso-dev/sayso"
)

// Asked are the facts that people are asked with about a call.
type Asked struct {
	// Facts are the newest, which the call is judged by.
	Facts sayso.Facts

	call *sayso.Call
	o    Options
}

// Ask gathers what the policy in force wants to know of a call, which stays as it is
// while it is asked about.
func Ask(ctx context.Context, c *sayso.Call, o Options, want sayso.FactsWanted) *Asked {
	a := &Asked{call: c, o: o}
	_, _ = a.Gather(ctx, want) // it does not fail
	return a
}

// Gather gathers them anew, for a policy that wants others: the Gather of an
// admission.
func (a *Asked) Gather(ctx context.Context, want sayso.FactsWanted) (sayso.Facts, error) {
	a.o.Roots, a.o.Policy = want.Roots, want.Policy
	a.Facts = Gather(ctx, *a.call, a.o)
	return a.Facts, nil
}

// Changed reports whether what the call names came to mean something else since: its
// directory or a path leads elsewhere, or a script was changed.
func (a *Asked) Changed(ctx context.Context) bool {
	return !a.Facts.Equal(Gather(ctx, *a.call, a.o))
}
