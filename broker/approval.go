package broker

import (
	"context"
	"errors"
	"fmt"

	"github.com/sayso-dev/sayso"
)

// basis is what an approval rests on that nobody used yet: what holds for its
// session and for all, and the grant that gave it.
type basis struct {
	session, global sayso.Session
	grant           *sayso.Grant
}

// expect has the append fail if the basis is another by then.
func (on *basis) expect(batch *batch) {
	batch.Expect[sayso.SessionStream(on.session.ID)] = on.session.Len
	batch.Expect[sayso.BrokerStream] = on.global.Len
	if on.grant != nil {
		batch.Expect[sayso.GrantStream(on.grant.ID)] = on.grant.Len
	}
}

// checkApproval reports why an approval may not be used now; one that has lapsed, whose
// policy has changed, or that what holds now speaks against, is made void on the
// record.
func (b *Broker) checkApproval(ctx context.Context, r *sayso.Request) (on *basis, err error) {
	if err := b.o.Ready(); err != nil {
		return nil, fmt.Errorf("request %s: %w", r.ID.Short(), err)
	}
	now, recorded, err := b.clock(ctx)
	if err != nil {
		return nil, err
	}
	err = r.Usable(r.Decision.Digest, now, recorded)
	why := ""
	switch {
	case errors.Is(err, sayso.ErrVoided) && r.Life.Voided == "":
		why = "lapsed"
	case err == nil && r.Life.Policy != b.policy.Version():
		why, err = "policy changed", sayso.ErrVoided
	case err == nil:
		if on, why, err = b.revalidate(ctx, r); why != "" {
			err = fmt.Errorf("%w: %s", sayso.ErrVoided, why)
		}
	}
	if why != "" {
		b.void(ctx, r, why)
	}
	if err != nil {
		return nil, fmt.Errorf("request %s: %w", r.ID.Short(), err)
	}
	return on, nil
}

// void records that an approval is not used. If that fails it still is not.
func (b *Broker) void(ctx context.Context, r *sayso.Request, why string) {
	_, _ = b.appendOne(ctx, r, sayso.EventVoided, sayso.BrokerActor, sayso.Closed{Reason: why})
}

// redeem records that an approval is used. That is a conflict if its basis, or the
// request, is another by then; the basis is then read anew for the next try.
func (b *Broker) redeem(ctx context.Context, r *sayso.Request, by sayso.Actor) error {
	on, err := b.checkApproval(ctx, r)
	if err != nil {
		return err
	}
	batch := newBatch(b.o.Now())
	on.expect(batch)
	batch.addToRequest(r, sayso.EventRedeemed, by, sayso.Redeemed{Policy: r.Life.Policy}, nil)
	_, err = b.advance(ctx, r, batch)
	if isConflict(err) {
		if failed := b.refresh(ctx, r.SessionID); failed != nil {
			return failed
		}
	}
	return err
}

// refresh brings what is remembered of a session, and of all, up to date, after an
// append that was decided by something older.
func (b *Broker) refresh(ctx context.Context, session string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := b.session(ctx, session); err != nil {
		return err
	}
	_, err := b.global(ctx)
	return err
}

// revalidate settles anew an approval that is not spent: why is what speaks against
// it now, and empty if nothing does. It goes by what is remembered, which may be
// old; whoever uses the approval expects the basis to be so. None is made void
// by what is not read anew.
func (b *Broker) revalidate(ctx context.Context, r *sayso.Request) (on *basis, why string, err error) {
	on, why, err = b.revalidateCached(ctx, r)
	if err != nil || why == "" {
		return on, why, err
	}
	if err := b.refresh(ctx, r.SessionID); err != nil {
		return nil, "", err
	}
	return b.revalidateCached(ctx, r)
}

// revalidateCached is revalidate, by what is remembered.
func (b *Broker) revalidateCached(ctx context.Context, r *sayso.Request) (on *basis, why string, err error) {
	on = new(basis)
	if on.session, err = b.cachedSession(ctx, r.SessionID, sayso.SessionStream(r.SessionID)); err != nil {
		return nil, "", err
	}
	if on.global, err = b.cachedSession(ctx, "", sayso.BrokerStream); err != nil {
		return nil, "", err
	}
	by := r.Decision.Source
	if b.o.Locked() && !(by == sayso.SourcePerson && r.Life.Locked) {
		return on, "locked", nil // a yes that was given under the lock is what the lock asked for
	}
	if by == sayso.SourceGrant {
		if why, err = b.checkGrant(ctx, r, on); err != nil || why != "" {
			return on, why, err
		}
	}
	why, err = b.checkSessionAndMode(ctx, r, on)
	return on, why, err
}

// checkGrant says why the grant that an approval comes from covers nothing any
// more; empty if it does. That this was its last use is no reason.
func (b *Broker) checkGrant(ctx context.Context, r *sayso.Request, on *basis) (why string, err error) {
	g, err := b.grant(ctx, sayso.GrantStream(r.Decision.Grant))
	if err != nil {
		return "", err
	}
	on.grant = &g
	now, recorded, err := b.clock(ctx)
	if err != nil {
		return "", err
	}
	if why, ok := g.Live(now, recorded); !ok && why != "used up" {
		return why, nil
	}
	return "", nil
}

// checkSessionAndMode says why the session, or the mode, would not allow what was allowed;
// empty if it would. A person's yes, and a grant's, answer whatever asks, in any
// mode; a deny is final.
func (b *Broker) checkSessionAndMode(ctx context.Context, r *sayso.Request, on *basis) (why string, err error) {
	by := r.Decision.Source
	bySession := by == sayso.SourcePolicy && r.Decision.Cause == sayso.CauseSession
	if by != sayso.SourceMode && !bySession && len(on.session.Policies) == 0 {
		return "", nil // as it nearly always is
	}
	asked, err := r.Asked()
	if err != nil {
		return "", err
	}
	besides := b.besides(asked.Call, &on.session)
	if s := besides.Session; s != nil && *s != sayso.Allow && *s != sayso.Ask {
		return "denied", nil
	}
	if by == sayso.SourcePerson || by == sayso.SourceGrant {
		return "", nil
	}
	if asked.Besides != nil {
		besides.Tool = asked.Besides.Tool
	}
	settled := besides.Settle(b.verdict(ctx, asked.Call, asked.Facts))
	if by != sayso.SourceMode {
		if settled.Effect != sayso.Allow {
			why = "session policy changed"
		}
		return why, nil
	}
	state, err := b.modeState(ctx, &on.session, &on.global)
	if err != nil {
		return "", err
	}
	if r.Decision.Mode == sayso.ModeStrict {
		state.Mode = sayso.ModeStrict // which may have been the caller's own
	}
	if state.Mode.Apply(settled.Match) != sayso.Allow {
		why = "mode changed"
	}
	return why, nil
}
