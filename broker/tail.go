package broker

import (
	"context"
	"slices"
	"sync"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// tails is the end of the log, read once for all who follow it here. It is read
// for as long as anybody does.
type tails struct {
	mu  sync.Mutex // guards what follows
	now *tail
}

// erasures is who is told, in the order of the log, what is to be forgotten.
type erasures interface {
	forget(ids []sayso.ID) // whose content was erased
	forgetAll()            // since the log is not read any more, and nobody would say so
}

// tail is one stretch of reading.
type tail struct {
	log    sayso.Log
	memory erasures
	users  int // guarded by the lock of tails
	stop   context.CancelFunc

	mu     sync.Mutex // guards what follows
	ring   [ringSize]*sayso.Event
	low    sayso.Seq     // the oldest event in the ring; higher than high if there is none
	high   sayso.Seq     // the newest
	grew   chan struct{} // closed when it grows, or cannot any more
	failed error
}

const ringSize = 512

// join returns the tail, which begins behind a position if nobody follows yet.
// Whoever joins leaves.
func (t *tails) join(ctx context.Context, log sayso.Log, memory erasures, since sayso.Seq) *tail {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now == nil {
		ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
		t.now = &tail{log: log, memory: memory, stop: stop, low: since + 1, high: since, grew: make(chan struct{})}
		go t.now.read(ctx) // ends when the last one leaves, or at an error
	}
	t.now.users++
	return t.now
}

func (t *tails) leave(gone *tail) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if gone.users--; gone.users == 0 {
		gone.stop()
	}
	if t.now == gone && (gone.users == 0 || gone.over() != nil) {
		t.now = nil
		gone.memory.forgetAll()
	}
}

// read reads the log as it grows.
func (t *tail) read(ctx context.Context) {
	at := t.high
	for {
		err := t.log.WaitSince(ctx, at)
		var events []sayso.Event
		if err == nil {
			events, err = t.log.Since(ctx, at, page)
		}
		if err != nil {
			t.fail(err)
			return
		}
		if len(events) > 0 {
			at = events[len(events)-1].Seq
			t.grow(events)
		}
	}
}

// grow adds events, which nobody may change any more.
func (t *tail) grow(events []sayso.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range events {
		e := &events[i]
		if e.Seq != t.high+1 { // there is a gap, and nothing before it counts
			t.low = e.Seq
		}
		if e.Type == sayso.EventContentErased {
			t.memory.forget(erasedBy(e))
			clear(t.ring[:])
			clear(events[:i]) // nobody has seen these, and nobody shall
			t.low = e.Seq
		}
		t.ring[e.Seq%ringSize], t.high = e, e.Seq
		t.low = max(t.low, t.high-min(t.high, ringSize-1))
	}
	close(t.grew)
	t.grew = make(chan struct{})
}

// erasedBy are the requests whose content an event says was erased.
func erasedBy(e *sayso.Event) []sayso.ID {
	var p sayso.ContentErased
	if err := jcs.UnmarshalLenient(e.Payload, &p); err != nil || !slices.Contains(p.Requests, e.RequestID) {
		return append(p.Requests, e.RequestID)
	}
	return p.Requests
}

func (t *tail) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = err
	close(t.grew)
}

func (t *tail) over() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// after returns the events behind a position as soon as there are any. missed
// says that they must be read from the log: the tail does not go back so far.
func (t *tail) after(ctx context.Context, since sayso.Seq) (events []*sayso.Event, missed bool, err error) {
	for {
		t.mu.Lock()
		grew, failed := t.grew, t.failed
		switch {
		case since >= t.high:
		case since+1 < t.low:
			missed = true
		default:
			events = make([]*sayso.Event, 0, t.high-since)
			for n := since + 1; n <= t.high; n++ {
				events = append(events, t.ring[n%ringSize])
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
