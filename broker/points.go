package broker

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/sayso-dev/sayso"
)

// points are who asked about a call in which session, as far as the newest requests
// tell. A call that comes to the gateway may have been asked about at an earlier
// point, by a hook of whatever host called: under which id is known, by whom is not.
// Every allowed call would read hundreds of requests for it, so they are read once,
// and after that what the log grew by.
type points struct {
	mu    sync.Mutex // guards what follows
	begun bool
	upTo  sayso.Seq
	seen  map[point]sayso.Seq // with its newest request
}

// point is one place where calls are asked about.
type point struct{ asker, session string }

// pointsBehind is how many events the log may have grown by for them to be read;
// after more than that, looking at the newest requests again costs less.
const pointsBehind = 1024

// others are the points that somebody else than asker asks at, the newest first.
func (p *points) others(ctx context.Context, log sayso.Log, asker string) ([]point, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read(ctx, log); err != nil {
		return nil, fmt.Errorf("looking for who asks: %w", err)
	}
	var out []point
	for at := range p.seen {
		if at.asker != asker {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, func(a, b point) int { return cmp.Compare(p.seen[b], p.seen[a]) })
	return out[:min(len(out), linkLooks)], nil
}

// read brings the points up to the end of the log, for who holds the lock.
func (p *points) read(ctx context.Context, log sayso.Log) error {
	if p.begun {
		events, err := log.Since(ctx, p.upTo, pointsBehind)
		if err != nil {
			return err
		}
		p.add(events)
		if len(events) < pointsBehind {
			return nil
		}
	}
	return p.begin(ctx, log)
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
	if p.seen == nil {
		p.seen = map[point]sayso.Seq{}
	}
	for i := range rows {
		p.put(point{rows[i].Asker, rows[i].Session}, rows[i].First)
	}
	p.begun, p.upTo = true, head.Seq
	return nil
}

func (p *points) add(events []sayso.Event) {
	for i := range events {
		e := &events[i]
		if e.Type == sayso.EventRequested {
			p.put(point{e.Actor.Principal, e.SessionID}, e.Seq)
		}
		p.upTo = e.Seq
	}
}

// put remembers a point. When there are twice as many as are looked at, the older
// half is forgotten.
func (p *points) put(at point, newest sayso.Seq) {
	p.seen[at] = max(p.seen[at], newest)
	if len(p.seen) <= 2*linkLooks {
		return
	}
	known := slices.SortedFunc(maps.Keys(p.seen), func(a, b point) int { return cmp.Compare(p.seen[a], p.seen[b]) })
	for _, old := range known[:len(known)-linkLooks] {
		delete(p.seen, old)
	}
}
