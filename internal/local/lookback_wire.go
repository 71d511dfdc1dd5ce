package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/present"
)

// LookBack is what an engine says of calls to those who ask a server.
type LookBack struct{ e *Engine }

// LookBack returns what the engine says to those who ask a server.
func (e *Engine) LookBack() LookBack { return LookBack{e} }

// Explain says why a call, or a request that the principal may see, comes out as
// it does.
func (l LookBack) Explain(ctx context.Context, a sayso.Actor, want wire.Explain) (out wire.Explanation, err error) {
	p, err := l.e.Policy.Policy()
	if err != nil {
		return out, fmt.Errorf("%w: the policy does not load: %w", sayso.ErrUnavailable, err)
	}
	var x policy.Explanation
	if want.Assume {
		*want.Call, want.Facts = assumed(ctx, *want.Call, p)
	}
	if want.Call != nil {
		x = p.Explain(*want.Call, l.e.Policy.guarded(want.Facts))
		err = hideExplained(&x, *want.Call, p.Redaction())
	} else {
		var r sayso.Request
		if r, err = l.e.Inbox(a).Request(ctx, want.Request); err == nil {
			x, err = l.e.ExplainRequest(&r, p)
		}
	}
	if err != nil {
		return out, err
	}
	safeExplained(&x)
	err = wire.Convert(x, &out)
	return out, err
}

// assumed is a call that nobody makes, in the project of its directory, with the
// facts about it on a machine with nothing else. No file of this one is looked
// at: who may ask need not learn what is on it.
func assumed(ctx context.Context, c sayso.Call, p *policy.Policy) (sayso.Call, sayso.Facts) {
	m := policy.Bare(home.PersonFolder(), c.Cwd)
	c.Cwd = m.Workspace
	return c, facts.Gather(ctx, c, facts.Options{Workspace: m.Workspace, Home: m.Home, HostHome: m.Home, Roots: p.Roots(), Policy: p.Version(), FS: m})
}

// safeExplained makes what a call says safe to be shown. What deceives is spelled
// out; places are still those of the text as it is.
func safeExplained(x *policy.Explanation) {
	for _, s := range textsOf(x) {
		*s, _ = present.Safe(*s)
	}
}

// Replay says which calls since a time, of those that the principal may see,
// would have come out otherwise. The worst of them are listed.
func (l LookBack) Replay(ctx context.Context, a sayso.Actor, text string, since time.Time) (out wire.Replayed, err error) {
	p, err := l.e.Policy.InsteadOf("policy", []byte(text))
	var wrong *policy.Error
	if errors.As(err, &wrong) { // what is wrong may quote the text, which stays with who sent it
		return out, fmt.Errorf("%w: the policy has a mistake in line %d, column %d (%s); type sayso policy check --policy FILE", sayso.ErrInvalid, wrong.Line, wrong.Column, wrong.Code)
	}
	if err != nil {
		return out, fmt.Errorf("%w: %w", sayso.ErrUnavailable, err)
	}
	x, err := l.e.Replay(ctx, a, p, since, wire.MaxChanges)
	if err != nil {
		return out, err
	}
	err = wire.Convert(x, &out)
	return out, err
}
