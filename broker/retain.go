package broker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
)

// defaultKeepContent is how long content is kept unless the options say otherwise.
const defaultKeepContent = 30 * 24 * time.Hour

// What one sweep does at most about content that is old: others wait for the
// log meanwhile.
const (
	maxSwept  = 2000 // requests that one sweep looks at
	maxErased = 100  // requests whose content one append erases
)

// retentionInterval is how long a sweep leaves content alone that another looked at.
const retentionInterval = time.Minute

// clockGrace is how long after a boot nothing is erased by the wall clock, which
// may have to be set first.
const clockGrace = time.Hour

// retention is how far a process has got. It goes through the requests from the
// newest back, some at a time, round and round. Where it begins is left to
// chance, so that many that each live for one sweep get everywhere too.
type retention struct {
	mu      sync.Mutex // held by the one that sweeps; guards what follows
	started bool
	next    sayso.Seq    // only requests that began before are still to be looked at; zero for all
	after   time.Time    // when to look again
	anchor  sayso.Moment // from which the wall clock is followed within this boot
}

// sweepContent erases the content of requests that ended long ago. What may
// still be answered, redeemed or used as a grant is left alone, and so is
// whatever the clocks leave in doubt.
func (b *Broker) sweepContent(ctx context.Context) error {
	k := &b.retention
	if b.o.KeepContent < 0 || !k.mu.TryLock() {
		return nil
	}
	defer k.mu.Unlock()
	if time.Now().Before(k.after) {
		return nil
	}
	if err := b.startRetention(ctx); err != nil {
		return err
	}
	k.after = time.Now().Add(retentionInterval)
	for left := maxSwept; left > 0; {
		fromTop := k.next == 0
		looked, err := b.sweepOldContent(ctx, left)
		if err != nil {
			return err
		}
		if left -= looked; k.after.IsZero() || fromTop && k.next == 0 {
			return nil // there is more to do at once, or this was all there is
		}
	}
	return nil
}

// sweepOldContent goes on through at most so many requests, and says how many it looked
// at.
func (b *Broker) sweepOldContent(ctx context.Context, limit int) (looked int, err error) {
	k := &b.retention
	rows, err := b.log.Rows(ctx, sayso.RowQuery{States: endedStates, Before: k.next, Limit: limit})
	if err != nil {
		return 0, fmt.Errorf("sweeping content: %w", err)
	}
	aged, err := b.requestsToErase(ctx, rows)
	if err != nil {
		return 0, err
	}
	if err := b.eraseContent(ctx, aged); err != nil {
		return 0, err
	}
	switch {
	case len(aged) == maxErased:
		k.next, k.after = aged[len(aged)-1].First, time.Time{}
	case len(rows) == limit:
		k.next = rows[len(rows)-1].First
	default:
		k.next = 0
	}
	return len(rows), nil
}

// endedStates are those in which a request cannot be answered any more.
var endedStates = []sayso.State{sayso.StateAllowed, sayso.StateDenied, sayso.StateExpired, sayso.StateWithdrawn}

// startRetention picks the place to begin at, and a moment from which the wall
// clock can be followed: of two that differ by more than the boot clocks do, the
// later one was set ahead.
func (b *Broker) startRetention(ctx context.Context) error {
	k := &b.retention
	if k.started {
		return nil
	}
	head, err := b.log.Head(ctx)
	if err != nil {
		return fmt.Errorf("sweeping content: %w", err)
	}
	if head.Seq > 0 {
		k.next = 1 + sayso.Seq(rand.Uint64N(uint64(head.Seq)))
	}
	k.anchor = b.o.Now()
	if head.At.Boot == k.anchor.Boot {
		k.anchor = head.At
	}
	k.started = true
	return nil
}

// requestsToErase picks the rows of requests whose content was kept for long enough, so far
// as rows tell.
func (b *Broker) requestsToErase(ctx context.Context, rows []sayso.Row) ([]sayso.Row, error) {
	var aged []sayso.Row
	var granted map[sayso.ID]bool
	now := b.steadyClock(b.o.Now())
	for _, row := range rows {
		if row.Digest.IsZero() || row.State == sayso.StateAllowed && !row.Spent || now.Wall.Sub(row.Decided) < b.o.KeepContent {
			continue
		}
		if granted == nil {
			var err error
			if granted, err = b.requestsWithGrants(ctx); err != nil {
				return nil, err
			}
		}
		if granted[row.ID] {
			continue
		}
		if aged = append(aged, row); len(aged) == maxErased {
			break
		}
	}
	return aged, nil
}

// requestsWithGrants are the requests that live grants were given for: these match by what
// the content of their requests holds.
func (b *Broker) requestsWithGrants(ctx context.Context) (map[sayso.ID]bool, error) {
	streams, err := b.log.Grants(ctx, nil, "", false)
	if err != nil {
		return nil, fmt.Errorf("looking for grants: %w", err)
	}
	of := map[sayso.ID]bool{}
	for _, stream := range streams {
		g, err := b.grant(ctx, stream)
		if err != nil {
			return nil, err
		}
		of[g.Request] = true
	}
	return of, nil
}

// eraseContent erases the content of those of the requests whose events too say
// that they ended long ago, all in one append. What grew meanwhile is looked at
// again in the next round.
func (b *Broker) eraseContent(ctx context.Context, rows []sayso.Row) error {
	batch := newBatch(b.o.Now())
	for _, row := range rows {
		events, err := b.log.Stream(ctx, sayso.RequestStream(row.ID), 0)
		if err != nil {
			return fmt.Errorf("reading request %s: %w", row.ID.Short(), err)
		}
		now, recorded, err := b.clock(ctx)
		if err != nil {
			return err
		}
		r, err := sayso.Fold(events)
		if err != nil || r.State.Open() || r.Unspent() || !b.isKeptLongEnough(endedAt(events), now, recorded) {
			continue // what cannot be read is not known to have ended
		}
		batch.addToRequest(&r, sayso.EventContentErased, sayso.BrokerActor, sayso.ContentErased{Requests: []sayso.ID{r.ID}, Why: "kept " + formatDays(b.o.KeepContent)}, nil)
		batch.Erase = append(batch.Erase, r.ID)
	}
	if len(batch.Events) == 0 {
		return nil
	}
	if _, err := b.append(ctx, batch); err != nil && !isConflict(err) {
		return err
	}
	caches{b}.forget(batch.Erase)
	return nil
}

// endedAt is when the last thing happened to a request. That somebody came too
// late to answer it is not among those.
func endedAt(events []sayso.Event) (at sayso.Moment) {
	for i := range events {
		if events[i].Type != sayso.EventAnswerRefused {
			at = events[i].At
		}
	}
	return at
}

// isKeptLongEnough reports whether content was kept for long enough since a moment. A
// clock in doubt says no.
func (b *Broker) isKeptLongEnough(since, now, recorded sayso.Moment) bool {
	if since.Boot != "" && since.Boot == now.Boot {
		return now.Since-since.Since >= b.o.KeepContent
	}
	if now.Boot != "" && now.Since < clockGrace {
		return false
	}
	now = b.steadyClock(now)
	return !now.Wall.Before(recorded.Wall) && now.Wall.Sub(since.Wall) >= b.o.KeepContent
}

// steadyClock takes from a moment by how much the wall clock was set ahead since this
// process first looked.
func (b *Broker) steadyClock(now sayso.Moment) sayso.Moment {
	from := b.retention.anchor
	if from.Boot == "" || from.Boot != now.Boot {
		return now
	}
	if should := from.Wall.Add(now.Since - from.Since); now.Wall.After(should) {
		now.Wall = should
	}
	return now
}

// formatDays is a time in words, for the record.
func formatDays(d time.Duration) string {
	switch days := d / (24 * time.Hour); {
	case d%(24*time.Hour) != 0:
		return d.String()
	case days == 1:
		return "1 day"
	default:
		return fmt.Sprintf("%d days", days)
	}
}
