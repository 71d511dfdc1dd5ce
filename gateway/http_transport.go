package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sayso-dev/sayso/internal/sse"
)

// requester is for whom a server that speaks HTTP is called: a [bridge] or a [session].
type requester interface {
	// baseContext ends when nothing is wanted of the server any more.
	baseContext() context.Context
	// spawn runs do, which ends with baseContext.
	spawn(do func())
	// relayFor is the relay for what the server says about a request.
	relayFor(w *httpSender) *Relay
	// watch has a request that is sent now be looked after: isOpen reports whether it is not
	// answered yet, also where a client has used its id for another meanwhile.
	watch(m *message) (isOpen func() bool)
	// isWanted reports whether the rest of what answers a request is wanted.
	isWanted(m *sentRequest) bool
	// handleStreamClosed handles that the server ended the stream of a request before it answered, and
	// how much later it has us come back.
	handleStreamClosed(m *message, after time.Duration)
	// handleResponse takes what became of a request in HTTP: resp is nil where there is an error.
	handleResponse(w *httpSender, resp *http.Response, err error)
	// handleRejected handles that the server took a message with no status that says so.
	handleRejected(w *httpSender, resp *http.Response)
	// handleSessionLost handles that the server does not know the session of this id any more.
	handleSessionLost(w *httpSender, m *sentRequest, id string) recovery
}

// sentRequest is a request that is on its way to the server, or there.
type sentRequest struct {
	*message
	isOpen func() bool // it is not answered yet
}

// recovery is what becomes of a request in a session that the server has forgotten.
type recovery int

const (
	notRecovered    recovery = iota // as the server said
	answeredLocally                 // by us
	resend                          // another session has begun, in which it may be sent
)

// httpTransport is what one client has to do with a server that speaks HTTP: their session
// or, where requests are stateless, all of these.
type httpTransport struct {
	up *upstream

	mu           sync.Mutex // guards what follows
	sessID       string     // of the session at the server
	version      string     // of the protocol, as the client said it last
	clientHeader http.Header
	listening    bool
	cancels      map[string]*context.CancelFunc // of requests that are on their way, by the keys of their ids
}

// httpSender is a sender for what belongs to one request of the client.
type httpSender struct {
	*httpTransport
	requester    requester
	stateless    bool // the request is stateless
	stream       *stream
	clientHeader http.Header
	version      string
}

func (r *httpTransport) sender(s *session, origin *stream, header http.Header, version string) sender {
	r.mu.Lock()
	defer r.mu.Unlock()
	if header != nil {
		r.clientHeader = header
		if version != "" {
			r.version = version
		}
	}
	return &httpSender{httpTransport: r, requester: s, stateless: s.isStateless(), stream: origin, clientHeader: r.clientHeader, version: r.version}
}

// Pieces takes nothing: only answers of servers are long.
func (w *httpSender) Pieces(*outline, func(io.Writer) error) error { return errTooLong }

// Send sends one message. It returns when the server has it; what the server
// answers comes by itself.
func (w *httpSender) Send(text []byte) error {
	m, err := readMessage(text)
	if err != nil {
		return err
	}
	if m.method == cancelledMethod && w.stateless {
		w.cancelRequest(&m) // closing its stream is how a request is cancelled
		return nil
	}
	if !m.isRequest() {
		return w.sendNotification(w.requester.baseContext(), &m)
	}
	w.sendRequest(&m)
	return nil
}

// sendRequest sends a request, and waits until the server has it, but not long: one that is
// hard to reach does not keep what else the client says.
func (w *httpSender) sendRequest(m *message) {
	ctx, stop := w.requestContext(m)
	sent := &sentRequest{m, w.requester.watch(m)}
	var once sync.Once
	written := make(chan struct{})
	wrote := func() { once.Do(func() { close(written) }) }
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { wrote() }})
	w.requester.spawn(func() {
		defer stop()
		defer wrote()
		w.roundTrip(ctx, sent)
	})
	select {
	case <-written:
	case <-time.After(retryDelay):
	}
}

// requestContext is the context of a request that is sent now.
func (w *httpSender) requestContext(m *message) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(w.requester.baseContext())
	key := m.key()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancels[key] = &cancel
	return ctx, func() {
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.cancels[key] == &cancel {
			delete(w.cancels, key)
		}
	}
}

// cancelRequest closes the request that a cancellation names, if it is on its way.
func (w *httpSender) cancelRequest(m *message) {
	id, err := cancelledID(*m)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if stop := w.cancels[(&message{id: id}).key()]; stop != nil {
		(*stop)()
	}
}

// sendNotification sends a message that nothing answers.
func (w *httpSender) sendNotification(ctx context.Context, m *message) error {
	resp, err := w.post(ctx, m)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()             // only read
	_, _ = io.CopyN(io.Discard, resp.Body, int64(1<<16)) // so that the connection can be used again
	if resp.StatusCode/100 != 2 {
		w.requester.handleRejected(w, resp)
		return nil
	}
	if m.method == initializedMethod {
		w.listen()
	}
	return nil
}

// post sends a message.
func (w *httpSender) post(ctx context.Context, m *message) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.up.URL, bytes.NewReader(m.line))
	if err != nil {
		return nil, err
	}
	w.setHeaders(req, w.clientHeader, w.version)
	if m.method == initializeMethod {
		req.Header.Del(sessionHeader) // another may be forgotten, and still be known here
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, "+sse.ContentType)
	if m.method != "" && w.stateless {
		o, err := readRequestMeta(m)
		if err != nil {
			return nil, err
		}
		req.Header.Set(methodHeader, encoded(m.method))
		if o.hasName && (strings.HasPrefix(m.method, "tasks/") || m.method == callMethod || m.method == "resources/read" || m.method == "prompts/get") {
			req.Header.Set(nameHeader, encoded(o.name))
		}
		if m.method == callMethod {
			w.up.trust.setMirrors(req.Header, w.clientHeader, &o)
		}
	}
	return w.do(req)
}

// do makes a request. An error says nothing of the address, in which a secret may
// stand.
func (r *httpTransport) do(req *http.Request) (*http.Response, error) {
	resp, err := r.up.client.Do(req)
	var in *url.Error
	if errors.As(err, &in) {
		err = in.Err
	}
	return resp, err
}

// setHeaders sets what goes with each request.
func (r *httpTransport) setHeaders(req *http.Request, given http.Header, version string) {
	for name, values := range r.up.Header {
		req.Header[name] = values
	}
	if r.up.PassAuthorization && len(given["Authorization"]) > 0 {
		req.Header["Authorization"] = given["Authorization"]
	}
	if version != "" {
		req.Header.Set(versionHeader, version)
	}
	if id := r.sessionID(); id != "" {
		req.Header.Set(sessionHeader, id)
	}
}

// sessionID is the id of the session at the server.
func (r *httpTransport) sessionID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessID
}

// roundTrip sends a request, and relays what comes back.
func (w *httpSender) roundTrip(ctx context.Context, m *sentRequest) {
	id := w.sessionID()
	resp, err := w.post(ctx, m.message)
	if err == nil && resp.StatusCode == http.StatusNotFound && id != "" && m.method != initializeMethod {
		switch w.requester.handleSessionLost(w, m, id) {
		case answeredLocally: // and what the server says of it would be a second answer
			_ = resp.Body.Close() // only read
			w.requester.handleResponse(w, resp, nil)
			return
		case resend:
			_ = resp.Body.Close()
			resp, err = w.post(ctx, m.message)
		case notRecovered:
		}
	}
	w.requester.handleResponse(w, resp, err)
	if isUnsent(err) {
		w.failUnanswered(m, sentence(w.up.errorText(err))+" The server did not get the request.")
		return
	}
	if err != nil {
		w.failUnanswered(m, "The server could not be reached ("+w.up.errorText(err)+"). Whether it got the request is not known.")
		return
	}
	defer func() { _ = resp.Body.Close() }() // only read
	kind := contentType(resp)
	switch {
	case resp.StatusCode/100 == 3:
		w.failUnanswered(m, "The server sends to another address"+redirectTarget(resp)+", which is not followed.")
	case resp.StatusCode/100 != 2:
		w.relayError(m, resp, kind)
	case kind == sse.ContentType:
		w.saveSessionID(m.message, resp)
		w.relayStream(ctx, m, resp.Body)
	default:
		w.saveSessionID(m.message, resp)
		_ = w.relay().FromServer(w.requester.baseContext(), oneLine{resp.Body}) // told below
		w.failUnanswered(m, "The server did not answer the request.")
	}
}

// relay is the relay for what the server says.
func (w *httpSender) relay() *Relay { return w.requester.relayFor(w) }

// contentType is the type of what a server answers with.
func contentType(resp *http.Response) string {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// saveSessionID takes down the session that a server began.
func (w *httpSender) saveSessionID(m *message, resp *http.Response) {
	id := resp.Header.Get(sessionHeader)
	if m.method != initializeMethod || w.stateless || len(id) > maxID {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessID = id
}

// relayError relays what a server that refused a request said of it.
func (w *httpSender) relayError(m *sentRequest, resp *http.Response, kind string) {
	w.requester.handleRejected(w, resp)
	if text := w.up.loginText(resp); text != "" {
		w.failUnanswered(m, text)
		return
	}
	if kind == "application/json" {
		text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		flatten(text)
		if in, wrong := readMessage(bytes.TrimSpace(text)); err == nil && wrong == nil && in.failed && in.key() == m.key() {
			_ = w.relay().fromServer(w.requester.baseContext(), in.line)
			return
		}
	}
	w.failUnanswered(m, statusText(resp.StatusCode)) // its own words for it may say anything
}

// statusText is what a client is told of a request that a server refused.
func statusText(status int) string {
	said := "The server refused the request, with the status " + strconv.Itoa(status) + " of HTTP"
	switch status {
	case http.StatusUnauthorized:
		return said + ": it wants to know who asks."
	case http.StatusMethodNotAllowed:
		return said + ": what is there may be no server of this protocol."
	}
	return said + "."
}

// failUnanswered answers a request that the server did not answer.
func (w *httpSender) failUnanswered(m *sentRequest, why string) {
	if w.requester.baseContext().Err() == nil && m.isOpen() {
		_ = w.relay().fromServer(w.requester.baseContext(), errorResponse(m.id, codeInternal, why)) // a client that is gone needs none
	}
}

// callState is the call of the client with the id of a message, if it was forwarded and is
// not answered yet. What is answered and may not go on yet is here.
func (c *conversation) callState(m *message) (call *heldCall, here bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.calls[m.key()]; h != nil && h.request != "" {
		call = h
	}
	return call, c.judged[m.key()] > 0
}

// relayStream relays the stream that answers a request. One that ends before it did is
// resumed, if the server lets us: for as long as that is wanted, where the server
// ends its streams itself and has us come back (SEP-1699).
func (w *httpSender) relayStream(ctx context.Context, m *sentRequest, body io.Reader) {
	events := newEventLines(body)
	end := w.relay().FromServer(w.requester.baseContext(), events)
	for rest := (backoff{}); resumable(end) && !w.stateless && events.lastID != "" && w.requester.isWanted(m); {
		if end == nil {
			w.requester.handleStreamClosed(m.message, rest.delay(events.retry))
		}
		if !rest.wait(ctx, events.retry) {
			break
		}
		var next *eventLines
		if next, end = w.resume(ctx, events); next != nil {
			events = next
		}
		rest.record(next)
	}
	w.failUnanswered(m, "The connection to the server ended before it answered. Whether what was asked for ran is not known.")
}

// resume reads a stream on behind the last event that came, and reports how it ended,
// nil if the server ended it.
func (w *httpSender) resume(ctx context.Context, last *eventLines) (*eventLines, error) {
	resp, err := w.get(ctx, last.lastID)
	if err != nil {
		return nil, errBroken
	}
	defer func() { _ = resp.Body.Close() }() // only read
	switch {
	case resp.StatusCode/100 == 5:
		return nil, errBroken
	case resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), sse.ContentType):
		return nil, errNotResumable
	}
	events := newEventLines(resp.Body)
	events.id, events.lastID, events.retry = last.lastID, last.lastID, last.retry
	return events, w.relay().FromServer(w.requester.baseContext(), events)
}

// get asks for a stream.
func (w *httpSender) get(ctx context.Context, last string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.up.URL, nil)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	given, version := w.httpTransport.clientHeader, w.httpTransport.version
	w.mu.Unlock()
	w.setHeaders(req, given, version)
	req.Header.Set("Accept", sse.ContentType)
	if last != "" {
		req.Header.Set(resumeHeader, last)
	}
	return w.do(req)
}

// listen listens to what the server says of itself, for as long as it lets us.
func (w *httpSender) listen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listening {
		return
	}
	w.listening = true
	from := &httpSender{httpTransport: w.httpTransport, requester: w.requester, clientHeader: w.clientHeader, version: w.version}
	w.requester.spawn(func() {
		events := &eventLines{}
		for rest := (backoff{unlimited: true}); ; {
			next, end := from.resume(w.requester.baseContext(), events)
			if next != nil {
				events = next
			}
			rest.record(next)
			if !resumable(end) || !rest.wait(w.requester.baseContext(), events.retry) {
				return
			}
		}
	})
}

// closeTimeout is how long a server is waited for at the end.
const closeTimeout = 5 * time.Second

// close ends the session at the server.
func (r *httpTransport) close() {
	if id := r.sessionID(); id != "" {
		r.endSession(id)
	}
}

// endSession ends a session at the server.
func (r *httpTransport) endSession(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, r.up.URL, nil)
	if err != nil {
		return
	}
	r.mu.Lock()
	given, version := r.clientHeader, r.version
	r.mu.Unlock()
	r.setHeaders(req, given, version)
	req.Header.Set(sessionHeader, id)
	if resp, err := r.do(req); err == nil { // one that cannot be reached ends the session by itself
		_ = resp.Body.Close()
	}
}
