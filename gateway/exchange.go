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

// handlePost takes a message.
func (x *exchange) handlePost() {
	text, ok := x.readBody()
	if !ok {
		return
	}
	m, o, ok := x.readMessage(text)
	if !ok {
		return
	}
	s, st := x.findStream(&m, &o)
	if s == nil {
		return
	}
	defer s.release()
	if st == nil {
		x.handleNotification(s, &m)
		return
	}
	x.handleRequest(s, st, &m)
}

// readMessage reads a message, and refuses one of which headers say something else.
func (x *exchange) readMessage(text []byte) (m message, o requestMeta, ok bool) {
	line := text
	if bytes.ContainsAny(text, "\r\n") {
		if err := jcs.Check(text); err == nil { // else it is told below what is wrong with it
			flatten(line)
		}
	}
	line = bytes.TrimSpace(line)
	m, err := readStrict(line)
	if err == nil {
		o, err = readRequestMeta(&m)
	}
	if err != nil {
		x.refuse(idOf(line), http.StatusBadRequest, codeInvalidRequest, "Refused: the message could not be read strictly ("+err.Error()+"). Nothing ran.")
		return m, o, false
	}
	p := checkHeaders(x.r.Header, &m, &o)
	if p == nil && m.method == callMethod && x.version >= statelessSince { // clients before know nothing of them
		p = x.up.trust.checkMirrors(x.r.Header, &o)
	}
	if p != nil {
		writeJSON(x.w, p.status, p.response(m.id))
		return m, o, false
	}
	return m, o, true
}

// findStream finds the session that a message belongs to, and makes room for it there
// if it is a request. Without one the client was told why.
func (x *exchange) findStream(m *message, o *requestMeta) (s *session, st *stream) {
	var err error
	switch begins := m.method == initializeMethod && m.isRequest(); {
	case x.version >= statelessSince:
		if s, err = x.up.statelessSession(x.r.Context(), x.owner); err == nil {
			st, err = s.accept(m, o)
		}
	case x.r.Header.Get(sessionHeader) != "":
		if s = x.findSession(); s == nil {
			return nil, nil
		}
		st, err = s.accept(m, o)
	case begins:
		if s, err = x.up.newSession(x.r.Context(), x.owner); err == nil {
			if st, err = s.accept(m, o); err != nil {
				s.end("The session did not begin.")
			}
		}
	default:
		x.refuse(m.id, http.StatusBadRequest, codeInvalidRequest, "Refused: the header "+sessionHeader+" is missing; a session begins with "+initializeMethod+". Nothing ran.")
		return nil, nil
	}
	switch {
	case errors.Is(err, errDuplicateID):
		x.refuse(m.id, http.StatusBadRequest, codeInvalidRequest, "Refused: the id or the progress token of this request is that of one that is not answered yet. Nothing ran.")
		return nil, nil
	case err != nil:
		x.refuse(m.id, http.StatusServiceUnavailable, codeInternal, "The server cannot be used: "+x.up.errorText(err)+". Nothing ran.")
		return nil, nil
	}
	return s, st
}

// handleNotification takes a message that nobody waits for an answer to.
func (x *exchange) handleNotification(s *session, m *message) {
	if s.isStateless() && (m.isResponse() || m.method == cancelledMethod) {
		// It is about a request, and its ids are those of all stateless ones: nobody
		// may take back or answer what is another's. Who takes back closes the stream.
		x.w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.method == cancelledMethod {
		s.markCancelled(m)
	}
	st := newStream("")
	err := s.relay(st, x.r.Header, x.version).fromClient(s.ctx, m.line)
	rd, _ := st.openReader(0)
	if e, grew, _ := rd.tryNext(); grew == nil && len(e.data) > 0 {
		writeJSON(x.w, http.StatusBadRequest, e.data)
		return
	}
	if err != nil {
		x.refuse(nil, http.StatusBadGateway, codeInternal, "The server did not take the message: "+x.up.errorText(err)+".")
		return
	}
	if status, demand := st.httpError(); status != 0 {
		x.setAuthenticate(demand)
		x.refuse(nil, status, codeInternal, "The server did not take the message.")
		return
	}
	x.w.WriteHeader(http.StatusAccepted)
}

// handleRequest takes a request, and answers it.
func (x *exchange) handleRequest(s *session, st *stream, m *message) {
	if m.method == initializeMethod && x.version < statelessSince {
		x.w.Header().Set(sessionHeader, s.id)
		defer s.endUnlessInitialized(st)
	}
	json, events := x.accepts()
	if !json && !events {
		s.removeStream(st)
		x.refuse(m.id, http.StatusNotAcceptable, codeInvalidRequest, "Refused: answers are application/json or text/event-stream, and the client accepts neither. Nothing ran.")
		return
	}
	if s.isStateless() && x.r.Context().Err() != nil {
		s.removeStream(st) // the client has gone, and closing the stream is how a request is cancelled
		return
	}
	version := x.version
	if m.method == initializeMethod {
		version = requestedVersion(m)
	}
	rd, err := st.openReader(0) // before anything comes: a long answer is only for who reads
	if err != nil {
		return // nobody else knows of it yet
	}
	defer rd.close()
	rd.canReconnect = events && m.method != initializeMethod && st.isResumable(s, version)
	relay := s.relay(st, x.r.Header, x.version)
	relay.noProgress, relay.recheck = !events, x.checkToken
	taken := make(chan struct{})
	line := st.line
	st.line = nil // what is answered is kept, what was asked is not
	s.wg.Go(func() {
		defer close(taken)
		if err := relay.fromClient(s.ctx, line); err != nil {
			st.add(errorResponse(m.id, codeInternal, "The server did not take the message: "+x.up.errorText(err)+"."), true)
		}
	})
	done := x.respond(s, st, rd, version, json, events)
	if !done && s.isStateless() {
		cancelStateless(s, st, relay, taken)
	}
}

// cancelStateless takes back a request whose client closed its stream. A client may be so
// fast that the request is not known yet, so that it is taken back once it is; but
// one that a server is slow to take is not waited for.
func cancelStateless(s *session, st *stream, relay *Relay, taken <-chan struct{}) {
	defer s.removeStream(st)
	select {
	case <-taken:
	default:
		_ = relay.fromClient(s.ctx, cancellation(st.internalID))
		<-taken
	}
	_ = relay.fromClient(s.ctx, cancellation(st.internalID))
}

// handleGet has the client listen to what belongs to no request, or go on where it
// was cut off.
func (x *exchange) handleGet(s *session) {
	if _, events := x.accepts(); !events {
		x.refuse(nil, http.StatusNotAcceptable, codeInvalidRequest, "What is listened to is text/event-stream.")
		return
	}
	last, ok := singleValue(x.r.Header, resumeHeader)
	var rd *streamReader
	err := errEventsDropped
	if ok && last != "" {
		name, n, _ := strings.Cut(last, "-")
		after, wrong := strconv.Atoi(n)
		if st := s.stream(name); st != nil && wrong == nil && after >= 0 {
			rd, err = st.openReader(after)
		}
	} else if ok {
		rd = s.standalone.resumeReader()
		err = nil
	}
	if err != nil {
		x.refuse(nil, http.StatusBadRequest, codeInvalidRequest, "What came behind the event of that id is not kept (any more).")
		return
	}
	defer rd.close()
	if !s.acquire() {
		return
	}
	defer s.release()
	rd.canReconnect = rd.stream.isResumable(s, x.version)
	x.sendStream(s, rd.stream, rd, x.version)
}

// respond waits for the answer to a request, and sends it: as a stream, but alone as
// JSON to a client that takes no stream, or where it is there soon and has a status
// of its own. It reports whether the client has all of it.
func (x *exchange) respond(s *session, st *stream, rd *streamReader, version string, json, events bool) bool {
	ctx := x.r.Context()
	if events {
		soon, cancel := context.WithTimeout(ctx, x.handler.o.StreamDelay)
		defer cancel()
		ctx = soon
	}
	for {
		if json {
			if e, err := rd.peek(ctx); err == nil && (e.last || !events) {
				if !e.last {
					_, _, _ = rd.tryNext()
					continue // nothing but the answer has a place in it
				}
				if !events || x.statusFor(st, s, &e) != http.StatusOK {
					s.removeStream(st)
					return x.sendJSON(st, rd, s)
				}
			} else if err != nil && !events {
				return errors.Is(err, io.EOF)
			}
		}
		if x.r.Context().Err() != nil {
			return false
		}
		return x.sendStream(s, st, rd, version)
	}
}

// sendJSON sends the answer alone.
func (x *exchange) sendJSON(st *stream, rd *streamReader, s *session) bool {
	e, _, err := rd.tryNext()
	if err != nil {
		return false
	}
	status := x.statusFor(st, s, &e)
	_, demand := st.httpError()
	x.setAuthenticate(demand)
	if e.long == nil {
		writeJSON(x.w, status, e.data)
		return true
	}
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(status)
	x.copyLong(e.long)
	return true
}

// statusFor is the status of HTTP that an answer has.
func (x *exchange) statusFor(st *stream, s *session, e *event) int {
	if status, _ := st.httpError(); status != 0 {
		return status
	}
	if s.isStateless() && e.long == nil {
		return statusOf(e.data, st.lacksMeta)
	}
	return http.StatusOK
}

// setAuthenticate tells the client what the server wants to be shown.
func (x *exchange) setAuthenticate(what []string) {
	if len(what) > 0 {
		x.w.Header()["Www-Authenticate"] = what
	}
}

// copyLong passes a long answer on. One that breaks off breaks the connection, so that
// nobody takes it for whole.
func (x *exchange) copyLong(long io.Reader) {
	if _, err := io.Copy(&deadlineWriter{x.w, http.NewResponseController(x.w)}, long); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// deadlineWriter writes to a client that must read.
type deadlineWriter struct {
	w          io.Writer
	controller *http.ResponseController
}

func (t *deadlineWriter) Write(p []byte) (int, error) {
	_ = t.controller.SetWriteDeadline(time.Now().Add(ioTimeout)) // where there is none, nobody is slow
	return t.w.Write(p)
}

// sendStream sends a stream to its end, and reports whether it got there.
func (x *exchange) sendStream(s *session, st *stream, rd *streamReader, version string) bool {
	way := http.NewResponseController(x.w)
	out := &deadlineWriter{x.w, way}
	h := x.w.Header()
	h.Set("Content-Type", sse.ContentType)
	h.Set("X-Accel-Buffering", "no")
	x.w.WriteHeader(http.StatusOK)
	w := sse.NewWriter(out, way.Flush)
	resumable := s.isResumable() && st.name != ""
	err := w.Comment("ok")
	if back := x.r.Method == http.MethodGet && x.r.Header.Get(resumeHeader) != ""; !back && st.isResumable(s, version) {
		err = w.Event(eventID(st, rd.at-1), "", nil) // where to go on, should the connection break
	}
	for err == nil {
		soon, cancel := context.WithTimeout(x.r.Context(), x.handler.o.KeepAlive)
		var e event
		e, err = rd.next(soon)
		cancel()
		id := ""
		if resumable {
			id = eventID(st, e.n)
		}
		switch {
		case errors.Is(err, context.DeadlineExceeded) && x.r.Context().Err() == nil:
			err = w.Comment("waiting")
		case errors.Is(err, io.EOF):
			return true
		case errors.Is(err, errReconnect):
			return w.Retry(st.reconnectDelay()) == nil
		case err != nil:
		case e.long != nil:
			x.copyLong(io.MultiReader(strings.NewReader("event: message\ndata: "), e.long, strings.NewReader("\n\n")))
			return true
		default:
			err = w.Event(id, "message", e.data)
		}
		if err == nil && e.last {
			return true
		}
	}
	return errors.Is(err, errReaderReplaced)
}

// isResumable reports whether a client is told from the beginning where to go on: one
// of a version in which servers may have it come back.
func (st *stream) isResumable(s *session, version string) bool {
	return s.isResumable() && st.name != "" && version >= resumableSince && version < statelessSince
}

// eventID says where an event is.
func eventID(st *stream, n int) string { return st.name + "-" + strconv.Itoa(n) }
