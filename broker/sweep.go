package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
)

// Run sweeps every few seconds until ctx ends, and then returns nil. A program
// that stays up runs it; others call [Broker.Sweep] before they list what is
// open. A sweep that fails is made again by the next one: nothing depends on it.
func (b *Broker) Run(ctx context.Context) error {
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	for {
		_ = b.Sweep(ctx) // what it could not record is checked again wherever it counts
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Sweep records what nobody was there to record: requests whose deadline
// passed, waiters that died, approvals that lapsed, grants that ended. None of
// it depends on being swept: it is checked again wherever it counts.
func (b *Broker) Sweep(ctx context.Context) error {
	if _, err := b.look(ctx); err != nil {
		return err
	}
	return errors.Join(b.sweepOpen(ctx), b.sweepAllowed(ctx), b.sweepGrants(ctx))
}

func (b *Broker) sweepOpen(ctx context.Context) error {
	streams, err := b.log.Open(ctx, "", 0)
	if err != nil {
		return fmt.Errorf("sweeping open requests: %w", err)
	}
	now, recorded, err := b.clock(ctx)
	if err != nil {
		return err
	}
	alive := map[string]bool{}
	for _, events := range streams {
		r, err := sayso.Fold(events)
		if err != nil {
			return err
		}
		holder := r.Life.Holder
		if _, known := alive[holder]; !known {
			alive[holder] = b.held(ctx, holder)
		}
		switch {
		case r.DeadlinePassed(now, recorded):
			err = b.expire(ctx, &r)
		case r.State == sayso.StateOpen && !alive[holder]:
			err = b.one(ctx, &r, sayso.EventParked, sayso.BrokerActor, sayso.Parked{Cause: sayso.ParkedLost})
		}
		if err != nil && !isConflict(err) {
			return err
		}
	}
	return nil
}

func (b *Broker) sweepAllowed(ctx context.Context) error {
	rows, err := b.log.Rows(ctx, sayso.RowQuery{States: []sayso.State{sayso.StateAllowed}, Unspent: true, Oldest: true, Limit: 1000})
	if err != nil {
		return fmt.Errorf("sweeping approvals: %w", err)
	}
	for _, row := range rows {
		r, err := b.load(ctx, row.ID)
		if err != nil {
			return err
		}
		now, recorded, err := b.clock(ctx)
		if err != nil {
			return err
		}
		if !r.Unspent() || !r.Lapsed(now, recorded) {
			continue
		}
		err = b.one(ctx, &r, sayso.EventVoided, sayso.BrokerActor, sayso.Closed{Reason: "lapsed"})
		if err != nil && !isConflict(err) {
			return err
		}
	}
	return nil
}

func (b *Broker) sweepGrants(ctx context.Context) error {
	streams, err := b.log.Grants(ctx, sayso.Digest{}, "", false)
	if err != nil {
		return fmt.Errorf("sweeping grants: %w", err)
	}
	for _, stream := range streams {
		g, err := b.grant(ctx, stream)
		if err != nil {
			return err
		}
		why, err := b.ended(ctx, &g)
		if err != nil {
			return err
		}
		if why == "" {
			continue
		}
		batch := newBatch(b.o.Now())
		batch.add(stream, g.Len, sayso.EventGrantEnded, about{session: g.SessionID}, sayso.BrokerActor, sayso.Closed{Reason: why}, nil)
		if _, err := b.append(ctx, batch); err != nil && !isConflict(err) {
			return err
		}
	}
	return nil
}
