package gateway

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxKeptBytes is how much of what a client was sent is kept for it, should it come
	// back for it, and maxUndeliveredBytes how much of what waits for it.
	maxKeptBytes        = 1 << 20
	maxUndeliveredBytes = 32 << 20
)

// event is one message on its way to a client.
type event struct {
	n        int
	data     []byte
	long     *io.PipeReader // in the place of data, of a message that passes as it comes
	consumed bool           // it began to pass, or is lost
	last     bool           // it answers the request
}

// stream is what the client is sent about one request, or about none: messages in
// their order, that are kept for a while in case the client has to come back for
// them. One that reads takes the place of the one before.
type stream struct {
	name string // within its session

	// Of the request that it answers: how the client spelled its id and its progress
	// token, the id that it has within the session, and the message with that, until
	// it is sent.
	id, token, internalID jsontext.Value
	line                  []byte
	lacksMeta             bool // it does not say what it must

	// The session's mutex guards these.
	size      int  // how long the message is
	cancelled bool // the client cancelled it

	mu           sync.Mutex // guards what follows
	events       []event
	firstKept    int // the number of the first event that is kept
	nextNumber   int // that of the next one
	sent         int // up to where a client was sent them
	kept         int // of those that are kept
	closed       bool
	readerID     int // counts those who read
	attached     bool
	reconnectID  int           // the reader who is to reconnect later, as the server has us
	retryAfter   time.Duration // how much later
	reconnecting bool          // it left, and comes back
	transient    bool          // little of it is kept while nobody reads
	changed      chan struct{} // closed when anything changes
	httpStatus   int           // of the answer by HTTP where it is not 200
	authenticate []string      // what a server wants to be shown first (WWW-Authenticate)
}

// newStream returns a stream. Its first event may be the empty one that tells a
// client where it is, so that numbers begin behind it.
func newStream(name string) *stream {
	s := &stream{}
	s.init(name)
	return s
}

func (s *stream) init(name string) {
	s.name, s.firstKept, s.nextNumber, s.changed = name, 1, 1, make(chan struct{})
}

// notify wakes those who wait. The mutex is held.
func (s *stream) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// add appends a message. Behind the last one nothing more comes.
func (s *stream) add(data []byte, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.addLocked(event{data: data, last: last})
	}
}

// addLocked appends an event. The mutex is held.
func (s *stream) addLocked(e event) {
	e.n = s.nextNumber
	s.nextNumber++
	s.events = append(s.events, e)
	s.kept += len(e.data)
	s.closed = s.closed || e.last
	s.trim()
	s.notify()
}

// trim forgets the oldest of what is kept, first of what was sent.
func (s *stream) trim() {
	for len(s.events) > 0 && (s.kept > maxKeptBytes && (s.firstKept < s.sent || s.transient && !s.attached) || s.kept > maxUndeliveredBytes) {
		s.kept -= len(s.events[0].data)
		s.events, s.firstKept = s.events[1:], s.firstKept+1
	}
}

// addLong appends an answer that passes as it comes, to a client that reads now. One
// that is to reconnect is waited for. To another it is lost: it is too long to be kept.
func (s *stream) addLong() *lossyWriter {
	from, to := io.Pipe()
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := s.closed || !s.attached && !s.reconnecting
	if lost {
		_ = from.Close()
	}
	if !s.closed {
		s.addLocked(event{long: from, last: true, consumed: lost})
	}
	return &lossyWriter{w: to}
}

// awaitReconnect waits for a client that is to reconnect. Nothing long waits for one that does
// not come back. The mutex is held.
func (s *stream) awaitReconnect() {
	s.reconnecting = true
	reader := s.readerID
	time.AfterFunc(s.retryAfter+ioTimeout, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.readerID == reader {
			s.reconnecting = false
			s.dropLong()
		}
	})
}

// dropLong loses a long answer of which nobody read anything. The mutex is held.
func (s *stream) dropLong() {
	for i, e := range s.events {
		if e.long != nil && !e.consumed {
			_ = e.long.Close()
			s.events[i].consumed = true
		}
	}
}

// reconnectDelay is how much later the client is to reconnect.
func (s *stream) reconnectDelay() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.retryAfter
}

// askReconnect has the client reconnect for the rest, if it reads and knows how.
func (s *stream) askReconnect(after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attached {
		s.reconnectID, s.retryAfter = s.readerID, after
		s.notify()
	}
}

// lossyWriter writes for as long as somebody reads, without the line feed at the end.
type lossyWriter struct {
	w      *io.PipeWriter
	closed bool
}

// closeWithError says how it ended.
func (l *lossyWriter) closeWithError(err error) { _ = l.w.CloseWithError(err) }

func (l *lossyWriter) Write(p []byte) (int, error) {
	text := p
	if n := len(p); n > 0 && p[n-1] == '\n' {
		text = p[:n-1]
	}
	if !l.closed {
		_, err := l.w.Write(text)
		l.closed = err != nil
	}
	return len(p), nil
}

// close says that nothing more comes.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.notify()
}

// setError has the request answered with a status of HTTP, if nothing was sent yet.
func (s *stream) setError(status int, demand []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.httpStatus, s.authenticate = status, demand
}

// httpError is the status that the answer has in HTTP, if it is not 200.
func (s *stream) httpError() (status int, demand []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.httpStatus, s.authenticate
}

// isClosed reports whether nothing more comes.
func (s *stream) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// isAttached reports whether a client reads.
func (s *stream) isAttached() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attached
}

// streamReader is one client that reads a stream.
type streamReader struct {
	stream       *stream
	id           int
	at           int  // the number of the next event
	canReconnect bool // the client can be told to reconnect
	reconnecting bool // it was
	long         *io.PipeReader
}

var (
	errReconnect      = errors.New("the client is to come back for the rest")
	errEventsDropped  = errors.New("what came behind that event is not kept any more")
	errReaderReplaced = errors.New("another connection reads this stream now")
)

// openReader begins to read behind an event.
func (s *stream) openReader(after int) (*streamReader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := after + 1
	if at < s.firstKept || at > s.nextNumber {
		return nil, errEventsDropped
	}
	if at < s.nextNumber && s.events[at-s.firstKept].consumed {
		return nil, errEventsDropped // it went to the one before, as far as it got
	}
	return s.newReader(at), nil
}

// newReader is a new reading. The mutex is held.
func (s *stream) newReader(at int) *streamReader {
	s.readerID++
	s.attached, s.reconnecting = true, false
	s.notify()
	return &streamReader{stream: s, id: s.readerID, at: at}
}

// resumeReader begins to read where the one before ended.
func (s *stream) resumeReader() *streamReader {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newReader(max(s.sent, s.firstKept))
}

// lastMessage is the message that the stream ended with, nil if there is none yet.
func (s *stream) lastMessage() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.events); n > 0 && s.events[n-1].last {
		return s.events[n-1].data
	}
	return nil
}

// close ends the reading. A long answer that waits for it is lost, unless its client
// comes back.
func (r *streamReader) close() {
	if r.long != nil {
		_ = r.long.Close()
	}
	r.stream.mu.Lock()
	defer r.stream.mu.Unlock()
	if r.id != r.stream.readerID {
		return
	}
	r.stream.attached = false
	if r.reconnecting {
		r.stream.awaitReconnect()
		return
	}
	r.stream.dropLong()
}

// next waits for the next event. At the end it returns [io.EOF].
func (r *streamReader) next(ctx context.Context) (event, error) { return r.wait(ctx, r.tryNext) }

// peek does so, and the event is the next one still.
func (r *streamReader) peek(ctx context.Context) (event, error) { return r.wait(ctx, r.tryPeek) }

func (r *streamReader) wait(ctx context.Context, look func() (event, <-chan struct{}, error)) (event, error) {
	for {
		e, grew, err := look()
		if grew == nil {
			return e, err
		}
		select {
		case <-ctx.Done():
			return event{}, ctx.Err()
		case <-grew:
		}
	}
}

// tryNext takes the next event if it is there, else it returns what to wait for.
func (r *streamReader) tryNext() (event, <-chan struct{}, error) {
	r.stream.mu.Lock()
	defer r.stream.mu.Unlock()
	e, grew, err := r.peekLocked()
	if grew == nil && err == nil {
		r.stream.events[r.at-r.stream.firstKept].consumed, r.long = e.long != nil, e.long
		r.at++
		r.stream.sent = max(r.stream.sent, r.at)
		r.stream.trim()
	}
	return e, grew, err
}

// tryPeek returns the next event if it is there, else what to wait for.
func (r *streamReader) tryPeek() (event, <-chan struct{}, error) {
	r.stream.mu.Lock()
	defer r.stream.mu.Unlock()
	return r.peekLocked()
}

// peekLocked is what is there for the reader. The mutex is held.
func (r *streamReader) peekLocked() (event, <-chan struct{}, error) {
	s := r.stream
	switch {
	case r.id != s.readerID:
		return event{}, nil, errReaderReplaced
	case r.at < s.firstKept, r.at < s.nextNumber && s.events[r.at-s.firstKept].consumed:
		return event{}, nil, errEventsDropped
	case r.at < s.nextNumber:
		return s.events[r.at-s.firstKept], nil, nil
	case s.closed:
		return event{}, nil, io.EOF
	case r.canReconnect && s.reconnectID == r.id:
		r.reconnecting = true
		return event{}, nil, errReconnect
	}
	return event{}, s.changed, nil
}

// isDelivered reports whether a client was sent all that there is.
func (s *stream) isDelivered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent == s.nextNumber
}

// undelivered is how much of it waits for its client.
func (s *stream) undelivered() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.n >= s.sent {
			n += len(e.data)
		}
	}
	return n
}
