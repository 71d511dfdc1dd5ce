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
// session lasts; or requests that stand alone.
type session struct {
	f     *Front
	up    *upstream
	key   string // among the sessions
	id    string // the same, as the client knows it; empty for requests that stand alone
	owner string // of the token that it began with
	talk  *conversation
	to    to
	ctx   context.Context
	leave context.CancelFunc
	hear  *stream // what belongs to no request
	work  sync.WaitGroup

	mu      sync.Mutex         // guards what follows
	streams map[string]*stream // by their names
	old     []string           // names of those that are over, the oldest first
	open    map[string]*stream // of requests that are not answered, by the key of the id
	tokens  map[string]*stream // by the progress token of the request
	asked   int                // bytes of the requests that are not answered
	latest  *stream            // of the request that came last
	count   int
	active  int
	timer   *time.Timer
	over    bool
}

// to is the way to the server of a session.
type to interface {
	// way is an outlet for what belongs to one request of the client, which came
	// with this header and whose stream is home.
	way(s *session, home *stream, header http.Header, version string) outlet
	// end ends the session at the server.
	end()
}

// maxOld is how many streams are kept that are over and were sent whole. Of those
// that were not, as their clients are away, as many are kept as may be unanswered,
// and as much of them as may be asked.
const maxOld = 32

// maxUnanswered is how many requests of a session may be unanswered, and maxAsked
// how long they may be: clients go and their requests stay, for as long as the
// server takes.
var maxUnanswered, maxAsked = 1024, 64 << 20 // less in tests

// session begins a session, which its client knows by its id unless its requests
// stand alone: then it lasts. For the gate its calls are in the session of this name.
func (up *upstream) session(owner, named string, alone bool) *session {
	o, f := up.Options, up.f
	o.Session, o.Client = named, owner
	s := &session{
		f: f, up: up, key: rand.Text(), owner: owner, talk: o.converse(up.known), hear: newStream("l"),
		to: nowhere{}, streams: map[string]*stream{}, open: map[string]*stream{}, tokens: map[string]*stream{},
	}
	s.talk.faults, s.talk.deaf = up.faultless, alone
	if !alone {
		s.id = s.key
	}
	s.hear.passing = true
	s.streams["l"] = s.hear
	s.ctx, s.leave = context.WithCancel(f.ctx)
	return s
}

// reach says which way the server is reached, unless the session has ended.
func (s *session) reach(way to) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.to = way
	}
	return !s.over
}

// alone reports whether the requests of the session stand alone.
func (s *session) alone() bool { return s.id == "" }

// resumable reports whether a client can come back for what it was sent.
func (s *session) resumable() bool { return s.id != "" }

// relay is the relay for what belongs to one request.
func (s *session) relay(home *stream, header http.Header, version string) *Relay {
	return s.talk.between(toClient{s, home}, s.to.way(s, home, header, version))
}

// busy and idle bracket what a client does, during which the session does not end
// by itself. One that is over is not busy any more.
func (s *session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.starts()
}

func (s *session) starts() bool {
	if s.over {
		return false
	}
	if s.active++; s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	return true
}

func (s *session) idle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active--; s.active == 0 && !s.over && !s.alone() {
		s.timer = time.AfterFunc(s.f.o.Idle, func() { s.end("Nothing happened in the session for long.") })
	}
}

// ended reports whether the session is over.
func (s *session) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// errTaken is a request that could not be told from another.
var errTaken = rpc.Invalid("the id or the progress token of a request is that of another")

// place makes room for a message, and makes the session busy with it. A request has
// a stream, unless one with its id or its progress token is not answered yet.
func (s *session) place(m *message, o *outside) (*stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !m.request() {
		if !s.starts() {
			return nil, errEnded
		}
		return nil, nil
	}
	if s.alone() {
		return s.placeAlone(m, o)
	}
	key, token := m.key(), ""
	if o.token != nil {
		token = (&message{id: o.token}).key()
	}
	if s.open[key] != nil || token != "" && s.tokens[token] != nil {
		return nil, errTaken
	}
	return s.opens(&stream{id: slices.Clone(m.id), token: slices.Clone(o.token), own: slices.Clone(m.id), line: m.line}, key, token)
}

// placeAlone makes room for a request that stands alone. Its client knows nothing of
// others that have the same id, so that all have one of ours here, and behind us:
// one that nobody guesses, since they share what is kept by it.
func (s *session) placeAlone(m *message, o *outside) (*stream, error) {
	own := ownID()
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
	return s.opens(&stream{id: slices.Clone(m.id), token: slices.Clone(o.token), own: own, line: line, lacking: o.lacks()}, key, token)
}

// opens opens the stream of a request. The mutex is held.
func (s *session) opens(st *stream, key, token string) (*stream, error) {
	st.asked = len(st.line)
	for len(s.open) >= maxUnanswered || len(s.open) > 0 && s.asked+st.asked > maxAsked {
		if !s.giveUp() {
			return nil, errFull
		}
	}
	if s.over {
		return nil, errEnded
	}
	if !s.f.takes(s.owner, st.share()) {
		return nil, errMuch
	}
	s.starts()
	s.asked += st.asked
	s.count++
	st.begin("r" + strconv.Itoa(s.count))
	s.streams[st.name], s.open[key], s.latest = st, st, st
	if token != "" {
		s.tokens[token] = st
	}
	return st, nil
}

// errEnded is a session that ended just now.
var errEnded = fmt.Errorf("%w: the session has ended", sayso.ErrUnavailable)

// errFull is a session of which too much is unanswered.
var errFull = fmt.Errorf("%w: too many requests of this session are not answered yet, or too long ones; cancel some (%s), or begin another session", sayso.ErrUnavailable, cancelledMethod)

// unwants notes that the client cancelled a request. A server need not answer it any
// more, but may: so its stream gives way only to others.
func (s *session) unwants(m *message) {
	id, err := unwanted(*m)
	if err != nil {
		return // nothing is cancelled by it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.open[(&message{id: id}).key()]; st != nil {
		st.unwanted = true
	}
}

// giveUp drops a request that was cancelled, if there is one. The mutex is held.
func (s *session) giveUp() bool {
	for _, st := range s.open {
		if st.unwanted {
			s.close(st)
			delete(s.streams, st.name)
			st.end()
			return true
		}
	}
	return false
}

// errMuch is a token with which there is too much.
var errMuch = fmt.Errorf("%w: too much of what was asked for with this token is not answered yet", sayso.ErrUnavailable)

// share is what a request takes until it is answered, also where its client hung up.
func (st *stream) share() share { return share{bytes: st.asked} }

// stream is a stream by its name.
func (s *session) stream(name string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[name]
}

// forget drops a stream for which no client comes back.
func (s *session) forget(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.close(st)
	delete(s.streams, st.name)
}

// close drops what leads to a stream. The mutex is held.
func (s *session) close(st *stream) {
	for key, o := range s.open {
		if o == st {
			delete(s.open, key)
			s.asked -= st.asked
			s.f.gives(s.owner, st.share())
		}
	}
	for token, o := range s.tokens {
		if o == st {
			delete(s.tokens, token)
		}
	}
}

// answered is the stream of the request that a message answers. It is free then for
// another.
func (s *session) answered(m *message) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.open[m.key()]
	if st == nil {
		return nil
	}
	s.close(st)
	s.old = append(s.old, st.name)
	for len(s.old) > maxOld {
		i := s.oldest()
		if i < 0 {
			break
		}
		delete(s.streams, s.old[i])
		s.old = slices.Delete(s.old, i, i+1)
	}
	return st
}

// oldest is which of the streams that are over is kept no longer, -1 for none: one
// that was sent whole, if there is one. The mutex is held.
func (s *session) oldest() int {
	waits := 0
	for i, name := range s.old {
		st := s.streams[name]
		if st == nil || st.delivered() {
			return i
		}
		waits += st.waits()
	}
	if len(s.old) > maxUnanswered || waits > maxAsked {
		return 0
	}
	return -1
}

// asks reports whether a request of the client is not answered yet.
func (s *session) asks(m *message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[m.key()] != nil
}

// about is the stream for a message of the server that answers nothing, and the
// message as its client is to see it.
func (s *session) about(m *message, home *stream) (*stream, []byte) {
	a := aboutOf(m)
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.tokens[a.token]; a.token != "" && st != nil {
		return st, s.spelled(m.line, a, st.token)
	}
	if st := s.open[a.listens]; a.listens != "" && st != nil {
		return st, s.spelled(m.line, a, st.id)
	}
	return s.belongs(home), m.line
}

// spelled is a message with an id as its client spelled it, where that has others
// here.
func (s *session) spelled(line []byte, a about, id jsontext.Value) []byte {
	if !s.alone() {
		return line
	}
	return splice(line, a.from, a.to, id)
}

// belongs is the stream for what says nothing of where it belongs. The mutex is
// held.
func (s *session) belongs(home *stream) *stream {
	switch {
	case home != nil && !home.ended():
		return home
	case len(s.open) == 1:
		for _, st := range s.open {
			return st
		}
	case s.hear.heard() || s.latest == nil || s.latest.ended():
		return s.hear
	}
	return s.latest
}

// about is what a notification says of the request that it is about: its progress
// token, or its id, as keys, and where that stands.
type about struct {
	token, listens string
	from, to       int
}

func aboutOf(m *message) (a about) {
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
					a.listens = key(value, at+within)
				}
				return nil
			})
		}
		return nil
	})
	return a
}

// begun ends a session that the server did not begin.
func (s *session) begun(st *stream) {
	if text := st.last(); text != nil {
		if m, err := readMessage(text); err != nil || m.failed {
			s.end("The session did not begin.")
		}
	}
}

// toClient is the outlet to the client of a session: each message goes to the stream
// that it belongs to, and what belongs to none there where it came from.
type toClient struct {
	s    *session
	home *stream
}

// Send sends one message.
func (d toClient) Send(text []byte) error {
	m, err := readMessage(text)
	if err != nil {
		return nil // nothing of that kind comes here
	}
	if !utf8.Valid(text) {
		d.s.talk.o.Note("a message of " + d.s.up.Name + " is left out: it is not UTF-8")
		if !m.response() {
			return nil
		}
		text = failure(m.id, codeInternal, "The answer of the server is not UTF-8.")
		if m, err = readMessage(text); err != nil {
			return nil // nothing of that kind is written
		}
	}
	switch {
	case m.response() && (m.id == nil || m.id.Kind() == 'n'):
		if d.home != nil {
			d.home.add(text, true)
		}
	case m.response():
		st := d.s.answered(&m)
		if st == nil {
			st = d.sole()
		}
		if st != nil && d.s.alone() && st.id != nil {
			text = splice(text, m.idAt, m.idAt+len(m.id), st.id)
		}
		if st != nil {
			st.add(text, true)
		}
	case m.request() && d.s.alone():
		d.s.talk.o.Note("a request of " + d.s.up.Name + " is left out: its client has no session to answer it in")
	default:
		st, text := d.s.about(&m, d.home)
		st.add(text, false)
	}
	return nil
}

// sole is the stream of a message that stands for itself, as a notification does,
// and is answered with an error of ours nevertheless.
func (d toClient) sole() *stream {
	if d.home != nil && d.home.name == "" {
		return d.home
	}
	return nil
}

// end ends the session.
func (s *session) end(why string) {
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		return
	}
	s.over = true
	if s.timer != nil {
		s.timer.Stop()
	}
	open, way := s.open, s.to
	s.open, s.tokens = map[string]*stream{}, map[string]*stream{}
	s.mu.Unlock()
	s.f.remove(s)
	for _, st := range open {
		s.f.gives(s.owner, st.share())
		st.add(failure(st.id, codeInternal, strings.TrimSpace(why)+" Whether what was asked for ran is not known."), true)
	}
	s.hear.end()
	s.leave()
	go func() {
		defer s.f.work.Done()
		way.end()
		s.work.Wait()
		// What it could not record is found by its lease.
		_ = s.talk.between(nil, nil).Close(context.WithoutCancel(s.ctx))
	}()
}
