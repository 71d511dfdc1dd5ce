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
	// maxKept is how much of what a client was sent is kept for it, should it come
	// back for it, and maxUnsent how much of what waits for it.
	maxKept   = 1 << 20
	maxUnsent = 32 << 20
)

// event is one message on its way to a client.
type event struct {
	n    int
	data []byte
	long *io.PipeReader // in the place of data, of a message that passes as it comes
	gone bool           // it began to pass, or is lost
	last bool           // it answers the request
}

// stream is what the client is sent about one request, or about none: messages in
// their order, that are kept for a while in case the client has to come back for
// them. One that reads takes the place of the one before.
type stream struct {
	name string // within its session

	// Of the request that it answers: how the client spelled its id and its progress
	// token, the id that it has within the session, and the message with that, until
	// it is sent.
	id, token, own jsontext.Value
	line           []byte
	lacking        bool // it does not say what it must

	// The session's mutex guards these.
	asked    int  // how long the message is
	unwanted bool // the client cancelled it

	mu      sync.Mutex // guards what follows
	events  []event
	begun   int // the number of the first event that is kept
	next    int // that of the next one
	sent    int // up to where a client was sent them
	size    int // of those that are kept
	over    bool
	reader  int // counts those who read
	reads   bool
	turned  int           // the reader who is to come back later, as the server has us come back
	after   time.Duration // how much later
	away    bool          // it left, and comes back
	passing bool          // little of it is kept while nobody reads
	grew    chan struct{} // closed when anything changes
	status  int           // of the answer by HTTP where it is not 200
	demand  []string      // what a server wants to be shown first (WWW-Authenticate)
}

// newStream returns a stream. Its first event may be the empty one that tells a
// client where it is, so that numbers begin behind it.
func newStream(name string) *stream {
	s := &stream{}
	s.begin(name)
	return s
}

func (s *stream) begin(name string) {
	s.name, s.begun, s.next, s.grew = name, 1, 1, make(chan struct{})
}

// changed wakes those who wait. The mutex is held.
func (s *stream) changed() {
	close(s.grew)
	s.grew = make(chan struct{})
}

// add appends a message. Behind the last one nothing more comes.
func (s *stream) add(data []byte, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.put(event{data: data, last: last})
	}
}

// put appends an event. The mutex is held.
func (s *stream) put(e event) {
	e.n = s.next
	s.next++
	s.events = append(s.events, e)
	s.size += len(e.data)
	s.over = s.over || e.last
	s.trim()
	s.changed()
}

// trim forgets the oldest of what is kept, first of what was sent.
func (s *stream) trim() {
	for len(s.events) > 0 && (s.size > maxKept && (s.begun < s.sent || s.passing && !s.reads) || s.size > maxUnsent) {
		s.size -= len(s.events[0].data)
		s.events, s.begun = s.events[1:], s.begun+1
	}
}

// long appends an answer that passes as it comes, to a client that reads now. One
// that was sent away is waited for. To another it is lost: it is too long to be kept.
func (s *stream) long() *leaky {
	from, to := io.Pipe()
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := s.over || !s.reads && !s.away
	if lost {
		_ = from.Close()
	}
	if !s.over {
		s.put(event{long: from, last: true, gone: lost})
	}
	return &leaky{w: to}
}

// expect waits for a client that was sent away. Nothing long waits for one that does
// not come back. The mutex is held.
func (s *stream) expect() {
	s.away = true
	reader := s.reader
	time.AfterFunc(s.after+slowest, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.reader == reader {
			s.away = false
			s.lose()
		}
	})
}

// lose loses a long answer of which nobody read anything. The mutex is held.
func (s *stream) lose() {
	for i, e := range s.events {
		if e.long != nil && !e.gone {
			_ = e.long.Close()
			s.events[i].gone = true
		}
	}
}

// turn is how much later the client is to come back.
func (s *stream) turn() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.after
}

// comeBack has the client come back for the rest, if it reads and knows how.
func (s *stream) comeBack(after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads {
		s.turned, s.after = s.reader, after
		s.changed()
	}
}

// leaky writes for as long as somebody reads, without the line feed at the end.
type leaky struct {
	w    *io.PipeWriter
	gone bool
}

// done says how it ended.
func (l *leaky) done(err error) { _ = l.w.CloseWithError(err) }

func (l *leaky) Write(p []byte) (int, error) {
	text := p
	if n := len(p); n > 0 && p[n-1] == '\n' {
		text = p[:n-1]
	}
	if !l.gone {
		_, err := l.w.Write(text)
		l.gone = err != nil
	}
	return len(p), nil
}

// end says that nothing more comes.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.changed()
}

// refuse has the request answered with a status of HTTP, if nothing was sent yet.
func (s *stream) refuse(status int, demand []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.demand = status, demand
}

// refused is the status that the answer has in HTTP, if it is not 200.
func (s *stream) refused() (status int, demand []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status, s.demand
}

// ended reports whether nothing more comes.
func (s *stream) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// heard reports whether a client reads.
func (s *stream) heard() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

// reading is one client that reads a stream.
type reading struct {
	s     *stream
	count int
	at    int  // the number of the next event
	turns bool // the client can be told to come back
	left  bool // it was
	takes *io.PipeReader
}

var (
	errComeBack  = errors.New("the client is to come back for the rest")
	errForgotten = errors.New("what came behind that event is not kept any more")
	errReplaced  = errors.New("another connection reads this stream now")
)

// read begins to read behind an event.
func (s *stream) read(after int) (*reading, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := after + 1
	if at < s.begun || at > s.next {
		return nil, errForgotten
	}
	if at < s.next && s.events[at-s.begun].gone {
		return nil, errForgotten // it went to the one before, as far as it got
	}
	return s.reading(at), nil
}

// reading is a new reading. The mutex is held.
func (s *stream) reading(at int) *reading {
	s.reader++
	s.reads, s.away = true, false
	s.changed()
	return &reading{s: s, count: s.reader, at: at}
}

// readOn begins to read where the one before ended.
func (s *stream) readOn() *reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reading(max(s.sent, s.begun))
}

// last is the message that the stream ended with, nil if there is none yet.
func (s *stream) last() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.events); n > 0 && s.events[n-1].last {
		return s.events[n-1].data
	}
	return nil
}

// stop ends the reading. A long answer that waits for it is lost, unless its client
// comes back.
func (r *reading) stop() {
	if r.takes != nil {
		_ = r.takes.Close()
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.count != r.s.reader {
		return
	}
	r.s.reads = false
	if r.left {
		r.s.expect()
		return
	}
	r.s.lose()
}

// next waits for the next event. At the end it returns [io.EOF].
func (r *reading) next(ctx context.Context) (event, error) { return r.wait(ctx, r.take) }

// peek does so, and the event is the next one still.
func (r *reading) peek(ctx context.Context) (event, error) { return r.wait(ctx, r.look) }

func (r *reading) wait(ctx context.Context, look func() (event, <-chan struct{}, error)) (event, error) {
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

// take takes the next event if it is there, else it returns what to wait for.
func (r *reading) take() (event, <-chan struct{}, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	e, grew, err := r.here()
	if grew == nil && err == nil {
		r.s.events[r.at-r.s.begun].gone, r.takes = e.long != nil, e.long
		r.at++
		r.s.sent = max(r.s.sent, r.at)
		r.s.trim()
	}
	return e, grew, err
}

// look returns the next event if it is there, else what to wait for.
func (r *reading) look() (event, <-chan struct{}, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.here()
}

// here is what is there for the reader. The mutex is held.
func (r *reading) here() (event, <-chan struct{}, error) {
	s := r.s
	switch {
	case r.count != s.reader:
		return event{}, nil, errReplaced
	case r.at < s.begun, r.at < s.next && s.events[r.at-s.begun].gone:
		return event{}, nil, errForgotten
	case r.at < s.next:
		return s.events[r.at-s.begun], nil, nil
	case s.over:
		return event{}, nil, io.EOF
	case r.turns && s.turned == r.count:
		r.left = true
		return event{}, nil, errComeBack
	}
	return event{}, s.grew, nil
}

// delivered reports whether a client was sent all that there is.
func (s *stream) delivered() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent == s.next
}

// waits is how much of it waits for its client.
func (s *stream) waits() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.n >= s.sent {
			n += len(e.data)
		}
	}
	return n
}
