package broker

import (
	"context"
	"slices"
	"sync"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// sharedTail is the tail of the log, read once for all who follow it here. It is read
// for as long as anybody does.
type sharedTail struct {
	mu      sync.Mutex // guards what follows
	current *tail
}

// forgetter is who is told, in the order of the log, what is to be forgotten.
type forgetter interface {
	forget(ids []sayso.ID) // whose content was erased
	forgetAll()            // since the log is not read any more, and nobody would say so
}

// tail is one stretch of reading.
type tail struct {
	log    sayso.Log
	caches forgetter
	users  int // guarded by the lock of sharedTail
	stop   context.CancelFunc

	mu      sync.Mutex // guards what follows
	ring    [tailSize]*sayso.Event
	low     sayso.Seq     // the oldest event in the ring; higher than high if there is none
	high    sayso.Seq     // the newest
	changed chan struct{} // closed when it grows, or cannot any more
	err     error
}

const tailSize = 512

// join returns the tail, which begins behind a position if nobody follows yet.
// Whoever joins leaves.
func (t *sharedTail) join(ctx context.Context, log sayso.Log, memory forgetter, since sayso.Seq) *tail {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == nil {
		ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
		t.current = &tail{log: log, caches: memory, stop: stop, low: since + 1, high: since, changed: make(chan struct{})}
		go t.current.read(ctx) // ends when the last one leaves, or at an error
	}
	t.current.users++
	return t.current
}

func (t *sharedTail) leave(gone *tail) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if gone.users--; gone.users == 0 {
		gone.stop()
	}
	if t.current == gone && (gone.users == 0 || gone.failure() != nil) {
		t.current = nil
		gone.caches.forgetAll()
	}
}

// read reads the log as it grows.
func (t *tail) read(ctx context.Context) {
	at := t.high
	for {
		events, err := t.log.WaitSince(ctx, at)
		if err == nil && len(events) == 0 {
			events, err = t.log.Since(ctx, at, pageSize)
		}
		if err != nil {
			t.close(err)
			return
		}
		if len(events) > 0 {
			at = events[len(events)-1].Seq
			t.add(events)
		}
	}
}

// add adds events, which nobody may change any more.
func (t *tail) add(events []sayso.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range events {
		e := &events[i]
		if e.Seq != t.high+1 { // there is a gap, and nothing before it counts
			t.low = e.Seq
		}
		if e.Type == sayso.EventContentErased {
			t.caches.forget(erasedBy(e))
			clear(t.ring[:])
			clear(events[:i]) // nobody has seen these, and nobody shall
			t.low = e.Seq
		}
		t.ring[e.Seq%tailSize], t.high = e, e.Seq
		t.low = max(t.low, t.high-min(t.high, tailSize-1))
	}
	close(t.changed)
	t.changed = make(chan struct{})
}

// erasedBy are the requests whose content an event says was erased.
func erasedBy(e *sayso.Event) []sayso.ID {
	var p sayso.ContentErased
	if err := jcs.UnmarshalLenient(e.Payload, &p); err != nil || !slices.Contains(p.Requests, e.RequestID) {
		return append(p.Requests, e.RequestID)
	}
	return p.Requests
}

func (t *tail) close(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = err
	close(t.changed)
}

func (t *tail) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// after returns the events behind a position as soon as there are any. missed
// says that they must be read from the log: the tail does not go back so far.
func (t *tail) after(ctx context.Context, since sayso.Seq) (events []*sayso.Event, missed bool, err error) {
	for {
		t.mu.Lock()
		grew, failed := t.changed, t.err
		switch {
		case since >= t.high:
		case since+1 < t.low:
			missed = true
		default:
			events = make([]*sayso.Event, 0, t.high-since)
			for n := since + 1; n <= t.high; n++ {
				events = append(events, t.ring[n%tailSize])
			}
		}
		t.mu.Unlock()
		if missed || events != nil {
			return events, missed, nil
		}
		if failed != nil {
			return nil, false, failed
		}
		select {
		case <-grew:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}
