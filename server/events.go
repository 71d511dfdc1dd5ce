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

// begin is where a follow begins and up to where the log was then.
func (c *caller) begin(ctx context.Context, f *wire.Follow) (since, head sayso.Seq, err error) {
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
	end, err := s.streams.open(x.as.actor)
	if err != nil {
		return nil, err
	}
	defer end()
	since, head, err := x.as.begin(x.ctx(), &f)
	if err != nil {
		return nil, err
	}
	h := x.w.Header()
	h["Content-Type"] = []string{sse.ContentType}
	h["X-Accel-Buffering"] = []string{"no"}
	x.status = http.StatusOK
	x.w.WriteHeader(x.status)
	st := stream{x: x, rc: http.NewResponseController(x.w), w: sse.NewWriter(x.w, nil), last: since, live: head}
	if err := st.run(f.Query()); err != nil {
		s.log.DebugContext(x.ctx(), "stream ended", "error", err)
	}
	return nil, errServed
}

// stream is one response of events.
type stream struct {
	x     *exchange
	rc    *http.ResponseController
	w     *sse.Writer // of what is no event
	last  sayso.Seq   // up to there it has all
	live  sayso.Seq   // events behind it are new
	timed time.Time   // when the deadline was set
}

func (st *stream) run(q sayso.EventQuery) error {
	ctx, end := st.x.lasting()
	defer end()
	s, as := st.x.s, st.x.as
	items, leave := s.feeds.join(s, as, st.last, q)
	defer leave()
	beat := time.NewTicker(s.o.limits.heartbeat)
	defer beat.Stop()
	defer func() { _ = st.rc.SetWriteDeadline(time.Time{}) }()
	if err := st.send(st.w.Retry(time.Second)); err != nil {
		return err
	}
	for {
		var err error
		select {
		case it, ok := <-items:
			if ok {
				err = st.take(it, items)
			} else {
				leave()
				items = s.alone(ctx, as, st.last, q)
			}
		case <-beat.C:
			if err = s.stillGood(as); err == nil {
				err = st.send(st.w.Comment(""))
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// take writes an event and those that wait behind it, and sends them together.
func (st *stream) take(it item, items <-chan item) error {
	st.hurry()
	for n := 1; ; n++ {
		if err := st.write(&it); err != nil {
			return errors.Join(err, st.rc.Flush())
		}
		if n > cap(items) {
			return st.rc.Flush()
		}
		var ok bool
		select {
		case it, ok = <-items:
		default:
		}
		if !ok {
			return st.rc.Flush()
		}
	}
}

// write writes an event, unless the stream had it before it joined the others.
func (st *stream) write(it *item) error {
	if it.err != nil || it.seq <= st.last {
		return it.err
	}
	st.last = it.seq
	if it.seq > st.live {
		st.x.s.metrics.delivered(it.at)
	}
	_, err := st.x.w.Write(it.frame)
	return err
}

// hurry sees to it that what is written now must be taken in time. The deadline
// is not moved for each event, so it may be an eighth later than it has to be. A
// connection that knows no deadlines, in a test, has none.
func (st *stream) hurry() {
	stall, now := st.x.s.o.limits.stall, time.Now()
	if now.Sub(st.timed) > stall/8 {
		st.timed = now
		_ = st.rc.SetWriteDeadline(now.Add(stall + stall/8))
	}
}

// send sends what was written, unless writing it failed.
func (st *stream) send(err error) error {
	if err != nil {
		return err
	}
	st.hurry()
	return st.rc.Flush()
}

// texts are the newest events as they are sent, so that a thousand followers
// of one event do not make a thousand of the same text.
type texts struct {
	mu     sync.Mutex // guards what follows
	erased sayso.Seq  // of the newest erasure: of what is older nothing is kept
	kept   [512]struct {
		seq     sayso.Seq
		payload sayso.Args
		text    shape
	}
}

// shape is one event as everybody sees it, whoever made it. It must not be
// changed.
type shape struct {
	frame []byte // of an event stream
	json  []byte // the same bytes, but for the fields around them
}

// of is the text of an event. An event whose content was erased meanwhile has
// another payload, and so another text.
func (t *texts) of(e *sayso.Event) (shape, error) {
	if e.Content != nil {
		p, err := e.Public()
		if err != nil {
			return shape{}, err
		}
		e = &p
	}
	at := &t.kept[e.Seq%sayso.Seq(len(t.kept))]
	t.mu.Lock()
	kept := *at
	t.mu.Unlock()
	if kept.seq == e.Seq && kept.text.json != nil && bytes.Equal(kept.payload, e.Payload) {
		return kept.text, nil
	}
	made, err := textOf(e)
	if err != nil {
		return shape{}, err
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
func (t *texts) forget(by sayso.Seq) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erased = max(t.erased, by)
	clear(t.kept[:])
}

func textOf(e *sayso.Event) (shape, error) {
	json, err := e.MarshalJSON()
	if err != nil {
		return shape{}, err
	}
	room := make([]byte, 0, len(json)+len("id: 12345678901234567890\nevent: \ndata: \n\n")+len(e.Type))
	frame, err := sse.Append(room, strconv.FormatUint(uint64(e.Seq), 10), string(e.Type), json)
	if err != nil {
		return shape{}, err
	}
	return shape{frame: frame, json: frame[len(frame)-len("\n\n")-len(json) : len(frame)-len("\n\n")]}, nil
}

// item is an event on its way to streams.
func (t *texts) item(e *sayso.Event) item {
	text, err := t.of(e)
	return item{seq: e.Seq, at: e.At.Wall, frame: text.frame, err: err}
}

// stillGood asks again whether the token of a long connection is.
func (s *Server) stillGood(c *caller) error {
	a, err := s.o.Authenticate(c.token)
	if err != nil || a.Kind != c.actor.Kind || a.Principal != c.actor.Principal {
		return wire.ErrUnauthenticated
	}
	return nil
}
