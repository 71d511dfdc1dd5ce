package gateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// session is one client that talks to one server over HTTP, for as long as its
// session lasts; or stateless requests.
type session struct {
	handler    *Handler
	up         *upstream
	key        string // among the sessions
	id         string // the same, as the client knows it; empty for stateless requests
	owner      string // of the token that it began with
	conv       *conversation
	transport  transport
	ctx        context.Context
	cancel     context.CancelFunc
	standalone *stream // what belongs to no request
	wg         sync.WaitGroup

	mu          sync.Mutex         // guards what follows
	streams     map[string]*stream // by their names
	finished    []string           // names of those that are over, the oldest first
	open        map[string]*stream // of requests that are not answered, by the key of the id
	tokens      map[string]*stream // by the progress token of the request
	openBytes   int                // bytes of the requests that are not answered
	latest      *stream            // of the request that came last
	streamCount int
	active      int
	idleTimer   *time.Timer
	closed      bool
}

// transport is the way to the server of a session.
type transport interface {
	// sender is a sender for what belongs to one request of the client, which came
	// with this header and whose stream is origin.
	sender(s *session, origin *stream, header http.Header, version string) sender
	// close ends the session at the server.
	close()
}

// maxFinished is how many streams are kept that are over and were sent whole. Of those
// that were not, as their clients are away, as many are kept as may be unanswered,
// and as much of them as may be asked.
const maxFinished = 32

// maxOpen is how many requests of a session may be unanswered, and maxOpenBytes
// how long they may be: clients go and their requests stay, for as long as the
// server takes.
var maxOpen, maxOpenBytes = 1024, 64 << 20 // less in tests

// makeSession begins a session, which its client knows by its id unless its requests
// are stateless: then it lasts. For the gate its calls are in the session of this name.
func (up *upstream) makeSession(owner, named string, alone bool) *session {
	o, f := up.Options, up.handler
	o.Session, o.Client = named, owner
	s := &session{
		handler: f, up: up, key: rand.Text(), owner: owner, conv: o.newConversation(up.trust), standalone: newStream("l"),
		transport: noTransport{}, streams: map[string]*stream{}, open: map[string]*stream{}, tokens: map[string]*stream{},
	}
	s.conv.redactError, s.conv.sessionless = up.redactError, alone
	if !alone {
		s.id = s.key
	}
	s.standalone.transient = true
	s.streams["l"] = s.standalone
	s.ctx, s.cancel = context.WithCancel(f.ctx)
	return s
}

// setTransport says which way the server is reached, unless the session has ended.
func (s *session) setTransport(way transport) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.transport = way
	}
	return !s.closed
}

// isStateless reports whether the requests of the session are stateless.
func (s *session) isStateless() bool { return s.id == "" }

// isResumable reports whether a client can come back for what it was sent.
func (s *session) isResumable() bool { return s.id != "" }

// relay is the relay for what belongs to one request.
func (s *session) relay(origin *stream, header http.Header, version string) *Relay {
	return s.conv.newRelay(streamSender{s, origin}, s.transport.sender(s, origin, header, version))
}

// acquire and release bracket what a client does, during which the session does not end
// by itself. One that is over is not busy any more.
func (s *session) acquire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acquireLocked()
}

func (s *session) acquireLocked() bool {
	if s.closed {
		return false
	}
	if s.active++; s.idleTimer != nil {
		s.idleTimer.Stop()
		s.idleTimer = nil
	}
	return true
}

func (s *session) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active--; s.active == 0 && !s.closed && !s.isStateless() {
		s.idleTimer = time.AfterFunc(s.handler.o.Idle, func() { s.end("Nothing happened in the session for long.") })
	}
}

// isClosed reports whether the session is over.
func (s *session) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// errDuplicateID is a request that could not be told from another.
var errDuplicateID = rpc.Invalid("the id or the progress token of a request is that of another")

// accept makes room for a message, and makes the session busy with it. A request has
// a stream, unless one with its id or its progress token is not answered yet.
func (s *session) accept(m *message, o *requestMeta) (*stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !m.isRequest() {
		if !s.acquireLocked() {
			return nil, errSessionEnded
		}
		return nil, nil
	}
	if s.isStateless() {
		return s.acceptStateless(m, o)
	}
	key, token := m.key(), ""
	if o.token != nil {
		token = (&message{id: o.token}).key()
	}
	if s.open[key] != nil || token != "" && s.tokens[token] != nil {
		return nil, errDuplicateID
	}
	return s.openStream(&stream{id: slices.Clone(m.id), token: slices.Clone(o.token), internalID: slices.Clone(m.id), line: m.line}, key, token)
}

// acceptStateless makes room for a stateless request. Its client knows nothing of
// others that have the same id, so that all have one of ours here, and behind us:
// one that nobody guesses, since they share what is kept by it.
func (s *session) acceptStateless(m *message, o *requestMeta) (*stream, error) {
	own := newRequestID()
	line, token := m.line, ""
	idFirst := m.idAt < o.tokenAt
	if o.token != nil && idFirst {
		line = splice(line, o.tokenAt, o.tokenAt+len(o.token), own)
	}
	line = splice(line, m.idAt, m.idAt+len(m.id), own)
	if o.token != nil && !idFirst {
		line = splice(line, o.tokenAt, o.tokenAt+len(o.token), own)
	}
	key := (&message{id: own}).key()
	if o.token != nil {
		token = key
	}
	return s.openStream(&stream{id: slices.Clone(m.id), token: slices.Clone(o.token), internalID: own, line: line, lacksMeta: o.lacksMeta()}, key, token)
}

// openStream opens the stream of a request. The mutex is held.
func (s *session) openStream(st *stream, key, token string) (*stream, error) {
	st.size = len(st.line)
	for len(s.open) >= maxOpen || len(s.open) > 0 && s.openBytes+st.size > maxOpenBytes {
		if !s.dropCancelled() {
			return nil, errSessionFull
		}
	}
	if s.closed {
		return nil, errSessionEnded
	}
	if !s.handler.reserve(s.owner, st.usage()) {
		return nil, errOverLimit
	}
	s.acquireLocked()
	s.openBytes += st.size
	s.streamCount++
	st.init("r" + strconv.Itoa(s.streamCount))
	s.streams[st.name], s.open[key], s.latest = st, st, st
	if token != "" {
		s.tokens[token] = st
	}
	return st, nil
}

// errSessionEnded is a session that ended just now.
var errSessionEnded = fmt.Errorf("%w: the session has ended", sayso.ErrUnavailable)

// errSessionFull is a session of which too much is unanswered.
var errSessionFull = fmt.Errorf("%w: too many requests of this session are not answered yet, or too long ones; cancel some (%s), or begin another session", sayso.ErrUnavailable, cancelledMethod)

// markCancelled notes that the client cancelled a request. A server need not answer it any
// more, but may: so its stream gives way only to others.
func (s *session) markCancelled(m *message) {
	id, err := cancelledID(*m)
	if err != nil {
		return // nothing is cancelled by it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.open[(&message{id: id}).key()]; st != nil {
		st.cancelled = true
	}
}

// dropCancelled drops a request that was cancelled, if there is one. The mutex is held.
func (s *session) dropCancelled() bool {
	for _, st := range s.open {
		if st.cancelled {
			s.unlink(st)
			delete(s.streams, st.name)
			st.close()
			return true
		}
	}
	return false
}

// errOverLimit is a token with which there is too much.
var errOverLimit = fmt.Errorf("%w: too much of what was asked for with this token is not answered yet", sayso.ErrUnavailable)

// usage is what a request takes until it is answered, also where its client hung up.
func (st *stream) usage() usage { return usage{bytes: st.size} }

// stream is a stream by its name.
func (s *session) stream(name string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[name]
}

// removeStream drops a stream for which no client comes back.
func (s *session) removeStream(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unlink(st)
	delete(s.streams, st.name)
}

// unlink drops what leads to a stream. The mutex is held.
func (s *session) unlink(st *stream) {
	for key, o := range s.open {
		if o == st {
			delete(s.open, key)
			s.openBytes -= st.size
			s.handler.release(s.owner, st.usage())
		}
	}
	for token, o := range s.tokens {
		if o == st {
			delete(s.tokens, token)
		}
	}
}

// takeAnswered is the stream of the request that a message answers. It is free then for
// another.
func (s *session) takeAnswered(m *message) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.open[m.key()]
	if st == nil {
		return nil
	}
	s.unlink(st)
	s.finished = append(s.finished, st.name)
	for len(s.finished) > maxFinished {
		i := s.oldestFinished()
		if i < 0 {
			break
		}
		delete(s.streams, s.finished[i])
		s.finished = slices.Delete(s.finished, i, i+1)
	}
	return st
}

// oldestFinished is which of the streams that are over is kept no longer, -1 for none: one
// that was sent whole, if there is one. The mutex is held.
func (s *session) oldestFinished() int {
	waits := 0
	for i, name := range s.finished {
		st := s.streams[name]
		if st == nil || st.isDelivered() {
			return i
		}
		waits += st.undelivered()
	}
	if len(s.finished) > maxOpen || waits > maxOpenBytes {
		return 0
	}
	return -1
}

// unansweredStream is the stream of a request of the client that is not answered yet.
func (s *session) unansweredStream(m *message) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[m.key()]
}

// streamFor is the stream for a message of the server that answers nothing, and the
// message as its client is to see it.
func (s *session) streamFor(m *message, origin *stream) (*stream, []byte) {
	a := subjectOf(m)
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.tokens[a.token]; a.token != "" && st != nil {
		return st, s.restoreID(m.line, a, st.token)
	}
	if st := s.open[a.subscription]; a.subscription != "" && st != nil {
		return st, s.restoreID(m.line, a, st.id)
	}
	return s.defaultStream(origin), m.line
}

// restoreID is a message with an id as its client spelled it, where that has others
// here.
func (s *session) restoreID(line []byte, a subject, id jsontext.Value) []byte {
	if !s.isStateless() {
		return line
	}
	return splice(line, a.from, a.to, id)
}

// defaultStream is the stream for what says nothing of where it belongs. The mutex is
// held.
func (s *session) defaultStream(origin *stream) *stream {
	switch {
	case origin != nil && !origin.isClosed():
		return origin
	case len(s.open) == 1:
		for _, st := range s.open {
			return st
		}
	case s.standalone.isAttached() || s.latest == nil || s.latest.isClosed():
		return s.standalone
	}
	return s.latest
}

// subject is what a notification says of the request that it is about: its progress
// token, or its id, as keys, and where that stands.
type subject struct {
	token, subscription string
	from, to            int
}

func subjectOf(m *message) (a subject) {
	if m.params.Kind() != '{' {
		return a
	}
	key := func(value jsontext.Value, at int) string {
		a.from, a.to = at, at+len(value)
		return (&message{id: value}).key()
	}
	_ = rpc.Members(m.params, nil, func(name string, value jsontext.Value, at int) error { // what is unreadable is about nothing
		at += m.paramsAt
		switch {
		case name == "progressToken" && m.method == "notifications/progress":
			a.token = key(value, at)
		case name == "_meta" && value.Kind() == '{' && a.token == "":
			return rpc.Members(value, nil, func(name string, value jsontext.Value, within int) error {
				if name == "io.modelcontextprotocol/subscriptionId" {
					a.subscription = key(value, at+within)
				}
				return nil
			})
		}
		return nil
	})
	return a
}

// endUnlessInitialized ends a session that the server did not begin.
func (s *session) endUnlessInitialized(st *stream) {
	if text := st.lastMessage(); text != nil {
		if m, err := readMessage(text); err != nil || m.failed {
			s.end("The session did not begin.")
		}
	}
}

// streamSender is the sender to the client of a session: each message goes to the stream
// that it belongs to, and what belongs to none there where it came from.
type streamSender struct {
	s      *session
	origin *stream
}

// Send sends one message.
func (w streamSender) Send(text []byte) error {
	m, err := readMessage(text)
	if err != nil {
		return nil // nothing of that kind comes here
	}
	if !utf8.Valid(text) {
		w.s.conv.o.Note("a message of " + w.s.up.Name + " is left out: it is not UTF-8")
		if !m.isResponse() {
			return nil
		}
		text = errorResponse(m.id, codeInternal, "The answer of the server is not UTF-8.")
		if m, err = readMessage(text); err != nil {
			return nil // nothing of that kind is written
		}
	}
	switch {
	case m.isResponse() && (m.id == nil || m.id.Kind() == 'n'):
		if w.origin != nil {
			w.origin.add(text, true)
		}
	case m.isResponse():
		st := w.s.takeAnswered(&m)
		if st == nil {
			st = w.notificationStream()
		}
		if st != nil && w.s.isStateless() && st.id != nil {
			text = splice(text, m.idAt, m.idAt+len(m.id), st.id)
		}
		if st != nil {
			st.add(text, true)
		}
	case m.isRequest() && w.s.isStateless():
		w.s.conv.o.Note("a request of " + w.s.up.Name + " is left out: its client has no session to answer it in")
	default:
		st, text := w.s.streamFor(&m, w.origin)
		st.add(text, false)
	}
	return nil
}

// notificationStream is the stream of a message that stands for itself, as a notification does,
// and is answered with an error of ours nevertheless.
func (w streamSender) notificationStream() *stream {
	if w.origin != nil && w.origin.name == "" {
		return w.origin
	}
	return nil
}

// end ends the session.
func (s *session) end(why string) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	if s.idleTimer != nil {
		s.idleTimer.Stop()
	}
	open, way := s.open, s.transport
	s.open, s.tokens = map[string]*stream{}, map[string]*stream{}
	s.mu.Unlock()
	s.handler.remove(s)
	for _, st := range open {
		s.handler.release(s.owner, st.usage())
		st.add(errorResponse(st.id, codeInternal, strings.TrimSpace(why)+" Whether what was asked for ran is not known."), true)
	}
	s.standalone.close()
	s.cancel()
	go func() {
		defer s.handler.wg.Done()
		way.close()
		s.wg.Wait()
		// What it could not record is found by its lease.
		_ = s.conv.newRelay(nil, nil).Close(context.WithoutCancel(s.ctx))
	}()
}
