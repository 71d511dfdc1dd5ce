package broker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sayso-dev/sayso"
)

// outcome is the decision on a request that was waited for, or why there is
// none. A caller whose context ends has left, wherever that was noticed.
func (w *waiter) outcome(ctx context.Context, r *sayso.Request, err error) (*sayso.Decision, error) {
	d := new(sayso.Decision) // which denies
	if err == nil {
		*d, err = w.deliver(ctx, r)
	}
	if err != nil && (ctx.Err() != nil || errors.Is(err, sayso.ErrFactsWanted)) {
		w.recordLeft(ctx, r) // who brings other facts comes back
	}
	return d, err
}

// wait reads the request until it is decided, and returns it as it was read
// last.
//
// No wake-up is lost, since what is waited for is what the stream has beyond the
// events that were read. If it has grown in between, Wait returns at once.
func (w *waiter) wait(ctx context.Context, r *sayso.Request) (*sayso.Request, error) {
	for r.State.Open() {
		next, err := w.step(ctx, r)
		if isConflict(err) {
			next, err = w.b.catchUp(ctx, r)
		}
		if err != nil {
			return r, err
		}
		r = next
	}
	return r, nil
}

// step does what there is to do for an open request, or sleeps if that is
// nothing.
func (w *waiter) step(ctx context.Context, r *sayso.Request) (*sayso.Request, error) {
	ends, err := w.timeLeft(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case ends == noTimeLeft:
		return w.b.expire(ctx, r)
	case w.isParkedByOther(ctx, r):
		return w.take(ctx, r)
	}
	return w.sleep(ctx, r, ends)
}

// noTimeLeft, as the time that is left, says that there is none. Less than nothing
// says that there is no end.
const (
	noTimeLeft time.Duration = 0
	noDeadline time.Duration = -1
)

// timeLeft reads the clocks, for what is left until the deadline.
func (w *waiter) timeLeft(ctx context.Context, r *sayso.Request) (time.Duration, error) {
	now, recorded, err := w.b.clock(ctx)
	if err != nil {
		return noTimeLeft, err
	}
	if r.DeadlinePassed(now, recorded) {
		return noTimeLeft, nil
	}
	if left, timed := r.Remaining(now, recorded); timed {
		return max(left, 1), nil
	}
	return noDeadline, nil
}

// isParkedByOther reports whether somebody recorded that nobody waits for the request,
// though this caller does: another one waited for it too, under the same call
// id, as over a connection that was made again before the end of the first was
// noticed. A process whose own lease is gone leaves it at that.
func (w *waiter) isParkedByOther(ctx context.Context, r *sayso.Request) bool {
	if r.State != sayso.StateParked || w.isPolling(r) {
		return false
	}
	holder, err := w.b.holder(ctx)
	return err == nil && w.b.isHeld(ctx, holder)
}

// catchUp is the request with what was appended to its stream since.
func (b *Broker) catchUp(ctx context.Context, r *sayso.Request) (*sayso.Request, error) {
	events, err := b.log.Stream(ctx, sayso.RequestStream(r.ID), r.Life.Len)
	if err != nil {
		return nil, fmt.Errorf("reading request %s: %w", r.ID.Short(), err)
	}
	return b.applyNewer(ctx, r, events)
}

// applyNewer is a request with what its stream has beyond it, as whoever appended
// that in this process has folded it already or as it is folded here. One whose
// content was erased is read anew: what it held before stays with nobody.
func (b *Broker) applyNewer(ctx context.Context, r *sayso.Request, events []sayso.Event) (*sayso.Request, error) {
	if slices.ContainsFunc(events, func(e sayso.Event) bool { return e.Type == sayso.EventContentErased }) {
		bare, err := b.load(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		return &bare, nil
	}
	if known, ok := b.requests.get(r.ID); ok && known.Life.Len >= r.Life.Len+len(events) {
		return known, nil
	}
	return b.applyEvents(r, events)
}

// maxSleep is how long a waiter sleeps at most before it looks at the clocks again.
// Timers stand still while the machine is suspended, and deadlines do not.
const maxSleep = time.Minute

// sleep waits until the stream grows, the deadline may have passed or patience
// ends. A request that nobody waits for any more is parked.
func (w *waiter) sleep(ctx context.Context, r *sayso.Request, left time.Duration) (*sayso.Request, error) {
	var ends time.Time
	if left != noDeadline {
		ends = time.Now().Add(min(left, maxSleep-rand.N(maxSleep/2))) // not all at once
	}
	if !w.until.IsZero() && (ends.IsZero() || w.until.Before(ends)) {
		if ends = w.until; !time.Now().Before(ends) {
			return nil, w.park(ctx, r)
		}
	}
	events, err := w.b.log.Wait(ctx, sayso.RequestStream(r.ID), r.Life.Len, ends)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("waiting for request %s: %w", r.ID.Short(), err)
	case len(events) == 0:
		return r, nil
	}
	return w.b.applyNewer(ctx, r, events)
}

// park records that the caller's patience ended, and tells it so.
func (w *waiter) park(ctx context.Context, r *sayso.Request) error {
	_, err := w.b.appendOne(ctx, r, sayso.EventParked, w.actor, sayso.Parked{Cause: sayso.ParkedPatience})
	if err != nil {
		return err
	}
	return &sayso.PendingError{Ticket: r.ID, Deadline: deadline(r)}
}

// recordLeft records that the caller went away without waiting for the end. It may
// fail without harm: a request whose waiter is gone is found by its lease.
func (w *waiter) recordLeft(ctx context.Context, r *sayso.Request) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	for range 3 {
		next, err := w.b.catchUp(ctx, r)
		if err != nil || !(next.State.Open() || next.Unspent()) {
			return
		}
		r = next
		if _, err = w.b.appendOne(ctx, r, sayso.EventParked, w.actor, sayso.Parked{Cause: sayso.ParkedLeft}); !isConflict(err) {
			return
		}
	}
}

// expire records that the deadline passed, or the denial that it leads to.
func (b *Broker) expire(ctx context.Context, r *sayso.Request) (*sayso.Request, error) {
	if r.Life.After.Deny {
		batch := newBatch(b.o.Now())
		c, err := newContent(sayso.AnsweredShown{Digest: r.Digest}, nil, nil)
		if err != nil {
			return nil, err
		}
		batch.addToRequest(r, sayso.EventResolved, sayso.BrokerActor, sayso.Resolved{
			Effect: sayso.Deny, Source: sayso.SourceDeadline, Cause: r.Cause, Rule: r.Rule, File: r.File,
			Line: r.Line, Reason: "nobody answered before the deadline", Policy: r.Life.Policy,
		}, c)
		return b.advance(ctx, r, batch)
	}
	return b.appendOne(ctx, r, sayso.EventExpired, sayso.BrokerActor, sayso.Closed{Reason: "nobody answered before the deadline"})
}

// deliver returns the decision on a request that is decided. A yes that is run
// at once is redeemed first: record, then act.
func (w *waiter) deliver(ctx context.Context, r *sayso.Request) (sayso.Decision, error) {
	d := *r.Decision
	switch r.State {
	case sayso.StateExpired:
		return d, fmt.Errorf("request %s: %w", r.ID.Short(), sayso.ErrExpired)
	case sayso.StateWithdrawn:
		return d, fmt.Errorf("request %s: %w", r.ID.Short(), sayso.ErrWithdrawn)
	case sayso.StateAllowed:
		if r.Life.Redeemed && w.redeemedHere(r) {
			d.Redeemed = true
			return d, nil
		}
		if _, err := w.b.checkApproval(ctx, r); err != nil {
			return deniedDecision(r), err
		}
		if err := w.checkWantedFacts(ctx, r); err != nil {
			return deniedDecision(r), err
		}
		if len(d.Args) > 0 && !w.canEdit {
			return deniedDecision(r), fmt.Errorf("request %s: %w: it was approved with edited arguments, which this caller does not take", r.ID.Short(), sayso.ErrMismatch)
		}
		if w.immediate {
			return w.redeem(ctx, r)
		}
	}
	return d, nil
}

// redeemedHere reports whether this very admission redeemed the request, in the
// commit that opened it.
func (w *waiter) redeemedHere(r *sayso.Request) bool {
	return w.opened == r.ID && r.Life.Len == w.openedLen
}

// redeem redeems the approval for a caller that runs the call at once. Of all
// that try, one wins.
func (w *waiter) redeem(ctx context.Context, r *sayso.Request) (sayso.Decision, error) {
	for range maxAttempts {
		err := w.b.redeem(ctx, r, w.actor)
		if err == nil {
			d := *r.Decision
			d.Redeemed = true
			return d, nil
		}
		if !isConflict(err) {
			return deniedDecision(r), err
		}
		next, err := w.b.catchUp(ctx, r)
		if err != nil {
			return deniedDecision(r), err
		}
		r = next
	}
	return deniedDecision(r), errContention
}

// deniedDecision is a decision that denies and names its request.
func deniedDecision(r *sayso.Request) sayso.Decision {
	return sayso.Decision{State: sayso.StateDenied, Request: r.ID}
}
