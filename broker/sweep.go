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
// Where thousands of requests are open, each looks at some of them; approvals,
// which take minutes to lapse, are looked at once a minute.
func (b *Broker) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	place := fromNewest
	page := func(ctx context.Context) (err error) {
		place, err = b.sweepPage(ctx, place)
		return err
	}
	for n := 0; ; n++ {
		steps := []sweepStep{page, b.sweepGrants, b.sweepPolicy, b.sweepContent}
		if n%int(time.Minute/sweepInterval) == 0 {
			steps = append(steps, b.sweepAllowed)
		}
		_ = b.sweep(ctx, steps...) // what it could not record is checked again wherever it counts
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Sweep records what nobody was there to record: requests whose deadline
// passed, waiters that died, approvals that lapsed, grants that ended, and which
// policy is in force now. None of that depends on being swept: it is checked
// again wherever it counts. Then it erases content that was kept for as long as
// the options say.
func (b *Broker) Sweep(ctx context.Context) error {
	return b.sweep(ctx, b.sweepOpen, b.sweepAllowed, b.sweepGrants, b.sweepPolicy, b.sweepContent)
}

// sweepInterval is how long [Broker.Run] waits between two sweeps.
const sweepInterval = 3 * time.Second

// sweepStep is one part of a sweep.
type sweepStep = func(context.Context) error

// sweep takes its steps, whatever becomes of the others.
func (b *Broker) sweep(ctx context.Context, steps ...sweepStep) error {
	if _, err := b.readHead(ctx); err != nil {
		return err
	}
	var errs []error
	for _, do := range steps {
		errs = append(errs, do(ctx))
	}
	return errors.Join(errs...)
}

// sweepOpen looks at all open requests.
func (b *Broker) sweepOpen(ctx context.Context) error {
	for place := fromNewest; ; {
		next, err := b.sweepPage(ctx, place)
		if err != nil || next == fromNewest {
			return err
		}
		place = next
	}
}

// fromNewest is the place where a sweep of open requests begins.
const fromNewest sayso.Seq = 0

// openPageSize is how many open requests are looked at together.
const openPageSize = 500

// sweepPage looks at open requests from a place on, and returns the next place.
func (b *Broker) sweepPage(ctx context.Context, place sayso.Seq) (sayso.Seq, error) {
	rows, err := b.log.Rows(ctx, sayso.RowQuery{States: sayso.OpenStates(), Before: place, Limit: openPageSize})
	if err != nil {
		return place, fmt.Errorf("sweeping open requests: %w", err)
	}
	next := fromNewest
	if len(rows) == openPageSize {
		next = rows[openPageSize-1].First
	}
	return next, b.sweepRows(ctx, rows)
}

func (b *Broker) sweepRows(ctx context.Context, rows []sayso.Row) error {
	now, recorded, err := b.clock(ctx)
	if err != nil {
		return err
	}
	alive := map[string]bool{}
	for i := range rows {
		row := &rows[i]
		if _, known := alive[row.Holder]; !known {
			alive[row.Holder] = b.isHeld(ctx, row.Holder)
		}
		lost := row.State == sayso.StateOpen && !alive[row.Holder]
		if !lost && !isDue(row, now, recorded) {
			continue // as nearly all are, and their events need not be read
		}
		if err := b.sweepRequest(ctx, row, lost, now, recorded); err != nil {
			return err
		}
	}
	return nil
}

// isDue reports whether the deadline of a request has passed.
func isDue(row *sayso.Row, now, recorded sayso.Moment) bool {
	if row.After <= 0 {
		return false
	}
	passed, doubtful := sayso.Elapsed(row.Created, now, recorded)
	return doubtful || passed >= row.After
}

// sweepRequest records that a request expired, or else that its waiter was lost.
func (b *Broker) sweepRequest(ctx context.Context, row *sayso.Row, lost bool, now, recorded sayso.Moment) error {
	r, err := b.load(ctx, row.ID)
	switch {
	case err != nil:
		return err
	case !r.State.Open():
		return nil
	case r.DeadlinePassed(now, recorded):
		_, err = b.expire(ctx, &r)
	case lost && r.State == sayso.StateOpen && r.Life.Holder == row.Holder:
		_, err = b.appendOne(ctx, &r, sayso.EventParked, sayso.BrokerActor, sayso.Parked{Cause: sayso.ParkedLost})
	}
	if isConflict(err) {
		return nil
	}
	return err
}

func (b *Broker) sweepAllowed(ctx context.Context) error {
	rows, err := b.log.Rows(ctx, sayso.RowQuery{States: []sayso.State{sayso.StateAllowed}, Unspent: true, Oldest: true, Limit: 1000})
	if err != nil {
		return fmt.Errorf("sweeping approvals: %w", err)
	}
	for _, row := range rows {
		now, recorded, err := b.clock(ctx)
		if err != nil {
			return err
		}
		if age := now.Wall.Sub(row.Decided); age >= 0 && age < sayso.LapseDelivered {
			continue // it cannot have lapsed yet
		}
		r, err := b.load(ctx, row.ID)
		if err != nil {
			return err
		}
		if !r.Unspent() || !r.Lapsed(now, recorded) {
			continue
		}
		_, err = b.appendOne(ctx, &r, sayso.EventVoided, sayso.BrokerActor, sayso.Closed{Reason: "lapsed"})
		if err != nil && !isConflict(err) {
			return err
		}
	}
	return nil
}

func (b *Broker) sweepGrants(ctx context.Context) error {
	if b.o.Ready() != nil {
		return nil // a policy that cannot be read for a moment is not another one
	}
	streams, err := b.log.Grants(ctx, nil, "", false)
	if err != nil {
		return fmt.Errorf("sweeping grants: %w", err)
	}
	for _, stream := range streams {
		g, err := b.grant(ctx, stream)
		if err != nil {
			return err
		}
		why, err := b.whyGrantEnded(ctx, &g)
		if err != nil {
			return err
		}
		if why == "" {
			continue
		}
		batch := newBatch(b.o.Now())
		batch.endGrant(&g, why)
		if _, err := b.append(ctx, batch); err != nil && !isConflict(err) {
			return err
		}
	}
	return nil
}
