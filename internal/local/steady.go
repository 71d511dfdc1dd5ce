package local

import (
	"context"
	"errors"
	"time"

	"github.com/sayso-dev/sayso"
)

// steady is a Gate that outlives the server it began with. Its fields have
// names so that it is nothing but a Gate to who holds it.
type steady struct {
	local *Local
	first sayso.Gate
	actor sayso.Actor
}

// retry runs do with the server's gate, and with our own when the server is
// gone. Both work on one log, so what the server began is found there.
func (g *steady) retry(ctx context.Context, do func(sayso.Gate) error) error {
	var first error
	if e, ok := g.local.Engine(); ok {
		return do(e.Gate(g.actor))
	}
	if first = do(g.first); !gone(ctx, first) {
		return first
	}
	e, err := g.local.open(ctx)
	if err != nil {
		return errors.Join(first, err)
	}
	return do(e.Gate(g.actor))
}

// gone reports whether an error may mean that the server is no longer there.
// The other reasons of not being able to tell come again from the database.
func gone(ctx context.Context, err error) bool {
	return errors.Is(err, sayso.ErrUnavailable) && ctx.Err() == nil
}

// Admit implements sayso.Gate. Patience goes on over both.
func (g *steady) Admit(ctx context.Context, a sayso.Admission) (d sayso.Decision, err error) {
	begun, whole := time.Now(), a.Patience
	err = g.retry(ctx, func(gate sayso.Gate) error {
		if whole > 0 {
			a.Patience = max(whole-time.Since(begun), time.Millisecond)
		}
		var err error
		d, err = gate.Admit(ctx, a)
		return err
	})
	if err != nil && d.Allowed() {
		d = sayso.Decision{}
	}
	return d, err
}

// Redeem implements sayso.Gate.
func (g *steady) Redeem(ctx context.Context, r sayso.Receipt, c sayso.Call) error {
	return g.retry(ctx, func(gate sayso.Gate) error { return gate.Redeem(ctx, r, c) })
}

// Report implements sayso.Gate.
func (g *steady) Report(ctx context.Context, o sayso.Outcome) error {
	return g.retry(ctx, func(gate sayso.Gate) error { return gate.Report(ctx, o) })
}

// Withdraw implements sayso.Gate.
func (g *steady) Withdraw(ctx context.Context, id sayso.ID, reason string) error {
	return g.retry(ctx, func(gate sayso.Gate) error { return gate.Withdraw(ctx, id, reason) })
}

// Begin implements sayso.Gate.
func (g *steady) Begin(ctx context.Context, session, host string) error {
	return g.retry(ctx, func(gate sayso.Gate) error { return gate.Begin(ctx, session, host) })
}

// End implements sayso.Gate.
func (g *steady) End(ctx context.Context, session string) error {
	return g.retry(ctx, func(gate sayso.Gate) error { return gate.End(ctx, session) })
}
