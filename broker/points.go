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
	asked []askedAt // a ring of linkLooks
	n     int       // how many were put into it
}

// point is one place where calls are asked about.
type point struct{ asker, session string }

// askedAt is a request and where it was asked.
type askedAt struct {
	point
	call string
	id   sayso.ID
}

// pointsBehind is how many events the log may have grown by for them to be read;
// after more than that, looking at the newest requests again costs less.
const pointsBehind = 1024

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

// newest has look see the newest requests of the log, the newest first.
func (p *points) newest(ctx context.Context, log sayso.Log, look func(*askedAt)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read(ctx, log); err != nil {
		return fmt.Errorf("looking for the call at an earlier point: %w", err)
	}
	for i := range min(p.n, linkLooks) {
		look(&p.asked[(p.n-1-i)%linkLooks])
	}
	return nil
}

// read brings the points up to the end of the log, for who holds the lock.
func (p *points) read(ctx context.Context, log sayso.Log) error {
	if !p.begun {
		return p.begin(ctx, log)
	}
	events, err := log.Since(ctx, p.upTo, pointsBehind)
	if err != nil {
		return err
	}
	if len(events) == pointsBehind {
		return p.begin(ctx, log)
	}
	for i := range events {
		e := &events[i]
		if e.Type == sayso.EventRequested {
			p.put(askedAt{point{e.Actor.Principal, e.SessionID}, e.CallID, e.RequestID})
		}
		p.upTo = e.Seq
	}
	return nil
}

// begin looks at the newest requests. What is committed after the head was read may
// be seen twice, and not missed.
func (p *points) begin(ctx context.Context, log sayso.Log) error {
	head, err := log.Head(ctx)
	if err != nil {
		return err
	}
	rows, err := log.Rows(ctx, sayso.RowQuery{Limit: linkLooks})
	if err != nil {
		return err
	}
	p.n = 0
	for _, row := range slices.Backward(rows) {
		p.put(askedAt{point{row.Asker, row.Session}, row.CallID, row.ID})
	}
	p.begun, p.upTo = true, head.Seq
	return nil
}

func (p *points) put(at askedAt) {
	if p.asked == nil {
		p.asked = make([]askedAt, linkLooks)
	}
	p.asked[p.n%linkLooks] = at
	p.n++
}
