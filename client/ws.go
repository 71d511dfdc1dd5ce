package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/wire"
)

// socket is the transport that shares one WebSocket. A connection that broke is
// made again by the next operation.
type socket struct {
	h      *overHTTP
	hc     *http.Client
	dialer chan struct{} // held by the one that connects

	mu     sync.Mutex
	link   *link
	closed bool
}

func newSocket(at address, token string, o Options) *socket {
	h := newHTTP(at, token, o)
	return &socket{h: h, hc: h.hc, dialer: make(chan struct{}, 1)}
}

var errClosed = fmt.Errorf("%w: the client was closed", sayso.ErrUnavailable)

// current is the connection, made now if there is none.
func (s *socket) current(ctx context.Context) (*link, error) {
	if l, err := s.have(); l != nil || err != nil {
		return l, err
	}
	select {
	case s.dialer <- struct{}{}:
		defer func() { <-s.dialer }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if l, err := s.have(); l != nil || err != nil {
		return l, err
	}
	l, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		l.fail(errClosed)
		return nil, errClosed
	}
	s.link = l
	return l, nil
}

// have is the connection if there is one that works.
func (s *socket) have() (*link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errClosed
	case s.link == nil || s.link.err() != nil:
		return nil, nil
	}
	return s.link, nil
}

func (s *socket) dial(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	header := http.Header{}
	s.h.identify(ctx, header)
	l := newLink(s.h.at)
	conn, resp, err := websocket.Dial(ctx, s.h.at.url.String()+"/v1/ws", &websocket.DialOptions{
		HTTPClient: s.hc, HTTPHeader: header, Subprotocols: []string{wire.ProtocolBatch},
		OnPingReceived: func(context.Context, []byte) bool { l.alive(); return true },
	})
	if err != nil {
		return nil, s.refused(ctx, resp, err)
	}
	if err := wire.CheckVersions(resp.Header.Get(wire.VersionHeader), s.h.o.Version); err != nil {
		_ = conn.CloseNow() // the reason is err
		return nil, fmt.Errorf("%w: %w", sayso.ErrUnavailable, err)
	}
	if conn.Subprotocol() != wire.ProtocolBatch {
		_ = conn.CloseNow()
		return nil, fmt.Errorf("%w: what answers at %s is no sayso server", sayso.ErrUnavailable, s.h.at.name())
	}
	conn.SetReadLimit(maxAnswer)
	l.start(conn)
	return l, nil
}

// refused is the error for a handshake that failed.
func (s *socket) refused(ctx context.Context, resp *http.Response, err error) error {
	if resp == nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return s.h.broken(ctx, err)
	}
	defer resp.Body.Close()
	if err := s.h.checkAnswer(resp); err != nil {
		return err
	}
	text := make([]byte, 4096)
	n, _ := resp.Body.Read(text)
	return answer(s.h.at, resp.StatusCode, resp.Header.Get("Retry-After") != "", text[:n], nil)
}

func (s *socket) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.link != nil {
		s.link.fail(errClosed)
	}
	return s.h.close()
}

func (s *socket) do(ctx context.Context, op operation, out any) error {
	body, err := jcs.Marshal(op.frame)
	if err != nil {
		return fmt.Errorf("%w: %w", sayso.ErrInvalid, err)
	}
	l, err := s.current(ctx)
	if err != nil {
		return err
	}
	f, err := l.call(ctx, op.name, body)
	if err != nil {
		return err
	}
	return answer(s.h.at, f.Status, false, f.Body, out)
}

func (s *socket) follow(ctx context.Context, f wire.Follow) iter.Seq2[sayso.Event, error] {
	return func(yield func(sayso.Event, error) bool) {
		l, err := s.current(ctx)
		if err == nil {
			err = l.follow(ctx, f, s.h.at, func(e sayso.Event) bool { return yield(e, nil) })
		}
		if err != nil {
			yield(sayso.Event{}, err)
		}
	}
}

// link is one connection.
type link struct {
	at    address
	conn  *websocket.Conn
	out   *wire.Outbox
	done  chan struct{}
	watch *time.Timer

	mu     sync.Mutex
	broken error
	next   uint64
	calls  map[uint64]chan wire.Frame
	feeds  map[uint64]*feed
}

// feed is the events of one follow that wait to be taken.
type feed struct {
	events chan sayso.Event
	over   chan struct{} // closed when events were dropped, or the server ended it
	end    wire.Frame    // the server's last word, if it had one
}

// feedSize is how many events wait for a follower before it has to go back to
// the log for them.
const feedSize = 4096

func newLink(at address) *link {
	return &link{
		at: at, out: wire.NewOutbox(true), done: make(chan struct{}),
		calls: map[uint64]chan wire.Frame{}, feeds: map[uint64]*feed{},
	}
}

func (l *link) start(conn *websocket.Conn) {
	l.conn = conn
	l.watch = time.AfterFunc(silence, func() {
		l.fail(&lostError{where: l.at.name(), err: errors.New("the connection fell silent")})
	})
	go l.read()
	go l.write()
}

// alive notes that something arrived.
func (l *link) alive() {
	if l.watch != nil {
		l.watch.Reset(silence)
	}
}

func (l *link) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// fail ends the connection for everybody who waits on it.
func (l *link) fail(err error) {
	l.mu.Lock()
	first := l.broken == nil
	if first {
		l.broken = err
		close(l.done)
	}
	l.mu.Unlock()
	if first && l.conn != nil {
		l.watch.Stop()
		_ = l.conn.CloseNow() // it is given up, whatever it says
	}
}

func (l *link) lost(err error) { l.fail(&lostError{where: l.at.name(), err: err}) }

func (l *link) write() {
	for {
		select {
		case <-l.done:
			return
		case <-l.out.Ready():
		}
		chunks := l.out.Take()
		for _, b := range chunks {
			ctx, cancel := context.WithTimeout(context.Background(), silence)
			err := l.conn.Write(ctx, websocket.MessageText, b)
			cancel()
			if err != nil {
				l.lost(err)
				return
			}
		}
		l.out.Done(chunks)
	}
}

func (l *link) read() {
	var m wire.Message
	for {
		_, r, err := l.conn.Reader(context.Background())
		if err == nil {
			err = m.Read(r)
		}
		if err != nil {
			l.lost(err)
			return
		}
		l.alive()
		for part := range wire.Frames(m.Bytes(), true) {
			f, err := wire.ParseFrame(part)
			if err != nil {
				l.lost(err)
				return
			}
			l.dispatch(f)
		}
	}
}

func (l *link) dispatch(f wire.Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.Op == wire.OpEvent {
		l.eventLocked(f)
		return
	}
	if reply, ok := l.calls[f.ID]; ok {
		delete(l.calls, f.ID)
		reply <- f // has room for one
		return
	}
	if feed, ok := l.feeds[f.ID]; ok {
		feed.end = f
		l.endLocked(f.ID, feed)
	}
}

// eventLocked queues an event. A follower that does not keep up goes back to
// the log, so that it holds up nobody else on this connection.
func (l *link) eventLocked(f wire.Frame) {
	feed, ok := l.feeds[f.ID]
	if !ok {
		return
	}
	var e sayso.Event
	if len(f.Body) > 2 {
		if err := jcs.UnmarshalLenient(f.Body, &e); err != nil {
			l.endLocked(f.ID, feed)
			return
		}
	}
	select {
	case feed.events <- e:
	default:
		l.endLocked(f.ID, feed)
		l.out.Add(f.ID, wire.OpUnfollow, 0, target(f.ID))
	}
}

func (l *link) endLocked(id uint64, f *feed) {
	delete(l.feeds, id)
	close(f.over)
}

func target(id uint64) []byte {
	text, _ := jcs.Marshal(wire.Target{ID: id}) // a number always can be written
	return text
}

// call sends an operation and waits for its answer. A context that ends
// cancels the operation at the server.
func (l *link) call(ctx context.Context, name string, body []byte) (wire.Frame, error) {
	reply := make(chan wire.Frame, 1)
	l.mu.Lock()
	if err := l.broken; err != nil {
		l.mu.Unlock()
		return wire.Frame{}, err
	}
	l.next++
	id := l.next
	l.calls[id] = reply
	l.mu.Unlock()
	l.out.Add(id, name, 0, body)
	select {
	case f := <-reply:
		return f, nil
	case <-l.done:
		select {
		case f := <-reply: // it came just before the end, and may be a decision that is told once
			return f, nil
		default:
			return wire.Frame{}, l.err()
		}
	case <-ctx.Done():
		l.mu.Lock()
		delete(l.calls, id)
		l.next++
		cancel := l.next
		l.mu.Unlock()
		l.out.Add(cancel, wire.OpCancel, 0, target(id))
		return wire.Frame{}, context.Cause(ctx)
	}
}

// follow hands events to got until it had enough or the connection breaks.
func (l *link) follow(ctx context.Context, f wire.Follow, at address, got func(sayso.Event) bool) error {
	body, err := jcs.Marshal(&f)
	if err != nil {
		return fmt.Errorf("%w: %w", sayso.ErrInvalid, err)
	}
	fd := &feed{events: make(chan sayso.Event, feedSize), over: make(chan struct{})}
	l.mu.Lock()
	if err := l.broken; err != nil {
		l.mu.Unlock()
		return err
	}
	l.next++
	id := l.next
	l.feeds[id] = fd
	l.mu.Unlock()
	defer l.unfollow(id)
	l.out.Add(id, wire.OpFollow, 0, body)
	for {
		select {
		case e := <-fd.events:
			if !got(e) {
				return nil
			}
			continue
		default:
		}
		select {
		case e := <-fd.events:
			if !got(e) {
				return nil
			}
		case <-fd.over:
			return l.ended(fd, at, got)
		case <-l.done:
			return l.err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ended hands over what still waits, and says why there is no more.
func (l *link) ended(fd *feed, at address, got func(sayso.Event) bool) error {
	for {
		select {
		case e := <-fd.events:
			if !got(e) {
				return nil
			}
			continue
		default:
		}
		if fd.end.Status != 0 {
			return answer(at, fd.end.Status, false, fd.end.Body, nil)
		}
		return &lostError{where: at.name(), err: errors.New("events came faster than they were taken")}
	}
}

func (l *link) unfollow(id uint64) {
	l.mu.Lock()
	_, on := l.feeds[id]
	delete(l.feeds, id)
	l.next++
	cancel := l.next
	l.mu.Unlock()
	if on {
		l.out.Add(cancel, wire.OpUnfollow, 0, target(id))
	}
}
