package sqlite

import "github.com/sayso-dev/sayso"

// window holds the newest events of the log that this process wrote, one behind
// the other without a gap, so that those who wait for them need not read them
// from the database. It is the end of the log only if the database says so: each
// read asks that for its newest event first, so nothing but the log itself tells
// what the log holds.
//
// The lock of its hub guards it.
type window struct {
	events []windowEvent        // a ring, no longer than it has to be: the event with seq n lies at n modulo its length
	low    sayso.Seq            // the oldest event; higher than high if there is none
	high   sayso.Seq            // the newest
	bytes  int                  // of content and payloads
	newest map[string]sayso.Seq // of each stream in the window
}

// windowEvent is an event with the seq of the one before it in its stream, if that
// was in the window too.
type windowEvent struct {
	event   sayso.Event
	prevSeq sayso.Seq
}

const (
	windowInitial = 64 // how long the ring is at first
	windowEvents  = 2048
	windowBytes   = 16 << 20
)

func newWindow() window { return window{low: 1, newest: map[string]sayso.Seq{}} }

// reset empties the window. The ring stays: where two processes write in turn,
// each of them resets its window with each of its events.
func (w *window) reset() { w.resetTo(0) }

// resetTo empties the window for what comes behind an event.
func (w *window) resetTo(base sayso.Seq) {
	for w.low <= w.high {
		w.drop()
	}
	w.low, w.high = base+1, base
}

// add puts events in that were committed behind base. If there is a gap, what
// lies before it goes.
func (w *window) add(base sayso.Seq, events []sayso.Event) {
	if w.high != base {
		w.resetTo(base)
	}
	for i := range events {
		w.makeRoom()
		e := &events[i]
		*w.at(e.Seq) = windowEvent{withoutAliases(*e), w.newest[e.Stream]}
		w.newest[e.Stream] = e.Seq
		w.high = e.Seq
		w.bytes += eventSize(e)
	}
	for w.bytes > windowBytes {
		w.drop()
	}
}

// makeRoom makes room for one more event: in a longer ring, or by dropping the oldest.
func (w *window) makeRoom() {
	n := len(w.events)
	switch {
	case int(w.high-w.low)+1 < n:
		return
	case n >= windowEvents:
		w.drop()
		return
	}
	old := w.events
	w.events = make([]windowEvent, max(2*n, windowInitial))
	for seq := w.low; seq <= w.high; seq++ {
		*w.at(seq) = old[seq%sayso.Seq(n)]
	}
}

// at is where the event with this seq lies.
func (w *window) at(seq sayso.Seq) *windowEvent { return &w.events[seq%sayso.Seq(len(w.events))] }

// drop takes the oldest event out.
func (w *window) drop() {
	at := w.at(w.low)
	if w.newest[at.event.Stream] == w.low {
		delete(w.newest, at.event.Stream)
	}
	w.bytes -= eventSize(&at.event)
	*at = windowEvent{}
	w.low++
}

func eventSize(e *sayso.Event) int { return len(e.Content) + len(e.Payload) }

// withoutAliases is an event that nobody changes: whoever wrote it with a memo has said so.
func withoutAliases(e sayso.Event) sayso.Event {
	if e.Memo != nil {
		return e
	}
	return cloneEvent(e)
}

// cloneEvent is an event that shares no bytes with others.
func cloneEvent(e sayso.Event) sayso.Event {
	b := make([]byte, 0, len(e.Payload)+len(e.Content)+len(e.Salt))
	part := func(from []byte) []byte {
		if from == nil {
			return nil
		}
		n := len(b)
		b = append(b, from...)
		return b[n:len(b):len(b)]
	}
	e.Payload, e.Content, e.Salt = part(e.Payload), part(e.Content), part(e.Salt)
	return e
}

// since returns up to limit events behind a position; ok is false if the window
// does not begin there.
func (w *window) since(after sayso.Seq, limit int) (out []sayso.Event, ok bool) {
	if after+1 < w.low {
		return nil, false
	}
	n := int(w.high - min(after, w.high))
	if limit > 0 {
		n = min(n, limit)
	}
	if n > 0 {
		out = make([]sayso.Event, n)
	}
	for i := range out {
		out[i] = w.at(after + 1 + sayso.Seq(i)).event
	}
	return out, true
}

// stream returns the events of a stream behind its first after ones; ok is
// false if the window does not hold them all.
func (w *window) stream(name string, after int) (out []sayso.Event, ok bool) {
	seq, ok := w.newest[name]
	if !ok {
		return nil, false
	}
	n := w.at(seq).event.Pos
	if n <= after {
		return nil, true
	}
	out = make([]sayso.Event, n-max(after, 0))
	for i := len(out) - 1; i >= 0; i-- {
		if seq < w.low {
			return nil, false
		}
		at := w.at(seq)
		out[i], seq = at.event, at.prevSeq
	}
	return out, true
}

// length is how many events a stream has by its newest one here; ok is false if
// there is none.
func (w *window) length(name string) (n uint64, ok bool) {
	seq, ok := w.newest[name]
	if !ok {
		return 0, false
	}
	return uint64(w.at(seq).event.Pos), true
}

// has reports whether the event at the end of the log, as the database has it,
// is one of these. Those behind it are ones that this process committed since.
func (w *window) has(h sayso.Head) bool {
	if h.Seq < w.low || h.Seq > w.high {
		return false
	}
	return w.at(h.Seq).event.Hash == h.Hash
}
