// Package enforce is what every place does that stops calls and puts them to a
// gate, once the gate was asked: the gateway, the drivers of hosts, the tools.
//
// A call may be allowed and not run after all, or be taken back by whoever made it
// while people are asked. Both are told to the gate although nobody waits any more,
// so that the log says what became of the call and a later yes runs nothing. What
// does not arrive loses nothing but itself: an approval that was not used lapses, and
// a request that nobody waits for is parked.
package enforce

import (
	"context"
	"errors"
	"time"

	"github.com/sayso-dev/sayso"
)

// afterwards bounds what is still told to the gate when a call, or all, is over.
const afterwards = 10 * time.Second

// Late is a context for what must be told although whoever made the call has gone.
func Late(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), afterwards)
}

// Unrun records that an approval was used for a call that did not run.
func Unrun(ctx context.Context, gate sayso.Gate, id sayso.ID) {
	ctx, cancel := Late(ctx)
	defer cancel()
	_ = gate.Report(ctx, sayso.Outcome{Request: id, Failed: true, Interrupt: true}) // it did not run in any case
}

// TakeBack withdraws what was asked about a call that nobody wants any more, so that
// a later answer runs nothing. d and err are what Admit returned. Where neither says
// which request it is, find does: the gate says so to whoever makes the same call
// again and does not wait.
func TakeBack(ctx context.Context, gate sayso.Gate, d sayso.Decision, err error, reason string, find func(context.Context) (sayso.Decision, error)) {
	ctx, cancel := Late(ctx)
	defer cancel()
	id := request(d, err)
	if id == "" {
		id = request(find(ctx))
	}
	if id != "" {
		_ = gate.Withdraw(ctx, id, reason) // what is not withdrawn is parked, and never run
	}
}

// request is the one that an answer of the gate is about, if it says so.
func request(d sayso.Decision, err error) sayso.ID {
	var pending *sayso.PendingError
	if errors.As(err, &pending) && pending.Ticket != "" {
		return pending.Ticket
	}
	return d.Request
}
