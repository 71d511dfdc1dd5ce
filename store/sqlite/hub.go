package sqlite

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/failpoint"
)

// hub holds who waits for which stream. A commit costs only those who wait for
// the streams that it made longer.
type hub struct {
	mu         sync.Mutex // guards what follows
	streams    map[string]*waiter
	followers  map[*waiter]struct{}
	published  sayso.Seq // everything up to here was published
	window     window
	committing bool      // a commit of ours is made, and not published yet
	commitBase sayso.Seq // behind which it adds
}

// waiter waits for a stream to have more than after events, or as a follower
// for the log to. Those of one stream form a ring.
type waiter struct {
	after      uint64
	woken      chan struct{}
	events     []sayso.Event // what it waited for, if that was at hand when it was woken
	next, prev *waiter
}

func (h *hub) init() {
	h.streams, h.followers = map[string]*waiter{}, map[*waiter]struct{}{}
	h.window = newWindow()
}

// addToWindow keeps what this process committed behind base.
func (h *hub) addToWindow(base sayso.Seq, events []sayso.Event) {
	if len(events) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.window.add(base, events)
}

// resetWindow keeps no event any more: content was erased.
func (h *hub) resetWindow() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.window.reset()
}

// beginCommit notes that this process is about to commit behind base, and will
// publish that itself.
func (h *hub) beginCommit(base sayso.Seq) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.committing, h.commitBase = true, base
}

// endCommit notes that the commit was published, or did not come about.
func (h *hub) endCommit() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.committing = false
}

// withoutOwn returns the events, as they were found in the database, without those
// that this process is about to publish: whoever was woken for these now would
// not find them in the window.
func (h *hub) withoutOwn(found []sayso.Event) []sayso.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range found {
		if h.committing && found[i].Seq > h.commitBase {
			return found[:i]
		}
	}
	return found
}

// startAt notes where the log ends as the watch begins.
func (h *hub) startAt(head sayso.Seq) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.published = max(h.published, head)
}

// hasWindow reports whether any event is kept.
func (h *hub) hasWindow() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.window.low <= h.window.high
}

// readWindow lets read look at the window if that has the event which the database
// gave as its newest: whatever was committed before the database was asked is
// then in the window, as far as that goes back. known is what read returns.
func (h *hub) readWindow(head sayso.Head, read func(*window) bool) (known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.window.has(head) && read(&h.window)
}

// join registers a waiter. abreast says that whatever the stream has beyond its
// first after events is still to be published, which will wake the waiter;
// otherwise the log must be asked.
//
// It is so if the last of those is the newest of the stream in the window, and
// nothing behind the window was published: the next one lies behind it, since
// the window has no gaps.
func (h *hub) join(stream string, after uint64) (w *waiter, abreast bool) {
	w = &waiter{after: after, woken: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	first, ok := h.streams[stream]
	if !ok {
		w.next, w.prev = w, w
		h.streams[stream] = w
	} else {
		w.next, w.prev = first, first.prev
		w.prev.next, first.prev = w, w
	}
	length, known := h.window.length(stream)
	return w, known && length == after && h.published <= h.window.high
}

func (h *hub) leave(stream string, w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(stream, w)
}

// remove takes w out of its ring unless that was done before.
func (h *hub) remove(stream string, w *waiter) {
	if w.next == nil {
		return
	}
	switch {
	case w.next == w:
		delete(h.streams, stream)
	case h.streams[stream] == w:
		h.streams[stream] = w.next
	}
	w.prev.next, w.next.prev = w.next, w.prev
	w.next, w.prev = nil, nil
}

// follow registers a follower. behind says that the log has grown already; where
// it has not, or not as far as is known here, whatever it has beyond its first
// after events is still to be published, which will wake the follower.
func (h *hub) follow(after uint64) (w *waiter, behind bool) {
	w = &waiter{after: after, woken: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.followers[w] = struct{}{}
	return w, after < uint64(max(h.published, h.window.high))
}

func (h *hub) unfollow(w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.followers, w)
}

// publish wakes whom events concern, which were committed behind base.
func (h *hub) publish(base sayso.Seq, events []sayso.Event) {
	if len(events) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range events {
		h.wakeStream(events[i].Stream, uint64(events[i].Pos))
	}
	last := events[len(events)-1].Seq
	h.wakeFollowers(last)
	if base <= h.published {
		h.published = max(h.published, last) // else others wrote in between, and watching finds it
	}
}

// waitedStreams names the streams that somebody waits for.
func (h *hub) waitedStreams() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.streams))
}

// wakeStream wakes those who wait for a stream that has length events now.
func (h *hub) wakeStream(stream string, length uint64) {
	w, ok := h.streams[stream]
	if !ok {
		return
	}
	for range ringLen(w) {
		next := w.next
		if w.after < length {
			h.remove(stream, w)
			w.events, _ = h.window.stream(stream, int(w.after))
			close(w.woken)
		}
		w = next
	}
}

// ringLen is how many waiters the ring of w has.
func ringLen(w *waiter) (n int) {
	for at := w.next; at != w; at = at.next {
		n++
	}
	return n + 1
}

// wakeFollowers wakes those who wait for the log to be longer.
func (h *hub) wakeFollowers(last sayso.Seq) {
	for w := range h.followers {
		if w.after < uint64(last) {
			delete(h.followers, w)
			w.events, _ = h.window.since(sayso.Seq(w.after), maxHanded)
			close(w.woken)
		}
	}
}

// maxHanded is how many events a follower is handed at most. The others it reads.
const maxHanded = 256

// Wait returns the events of a stream behind its first after ones once there is
// one, or once it is until; see [sayso.Log]. The waiter is registered before the
// log is looked at, so nothing can come between.
func (l *Log) Wait(ctx context.Context, stream string, after int, until time.Time) ([]sayso.Event, error) {
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	if err := l.watcher.start(ctx, l); err != nil {
		return nil, err
	}
	after = max(after, 0)
	w, abreast := l.hub.join(stream, uint64(after))
	defer l.hub.leave(stream, w)
	n := after
	if !abreast {
		var err error
		if n, err = l.length(ctx, stream); err != nil {
			return nil, err
		}
	}
	if n > after {
		return l.Stream(ctx, stream, after) // nobody has woken w, which may be written to yet
	}
	if woken, err := l.sleep(ctx, w, until); !woken {
		return nil, err
	}
	return l.takeEvents(ctx, w, stream, after)
}

// takeEvents is what a waiter that was woken waited for. It is not inlined:
// thousands wait in Wait, and keep its stack meanwhile.
//
//go:noinline
func (l *Log) takeEvents(ctx context.Context, w *waiter, stream string, after int) ([]sayso.Event, error) {
	if len(w.events) > 0 {
		return withoutAliasing(w.events), nil
	}
	return l.Stream(ctx, stream, after)
}

// WaitSince returns once the log has an event after a position; see [sayso.Log].
// The events that it returns are those that this process wrote while it waited.
func (l *Log) WaitSince(ctx context.Context, after sayso.Seq) ([]sayso.Event, error) {
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	if err := l.watcher.start(ctx, l); err != nil {
		return nil, err
	}
	w, behind := l.hub.follow(uint64(after))
	defer l.hub.unfollow(w)
	if behind {
		return nil, nil
	}
	if _, err := l.sleep(ctx, w, time.Time{}); err != nil {
		return nil, err
	}
	return withoutAliasing(w.events), nil
}

// sleep returns when the waiter is woken, or without an error once it is until.
func (l *Log) sleep(ctx context.Context, w *waiter, until time.Time) (woken bool, err error) {
	var ends <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		ends = timer.C
	}
	failpoint.Hit("wait.asleep")
	select {
	case <-w.woken:
		failpoint.Hit("wait.woken")
		return true, nil
	case <-ends:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	case <-l.closed:
		return false, errClosed
	}
}
