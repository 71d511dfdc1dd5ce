package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/sse"
	"github.com/sayso-dev/sayso/internal/wire"
)

// startOfFollow is where a follow begins and up to where the log was then.
func (c *caller) startOfFollow(ctx context.Context, f *wire.Follow) (since, head sayso.Seq, err error) {
	for _, t := range f.Types {
		if !t.Known() {
			return 0, 0, fmt.Errorf("%w: a type of event that nobody knows", sayso.ErrInvalid)
		}
	}
	h, err := c.inbox.Head(ctx)
	if err != nil {
		return 0, 0, err
	}
	if f.Since == nil {
		return h.Seq, h.Seq, nil
	}
	return *f.Since, h.Seq, nil
}

// events streams the log as it grows. A reader that takes nothing loses its
// connection; its place in the log is the id of the last event that it has.
func (s *Server) events(x *exchange) (any, error) {
	p := wire.ParseParams(x.r.URL.RawQuery)
	f := p.Follow()
	if err := p.Done(); err != nil {
		return nil, err
	}
	if last := x.r.Header.Get("Last-Event-ID"); last != "" {
		n, err := strconv.ParseUint(last, 10, 63)
		if err != nil {
			return nil, fmt.Errorf("%w: Last-Event-ID must be the id of an event", sayso.ErrInvalid)
		}
		f.Since = new(sayso.Seq(n))
	}
	end, err := s.streams.open(x.caller.actor)
	if err != nil {
		return nil, err
	}
	defer end()
	since, head, err := x.caller.startOfFollow(x.ctx(), &f)
	if err != nil {
		return nil, err
	}
	h := x.w.Header()
	h["Content-Type"] = []string{sse.ContentType}
	h["X-Accel-Buffering"] = []string{"no"}
	x.status = http.StatusOK
	x.w.WriteHeader(x.status)
	st := eventStream{x: x, rc: http.NewResponseController(x.w), w: sse.NewWriter(x.w, nil), lastSent: since, head: head}
	if err := st.run(f.Query()); err != nil {
		s.log.DebugContext(x.ctx(), "stream ended", "error", err)
	}
	return nil, errServed
}

// eventStream is one response of events.
type eventStream struct {
	x           *exchange
	rc          *http.ResponseController
	w           *sse.Writer // of what is no event
	lastSent    sayso.Seq   // up to there it has all
	head        sayso.Seq   // events behind it are new
	deadlineSet time.Time   // when the deadline was set
}

func (st *eventStream) run(q sayso.EventQuery) error {
	ctx, end := st.x.longContext()
	defer end()
	s, as := st.x.s, st.x.caller
	events, leave := s.feeds.join(s, as, st.lastSent, q)
	defer leave()
	beat := time.NewTicker(s.o.limits.heartbeat)
	defer beat.Stop()
	defer func() { _ = st.rc.SetWriteDeadline(time.Time{}) }()
	if err := st.flush(st.w.Retry(time.Second)); err != nil {
		return err
	}
	for {
		var err error
		select {
		case it, ok := <-events:
			if ok {
				err = st.sendEvents(it, events)
			} else {
				leave()
				events = s.followAlone(ctx, as, st.lastSent, q)
			}
		case <-beat.C:
			if err = s.recheckToken(as); err == nil {
				err = st.flush(st.w.Comment(""))
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// sendEvents writes an event and those that wait behind it, and sends them together.
func (st *eventStream) sendEvents(it streamEvent, events <-chan streamEvent) error {
	st.extendDeadline()
	for n := 1; ; n++ {
		if err := st.write(&it); err != nil {
			return errors.Join(err, st.rc.Flush())
		}
		if n > cap(events) {
			return st.rc.Flush()
		}
		var ok bool
		select {
		case it, ok = <-events:
		default:
		}
		if !ok {
			return st.rc.Flush()
		}
	}
}

// write writes an event, unless the stream had it before it joined the others.
func (st *eventStream) write(it *streamEvent) error {
	if it.err != nil || it.seq <= st.lastSent {
		return it.err
	}
	st.lastSent = it.seq
	if it.seq > st.head {
		st.x.s.metrics.delivered(it.at)
	}
	_, err := st.x.w.Write(it.frame)
	return err
}

// extendDeadline sees to it that what is written now must be taken in time. The deadline
// is not moved for each event, so it may be an eighth later than it has to be. A
// connection that knows no deadlines, in a test, has none.
func (st *eventStream) extendDeadline() {
	stall, now := st.x.s.o.limits.stall, time.Now()
	if now.Sub(st.deadlineSet) > stall/8 {
		st.deadlineSet = now
		_ = st.rc.SetWriteDeadline(now.Add(stall + stall/8))
	}
}

// flush sends what was written, unless writing it failed.
func (st *eventStream) flush(err error) error {
	if err != nil {
		return err
	}
	st.extendDeadline()
	return st.rc.Flush()
}

// eventCache are the newest events as they are sent, so that a thousand followers
// of one event do not make a thousand of the same text.
type eventCache struct {
	mu      sync.Mutex // guards what follows
	erased  sayso.Seq  // of the newest erasure: of what is older nothing is kept
	entries [512]struct {
		seq     sayso.Seq
		payload sayso.Args
		text    encodedEvent
	}
}

// encodedEvent is one event as everybody sees it, whoever made it. It must not be
// changed.
type encodedEvent struct {
	frame []byte // of an event stream
	json  []byte // the same bytes, but for the fields around them
}

// encode is the text of an event. An event whose content was erased meanwhile has
// another payload, and so another text.
func (t *eventCache) encode(e *sayso.Event) (encodedEvent, error) {
	if e.Content != nil {
		p, err := e.Public()
		if err != nil {
			return encodedEvent{}, err
		}
		e = &p
	}
	at := &t.entries[e.Seq%sayso.Seq(len(t.entries))]
	t.mu.Lock()
	kept := *at
	t.mu.Unlock()
	if kept.seq == e.Seq && kept.text.json != nil && bytes.Equal(kept.payload, e.Payload) {
		return kept.text, nil
	}
	made, err := encodeEvent(e)
	if err != nil {
		return encodedEvent{}, err
	}
	kept.seq, kept.payload, kept.text = e.Seq, e.Payload, made
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Seq > t.erased { // who reads slowly may have had it since before
		*at = kept
	}
	return made, nil
}

// forget forgets all of them, as content was erased by this event.
func (t *eventCache) forget(by sayso.Seq) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erased = max(t.erased, by)
	clear(t.entries[:])
}

func encodeEvent(e *sayso.Event) (encodedEvent, error) {
	json, err := e.MarshalJSON()
	if err != nil {
		return encodedEvent{}, err
	}
	room := make([]byte, 0, len(json)+len("id: 12345678901234567890\nevent: \ndata: \n\n")+len(e.Type))
	frame, err := sse.Append(room, strconv.FormatUint(uint64(e.Seq), 10), string(e.Type), json)
	if err != nil {
		return encodedEvent{}, err
	}
	return encodedEvent{frame: frame, json: frame[len(frame)-len("\n\n")-len(json) : len(frame)-len("\n\n")]}, nil
}

// streamEvent is an event on its way to streams.
func (t *eventCache) streamEvent(e *sayso.Event) streamEvent {
	text, err := t.encode(e)
	return streamEvent{seq: e.Seq, at: e.At.Wall, frame: text.frame, err: err}
}

// recheckToken asks again whether the token of a long connection is.
func (s *Server) recheckToken(c *caller) error {
	a, err := s.o.Authenticate(c.token)
	if err != nil || a.Kind != c.actor.Kind || a.Principal != c.actor.Principal {
		return wire.ErrUnauthenticated
	}
	return nil
}
