package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/sse"
)

// post takes a message.
func (v *visit) post() {
	text, ok := v.message()
	if !ok {
		return
	}
	m, o, ok := v.readStrict(text)
	if !ok {
		return
	}
	s, st := v.place(&m, &o)
	if s == nil {
		return
	}
	defer s.idle()
	if st == nil {
		v.tell(s, &m)
		return
	}
	v.ask(s, st, &m)
}

// readStrict reads a message, and refuses one of which headers say something else.
func (v *visit) readStrict(text []byte) (m message, o outside, ok bool) {
	line := text
	if bytes.ContainsAny(text, "\r\n") {
		if err := jcs.Check(text); err == nil { // else it is told below what is wrong with it
			flat(line)
		}
	}
	line = bytes.TrimSpace(line)
	m, err := readStrict(line)
	if err == nil {
		o, err = readOutside(&m)
	}
	if err != nil {
		v.refuse(idOf(line), http.StatusBadRequest, codeNoRequest, "Refused: the message could not be read strictly ("+err.Error()+"). Nothing ran.")
		return m, o, false
	}
	p := agrees(v.r.Header, &m, &o)
	if p == nil && m.method == callMethod && v.version >= statelessSince { // clients before know nothing of them
		p = v.up.known.mirrors(v.r.Header, &o)
	}
	if p != nil {
		writeJSON(v.w, p.status, p.failure(m.id))
		return m, o, false
	}
	return m, o, true
}

// place finds the session that a message belongs to, and makes room for it there
// if it is a request. Without one the client was told why.
func (v *visit) place(m *message, o *outside) (s *session, st *stream) {
	var err error
	switch begins := m.method == beginMethod && m.request(); {
	case v.version >= statelessSince:
		if s, err = v.up.alone(v.r.Context(), v.owner); err == nil {
			st, err = s.place(m, o)
		}
	case v.r.Header.Get(sessionHeader) != "":
		if s = v.session(); s == nil {
			return nil, nil
		}
		st, err = s.place(m, o)
	case begins:
		if s, err = v.up.begin(v.r.Context(), v.owner); err == nil {
			if st, err = s.place(m, o); err != nil {
				s.end("The session did not begin.")
			}
		}
	default:
		v.refuse(m.id, http.StatusBadRequest, codeNoRequest, "Refused: the header "+sessionHeader+" is missing; a session begins with "+beginMethod+". Nothing ran.")
		return nil, nil
	}
	switch {
	case errors.Is(err, errTaken):
		v.refuse(m.id, http.StatusBadRequest, codeNoRequest, "Refused: the id or the progress token of this request is that of one that is not answered yet. Nothing ran.")
		return nil, nil
	case err != nil:
		v.refuse(m.id, http.StatusServiceUnavailable, codeInternal, "The server cannot be used: "+v.up.plain(err)+". Nothing ran.")
		return nil, nil
	}
	return s, st
}

// tell takes a message that nobody waits for an answer to.
func (v *visit) tell(s *session, m *message) {
	if s.alone() && (m.response() || m.method == cancelledMethod) {
		// It is about a request, and its ids are those of all who stand alone: nobody
		// may take back or answer what is another's. Who takes back closes the stream.
		v.w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.method == cancelledMethod {
		s.unwants(m)
	}
	st := newStream("")
	err := s.relay(st, v.r.Header, v.version).fromClient(s.ctx, m.line)
	rd, _ := st.read(0)
	if e, grew, _ := rd.take(); grew == nil && len(e.data) > 0 {
		writeJSON(v.w, http.StatusBadRequest, e.data)
		return
	}
	if err != nil {
		v.refuse(nil, http.StatusBadGateway, codeInternal, "The server did not take the message: "+v.up.plain(err)+".")
		return
	}
	if status, demand := st.refused(); status != 0 {
		v.demand(demand)
		v.refuse(nil, status, codeInternal, "The server did not take the message.")
		return
	}
	v.w.WriteHeader(http.StatusAccepted)
}

// ask takes a request, and answers it.
func (v *visit) ask(s *session, st *stream, m *message) {
	if m.method == beginMethod && v.version < statelessSince {
		v.w.Header().Set(sessionHeader, s.id)
		defer s.begun(st)
	}
	json, events := v.accepts()
	if !json && !events {
		s.forget(st)
		v.refuse(m.id, http.StatusNotAcceptable, codeNoRequest, "Refused: answers are application/json or text/event-stream, and the client accepts neither. Nothing ran.")
		return
	}
	if s.alone() && v.r.Context().Err() != nil {
		s.forget(st) // the client has gone, and closing the stream is how a request is cancelled
		return
	}
	version := v.version
	if m.method == beginMethod {
		version = askedVersion(m)
	}
	rd, err := st.read(0) // before anything comes: a long answer is only for who reads
	if err != nil {
		return // nobody else knows of it yet
	}
	defer rd.stop()
	rd.turns = events && m.method != beginMethod && st.resumable(s, version)
	relay := s.relay(st, v.r.Header, v.version)
	relay.silent, relay.still = !events, v.still
	taken := make(chan struct{})
	line := st.line
	st.line = nil // what is answered is kept, what was asked is not
	s.work.Go(func() {
		defer close(taken)
		if err := relay.fromClient(s.ctx, line); err != nil {
			st.add(failure(m.id, codeInternal, "The server did not take the message: "+v.up.plain(err)+"."), true)
		}
	})
	done := v.answer(s, st, rd, version, json, events)
	if !done && s.alone() {
		takeBack(s, st, relay, taken)
	}
}

// takeBack takes back a request whose client closed its stream. A client may be so
// fast that the request is not known yet, so that it is taken back once it is; but
// one that a server is slow to take is not waited for.
func takeBack(s *session, st *stream, relay *Relay, taken <-chan struct{}) {
	defer s.forget(st)
	select {
	case <-taken:
	default:
		_ = relay.fromClient(s.ctx, cancellation(st.own))
		<-taken
	}
	_ = relay.fromClient(s.ctx, cancellation(st.own))
}

// listen has the client listen to what belongs to no request, or go on where it
// was cut off.
func (v *visit) listen(s *session) {
	if _, events := v.accepts(); !events {
		v.refuse(nil, http.StatusNotAcceptable, codeNoRequest, "What is listened to is text/event-stream.")
		return
	}
	last, ok := only(v.r.Header, resumeHeader)
	var rd *reading
	err := errForgotten
	if ok && last != "" {
		name, n, _ := strings.Cut(last, "-")
		after, wrong := strconv.Atoi(n)
		if st := s.stream(name); st != nil && wrong == nil && after >= 0 {
			rd, err = st.read(after)
		}
	} else if ok {
		rd = s.hear.readOn()
		err = nil
	}
	if err != nil {
		v.refuse(nil, http.StatusBadRequest, codeNoRequest, "What came behind the event of that id is not kept (any more).")
		return
	}
	defer rd.stop()
	if !s.busy() {
		return
	}
	defer s.idle()
	rd.turns = rd.s.resumable(s, v.version)
	v.stream(s, rd.s, rd, v.version)
}

// answer waits for the answer to a request, and sends it: as a stream, but alone as
// JSON to a client that takes no stream, or where it is there soon and has a status
// of its own. It reports whether the client has all of it.
func (v *visit) answer(s *session, st *stream, rd *reading, version string, json, events bool) bool {
	ctx := v.r.Context()
	if events {
		soon, cancel := context.WithTimeout(ctx, v.f.o.Opening)
		defer cancel()
		ctx = soon
	}
	for {
		if json {
			if e, err := rd.peek(ctx); err == nil && (e.last || !events) {
				if !e.last {
					_, _, _ = rd.take()
					continue // nothing but the answer has a place in it
				}
				if !events || v.status(st, s, &e) != http.StatusOK {
					s.forget(st)
					return v.whole(st, rd, s)
				}
			} else if err != nil && !events {
				return errors.Is(err, io.EOF)
			}
		}
		if v.r.Context().Err() != nil {
			return false
		}
		return v.stream(s, st, rd, version)
	}
}

// whole sends the answer alone.
func (v *visit) whole(st *stream, rd *reading, s *session) bool {
	e, _, err := rd.take()
	if err != nil {
		return false
	}
	status := v.status(st, s, &e)
	_, demand := st.refused()
	v.demand(demand)
	if e.long == nil {
		writeJSON(v.w, status, e.data)
		return true
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.WriteHeader(status)
	v.pass(e.long)
	return true
}

// status is the status of HTTP that an answer has.
func (v *visit) status(st *stream, s *session, e *event) int {
	if status, _ := st.refused(); status != 0 {
		return status
	}
	if s.alone() && e.long == nil {
		return statusOf(e.data, st.lacking)
	}
	return http.StatusOK
}

// demand tells the client what the server wants to be shown.
func (v *visit) demand(what []string) {
	if len(what) > 0 {
		v.w.Header()["Www-Authenticate"] = what
	}
}

// pass passes a long answer on. One that breaks off breaks the connection, so that
// nobody takes it for whole.
func (v *visit) pass(long io.Reader) {
	if _, err := io.Copy(&timed{v.w, http.NewResponseController(v.w)}, long); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// timed writes to a client that must read.
type timed struct {
	w   io.Writer
	way *http.ResponseController
}

func (t *timed) Write(p []byte) (int, error) {
	_ = t.way.SetWriteDeadline(time.Now().Add(slowest)) // where there is none, nobody is slow
	return t.w.Write(p)
}

// stream sends a stream to its end, and reports whether it got there.
func (v *visit) stream(s *session, st *stream, rd *reading, version string) bool {
	way := http.NewResponseController(v.w)
	out := &timed{v.w, way}
	h := v.w.Header()
	h.Set("Content-Type", sse.ContentType)
	h.Set("X-Accel-Buffering", "no")
	v.w.WriteHeader(http.StatusOK)
	w := sse.NewWriter(out, way.Flush)
	resumable := s.resumable() && st.name != ""
	err := w.Comment("ok")
	if back := v.r.Method == http.MethodGet && v.r.Header.Get(resumeHeader) != ""; !back && st.resumable(s, version) {
		err = w.Event(eventID(st, rd.at-1), "", nil) // where to go on, should the connection break
	}
	for err == nil {
		soon, cancel := context.WithTimeout(v.r.Context(), v.f.o.KeepAlive)
		var e event
		e, err = rd.next(soon)
		cancel()
		id := ""
		if resumable {
			id = eventID(st, e.n)
		}
		switch {
		case errors.Is(err, context.DeadlineExceeded) && v.r.Context().Err() == nil:
			err = w.Comment("waiting")
		case errors.Is(err, io.EOF):
			return true
		case errors.Is(err, errComeBack):
			return w.Retry(st.turn()) == nil
		case err != nil:
		case e.long != nil:
			v.pass(io.MultiReader(strings.NewReader("event: message\ndata: "), e.long, strings.NewReader("\n\n")))
			return true
		default:
			err = w.Event(id, "message", e.data)
		}
		if err == nil && e.last {
			return true
		}
	}
	return errors.Is(err, errReplaced)
}

// resumable reports whether a client is told from the beginning where to go on: one
// of a version in which servers may have it come back.
func (st *stream) resumable(s *session, version string) bool {
	return s.resumable() && st.name != "" && version >= resumableSince && version < statelessSince
}

// eventID says where an event is.
func eventID(st *stream, n int) string { return st.name + "-" + strconv.Itoa(n) }
