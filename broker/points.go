package broker

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sayso-dev/sayso"
)

// points remembers where the newest requests were asked. A call that comes to a later
// point, such as the gateway, may have been asked about at an earlier one, such as a
// hook of whatever host called: under which id is known, by whom is not. Every call
// would read hundreds of requests for it, so they are read once, and after that what
// the log grew by.
type points struct {
	mu    sync.Mutex // guards what follows
	begun bool
	upTo  sayso.Seq
	asked ring // the newest requests
	// answered are those that people answered last. Whoever asks can have the others
	// forgotten, by asking often enough, and these only people.
	answered ring
}

// point is one place where calls are asked about.
type point struct{ asker, session string }

// askedAt is a request and where it was asked.
type askedAt struct {
	point
	call string
	id   sayso.ID
}

const (
	// pointsBehind is how many events are read at once.
	pointsBehind = 1024
	// pointsPages is how many pages of linkLooks requests are looked at first, for those
	// that people answered.
	pointsPages = 16
)

// others are the points that somebody else than asker asks at, the newest first.
func (p *points) others(ctx context.Context, log sayso.Log, asker string) (out []point, err error) {
	err = p.newest(ctx, log, func(at *askedAt) {
		if at.asker != asker && !slices.Contains(out, at.point) {
			out = append(out, at.point)
		}
	})
	return out, err
}

// sameCall are the requests that somebody else than asker made for a call with this
// id, the newest first.
func (p *points) sameCall(ctx context.Context, log sayso.Log, asker, call string) (out []sayso.ID, err error) {
	err = p.newest(ctx, log, func(at *askedAt) {
		if at.asker != asker && at.call == call && !slices.Contains(out, at.id) {
			out = append(out, at.id)
		}
	})
	return out, err
}

// newest has look see the requests that people answered last, and then the newest of
// the log, each the newest first.
func (p *points) newest(ctx context.Context, log sayso.Log, look func(*askedAt)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read(ctx, log); err != nil {
		return fmt.Errorf("looking for the call at an earlier point: %w", err)
	}
	p.answered.newest(look)
	p.asked.newest(look)
	return nil
}

// read brings the points up to the end of the log, for who holds the lock.
func (p *points) read(ctx context.Context, log sayso.Log) error {
	if !p.begun {
		return p.begin(ctx, log)
	}
	for {
		events, err := log.Since(ctx, p.upTo, pointsBehind)
		if err != nil {
			return err
		}
		for i := range events {
			if err := p.add(ctx, log, &events[i]); err != nil {
				return err
			}
		}
		if len(events) < pointsBehind {
			return nil
		}
	}
}

// begin looks at the newest requests, page by page. What is committed after the head
// was read may be seen twice, and not missed.
func (p *points) begin(ctx context.Context, log sayso.Log) error {
	head, err := log.Head(ctx)
	if err != nil {
		return err
	}
	var all []sayso.Row
	q := sayso.RowQuery{Limit: linkLooks}
	for range pointsPages {
		rows, err := log.Rows(ctx, q)
		if err != nil {
			return err
		}
		all = append(all, rows...)
		if len(rows) < linkLooks {
			break
		}
		q.Before = rows[len(rows)-1].First
	}
	p.asked, p.answered = ring{}, ring{}
	for _, row := range slices.Backward(all) {
		at := askedAt{point{row.Asker, row.Session}, row.CallID, row.ID}
		p.asked.put(at)
		if row.Source == sayso.SourcePerson {
			p.answered.put(at)
		}
	}
	p.begun, p.upTo = true, head.Seq
	return nil
}

// add takes an event in.
func (p *points) add(ctx context.Context, log sayso.Log, e *sayso.Event) error {
	switch e.Type {
	case sayso.EventRequested:
		p.asked.put(askedAt{point{e.Actor.Principal, e.SessionID}, e.CallID, e.RequestID})
	case sayso.EventAnswered:
		first, err := log.Stream(ctx, e.Stream, 0)
		if err != nil {
			return err
		}
		if len(first) > 0 && first[0].Type == sayso.EventRequested {
			p.answered.put(askedAt{point{first[0].Actor.Principal, e.SessionID}, first[0].CallID, e.RequestID})
		}
	}
	p.upTo = e.Seq
	return nil
}

// ring is the last linkLooks requests that were put into it.
type ring struct {
	at []askedAt
	n  int // how many were put in
}

func (r *ring) put(at askedAt) {
	if r.at == nil {
		r.at = make([]askedAt, linkLooks)
	}
	r.at[r.n%linkLooks] = at
	r.n++
}

func (r *ring) newest(look func(*askedAt)) {
	for i := range min(r.n, linkLooks) {
		look(&r.at[(r.n-1-i)%linkLooks])
	}
}
