package server

import (
	"bufio"
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

// eventTypes are the types of events, in the order of the catalogue.
var eventTypes = []sayso.EventType{
	sayso.EventRequested, sayso.EventAnswered, sayso.EventResolved, sayso.EventExpired, sayso.EventWithdrawn,
	sayso.EventParked, sayso.EventTaken, sayso.EventRedeemed, sayso.EventVoided, sayso.EventFinished,
	sayso.EventAnswerRefused, sayso.EventGrantCreated, sayso.EventGrantUsed, sayso.EventGrantRevoked,
	sayso.EventGrantEnded, sayso.EventSessionStarted, sayso.EventSessionPolicy, sayso.EventSessionEnded,
	sayso.EventModeChanged, sayso.EventPolicyLoaded, sayso.EventPolicyAccepted, sayso.EventDefinitionQuarantined,
	sayso.EventDefinitionAccepted, sayso.EventContentErased,
}

var knownType = func() map[sayso.EventType]bool {
	m := map[sayso.EventType]bool{}
	for _, t := range eventTypes {
		m[t] = true
	}
	return m
}()

// begin is where a follow begins and up to where the log was then.
func (c *caller) begin(ctx context.Context, f *wire.Follow) (since, head sayso.Seq, err error) {
	for _, t := range f.Types {
		if !knownType[t] {
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
	st := stream{x: x, rc: http.NewResponseController(x.w), buf: bufio.NewWriterSize(x.w, 32<<10), live: head}
	st.w = sse.NewWriter(st.buf, nil)
	if err := st.run(since, f.Query()); err != nil {
		s.log.DebugContext(x.ctx(), "stream ended", "error", err)
	}
	return nil, errServed
}

// stream is one response of events.
type stream struct {
	x    *exchange
	rc   *http.ResponseController
	buf  *bufio.Writer
	w    *sse.Writer
	live sayso.Seq // events behind it are new
}

// item is an event on its way, or why there are no more.
type item struct {
	event sayso.Event
	err   error
}

func (st *stream) run(since sayso.Seq, q sayso.EventQuery) error {
	ctx, cancel := context.WithCancel(st.x.ctx())
	defer cancel()
	items := make(chan item, 64)
	go feed(ctx, st.x.as.inbox, since, q, items)
	beat := time.NewTicker(st.x.s.o.Heartbeat)
	defer beat.Stop()
	defer st.deadline(time.Time{})
	st.deadline(time.Now().Add(st.x.s.o.Stall))
	if err := st.send(st.w.Retry(time.Second)); err != nil {
		return err
	}
	for {
		select {
		case it := <-items:
			st.deadline(time.Now().Add(st.x.s.o.Stall))
			if err := st.take(it, items); err != nil {
				return err
			}
		case <-beat.C:
			st.deadline(time.Now().Add(st.x.s.o.Stall))
			if err := st.x.s.stillGood(st.x.as); err != nil {
				return err
			}
			if err := st.send(st.w.Comment("")); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-st.x.s.leaving.Done():
			return errLeaving
		}
	}
}

// feed puts the events of a follow into items. Who reads slowly makes it wait,
// and it reads the log no faster than its events are taken.
func feed(ctx context.Context, in sayso.Inbox, since sayso.Seq, q sayso.EventQuery, items chan<- item) {
	for e, err := range in.Follow(ctx, since, q) {
		select {
		case items <- item{e, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
	select {
	case items <- item{err: errEnded}:
	case <-ctx.Done():
	}
}

var errEnded = errors.New("the log ended")

// take writes an event and those that wait behind it, and sends them together.
func (st *stream) take(it item, items <-chan item) error {
	for range cap(items) {
		if it.err != nil {
			return errors.Join(it.err, st.send(nil))
		}
		if err := st.write(&it.event); err != nil {
			return err
		}
		select {
		case it = <-items:
			continue
		default:
		}
		return st.send(nil)
	}
	if it.err != nil {
		return errors.Join(it.err, st.send(nil))
	}
	return st.send(st.write(&it.event))
}

func (st *stream) write(e *sayso.Event) error {
	text, err := st.x.s.texts.of(e)
	if err != nil {
		return err
	}
	if e.Seq > st.live {
		st.x.s.metrics.delivered(e)
	}
	return st.w.Event(strconv.FormatUint(uint64(e.Seq), 10), string(e.Type), text)
}

// deadline is until when what is written now must be taken. A connection that
// knows no deadlines, in a test, has none.
func (st *stream) deadline(t time.Time) { _ = st.rc.SetWriteDeadline(t) }

// send sends what was written, unless writing it failed.
func (st *stream) send(err error) error {
	if err != nil {
		return err
	}
	if err := st.buf.Flush(); err != nil {
		return err
	}
	return st.rc.Flush()
}

// texts are the newest events as they are sent, so that a thousand followers
// of one event do not make a thousand of the same text.
type texts struct {
	mu   sync.Mutex
	kept [512]struct {
		seq     sayso.Seq
		payload sayso.Args
		text    []byte
	}
}

// of is an event as everybody sees it, whoever made it. The text must not be
// changed. An event whose content was erased meanwhile has another payload, and
// so another text.
func (t *texts) of(e *sayso.Event) ([]byte, error) {
	if e.Content != nil {
		p, err := e.Public()
		if err != nil {
			return nil, err
		}
		e = &p
	}
	t.mu.Lock()
	kept := t.kept[e.Seq%sayso.Seq(len(t.kept))]
	t.mu.Unlock()
	if kept.seq == e.Seq && kept.text != nil && bytes.Equal(kept.payload, e.Payload) {
		return kept.text, nil
	}
	text, err := e.MarshalJSON()
	if err != nil {
		return nil, err
	}
	kept.seq, kept.payload, kept.text = e.Seq, e.Payload, text
	t.mu.Lock()
	t.kept[e.Seq%sayso.Seq(len(t.kept))] = kept
	t.mu.Unlock()
	return text, nil
}

// stillGood asks again whether the token of a long connection is.
func (s *Server) stillGood(c *caller) error {
	a, err := s.o.Authenticate(c.token)
	if err != nil || a.Kind != c.actor.Kind || a.Principal != c.actor.Principal {
		return wire.ErrUnauthenticated
	}
	return nil
}
