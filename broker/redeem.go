package broker

import (
	"context"
	"errors"
	"fmt"

	"github.com/sayso-dev/sayso"
)

// checkRequester returns nil if this gate's principal may make requests at all.
func (g *gate) checkRequester() error {
	if !g.actor.Kind.Asks() {
		return fmt.Errorf("%w: %q is no requester", sayso.ErrNotAllowed, g.actor.Kind)
	}
	return nil
}

// ownRequest returns a request that this gate's principal made.
func (g *gate) ownRequest(ctx context.Context, id sayso.ID) (sayso.Request, error) {
	if err := g.checkRequester(); err != nil {
		return sayso.Request{}, err
	}
	r, err := g.b.load(ctx, id)
	if err == nil && !g.isOwn(&r) {
		return sayso.Request{}, fmt.Errorf("request %s: %w: another made it", id.Short(), sayso.ErrNotAllowed)
	}
	return r, err
}

// isOwn reports whether this gate's principal made a request.
func (g *gate) isOwn(r *sayso.Request) bool { return r.Life.Asker.Principal == g.actor.Principal }

// Asked is the call that a request of this requester is about, as it was asked:
// for one that goes on where another process of its left off.
func (b *Broker) Asked(ctx context.Context, by sayso.Actor, id sayso.ID) (sayso.Call, error) {
	r, err := (&gate{b: b, actor: by}).ownRequest(ctx, id)
	if err != nil {
		return sayso.Call{}, err
	}
	asked, err := r.Asked()
	return asked.Call, err
}

// retry repeats an append that was decided on a stream that grew meanwhile.
func (g *gate) retry(ctx context.Context, id sayso.ID, step func(*sayso.Request) error) error {
	for range maxAttempts {
		r, err := g.ownRequest(ctx, id)
		if err != nil {
			return err
		}
		if err = step(&r); !isConflict(err) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return errContention
}

// Redeem implements sayso.Gate.
func (g *gate) Redeem(ctx context.Context, receipt sayso.Receipt, c sayso.Call) error {
	if err := g.b.o.Ready(); err != nil {
		return err
	}
	digest, err := c.Digest()
	if err != nil {
		return err
	}
	return g.retry(ctx, receipt.Request, func(r *sayso.Request) error {
		now, recorded, err := g.b.clock(ctx)
		if err != nil {
			return err
		}
		if receipt.Digest != digest {
			return fmt.Errorf("redeeming %s: %w", r.ID.Short(), sayso.ErrMismatch)
		}
		if err := r.Usable(digest, now, recorded); err != nil && !errors.Is(err, sayso.ErrVoided) {
			return fmt.Errorf("redeeming %s: %w", r.ID.Short(), err)
		}
		return g.b.redeem(ctx, r, g.actor)
	})
}

// Report implements sayso.Gate.
func (g *gate) Report(ctx context.Context, o sayso.Outcome) error {
	id := o.Request
	if id == "" {
		stream, err := g.b.log.Lookup(ctx, sayso.CallKey(g.actor.Principal, o.Session, o.CallID))
		if err != nil {
			return fmt.Errorf("reporting call %q: %w", o.CallID, err)
		}
		id = sayso.StreamID(stream)
	}
	if r, known := g.runningRequest(id); known {
		if err := g.report(ctx, r, o); !isConflict(err) {
			return err
		}
	}
	return g.retry(ctx, id, func(r *sayso.Request) error {
		switch {
		case !r.Life.Redeemed:
			return fmt.Errorf("reporting %s: %w: it was not redeemed", r.ID.Short(), sayso.ErrInvalid)
		case r.Life.Finished:
			return nil
		}
		return g.report(ctx, r, o)
	})
}

// runningRequest returns a request that this gate's principal made and whose call runs, as
// this process saw it last: that of most reports, which need no look at the log then.
func (g *gate) runningRequest(id sayso.ID) (*sayso.Request, bool) {
	r, known := g.b.requests.get(id)
	return r, known && g.checkRequester() == nil && g.isOwn(r) && r.Life.Redeemed && !r.Life.Finished
}

// report records what became of a call, if its request is as long as it was.
func (g *gate) report(ctx context.Context, r *sayso.Request, o sayso.Outcome) error {
	_, err := g.b.appendOne(ctx, r, sayso.EventFinished, g.actor, sayso.Finished{
		Failed: o.Failed, Interrupt: o.Interrupt, ExitStatus: o.ExitStatus, TookNS: int64(o.Took), Output: o.Output,
		Changed: hasChangedArgs(r, o.Args),
	})
	return err
}

// hasChangedArgs reports whether a call ran with other arguments than were allowed:
// between the gate and the tool somebody else, such as another hook of the
// host, put others in their place. It cannot be stopped here, but it is said.
func hasChangedArgs(r *sayso.Request, args sayso.Args) bool {
	if len(args) == 0 || r.Decision == nil {
		return false
	}
	asked, err := r.Asked()
	if err != nil {
		return false // the content was erased
	}
	asked.Call.Args = args
	ran, err := asked.Call.Digest()
	return err != nil || ran != r.Decision.Digest
}

// Withdraw implements sayso.Gate.
func (g *gate) Withdraw(ctx context.Context, id sayso.ID, reason string) error {
	if len(reason) > maxText {
		return fmt.Errorf("%w: a reason may have %d bytes", sayso.ErrInvalid, maxText)
	}
	return g.retry(ctx, id, func(r *sayso.Request) error {
		switch {
		case r.State.Open():
			return g.withdraw(ctx, r, reason)
		case r.Unspent():
			_, err := g.b.appendOne(ctx, r, sayso.EventVoided, g.actor, sayso.Closed{Reason: "withdrawn"})
			return err
		case r.State == sayso.StateWithdrawn || r.Life.Voided != "":
			return nil
		case r.Life.Redeemed:
			return fmt.Errorf("withdrawing %s: %w", r.ID.Short(), sayso.ErrSpent)
		}
		return fmt.Errorf("withdrawing %s: %w", r.ID.Short(), &sayso.DecidedError{Decision: *r.Decision.Public()})
	})
}

// withdraw records that an open request was taken back. The reason is the
// requester's free text, so it lies where it can be erased.
func (g *gate) withdraw(ctx context.Context, r *sayso.Request, reason string) error {
	hidden, err := g.b.redactText(r, nil, reason)
	if err != nil {
		return err
	}
	text, err := newContent(sayso.Closed{Reason: hidden}, nil, nil)
	if err != nil {
		return err
	}
	batch := newBatch(g.b.o.Now())
	batch.addToRequest(r, sayso.EventWithdrawn, g.actor, sayso.Closed{}, text)
	_, err = g.b.advance(ctx, r, batch)
	return err
}

// Begin implements sayso.Gate.
func (g *gate) Begin(ctx context.Context, session, host string) error {
	if err := g.checkRequester(); err != nil {
		return err
	}
	w := waiter{b: g.b, actor: g.actor, a: &sayso.Admission{Call: sayso.Call{Session: session, Host: host}}}
	for range maxAttempts {
		s, err := g.b.session(ctx, session)
		if err == nil {
			err = checkOwner(&s, g.actor)
		}
		if err != nil || (s.Started && !s.Ended) {
			return err
		}
		batch := newBatch(g.b.o.Now())
		w.addStarted(batch, &s)
		if _, err = g.b.append(ctx, batch); !isConflict(err) {
			return err
		}
	}
	return errContention
}

// End implements sayso.Gate.
func (g *gate) End(ctx context.Context, session string) error {
	if err := g.checkRequester(); err != nil {
		return err
	}
	for range maxAttempts {
		err := g.end(ctx, session)
		if !isConflict(err) {
			return err
		}
	}
	return errContention
}

func (g *gate) end(ctx context.Context, session string) error {
	s, err := g.b.session(ctx, session)
	if err == nil {
		err = checkOwner(&s, g.actor)
	}
	if err != nil || s.Ended || !s.Started {
		return err
	}
	batch := newBatch(g.b.o.Now())
	batch.add(sayso.SessionStream(session), s.Len, sayso.EventSessionEnded, eventSubject{session: session}, g.actor, sayso.Closed{Reason: "the host ended it"}, nil)
	streams, err := g.b.log.Grants(ctx, nil, session, false)
	if err != nil {
		return fmt.Errorf("looking for grants: %w", err)
	}
	for _, stream := range streams {
		grant, err := g.b.grant(ctx, stream)
		if err != nil {
			return err
		}
		batch.endGrant(&grant, "session ended")
	}
	_, err = g.b.append(ctx, batch)
	return err
}
