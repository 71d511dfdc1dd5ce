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

// party is for whom a server that speaks HTTP is talked to.
type party interface {
	// life ends when nothing is wanted of the server any more.
	life() context.Context
	// runs runs do, which ends with life.
	runs(do func())
	// says is the relay for what the server says about a request.
	says(w *remoteWay) *Relay
	// awaits reports whether a request is not answered yet.
	awaits(m *message) bool
	// wants reports whether the rest of what answers a request is wanted.
	wants(m *message) bool
	// turned hears that the server ended the stream of a request before it answered, and
	// how much later it has us come back.
	turned(m *message, after time.Duration)
	// reached hears what became of a request in HTTP: resp is nil where there is an error.
	reached(w *remoteWay, resp *http.Response, err error)
	// refused hears that the server took a message with no status that says so.
	refused(w *remoteWay, resp *http.Response)
	// forgotten hears that the server does not know the session of this id any more.
	forgotten(w *remoteWay, m *message, id string) sequel
}

// sequel is what becomes of a request in a session that the server has forgotten.
type sequel int

const (
	isRefused  sequel = iota // as the server said
	isAnswered               // by us
	goesAgain                // another session has begun, in which it may be sent
)

// remote is what one client has to do with a server that speaks HTTP: their session
// or, where requests stand alone, all of these.
type remote struct {
	up *upstream

	mu      sync.Mutex // guards what follows
	id      string     // of the session at the server
	version string     // of the protocol, as the client said it last
	given   http.Header
	listens bool
	stops   map[string]context.CancelFunc // of requests that are on their way, by the keys of their ids
}

// remoteWay is an outlet for what belongs to one request of the client.
type remoteWay struct {
	*remote
	by      party
	alone   bool // the request stands alone
	home    *stream
	given   http.Header
	version string
}

func (r *remote) way(s *session, home *stream, header http.Header, version string) outlet {
	r.mu.Lock()
	defer r.mu.Unlock()
	if header != nil {
		r.given = header
		if version != "" {
			r.version = version
		}
	}
	return &remoteWay{remote: r, by: s, alone: s.alone(), home: home, given: r.given, version: r.version}
}

// Pieces takes nothing: only answers of servers are long.
func (w *remoteWay) Pieces(*outline, func(io.Writer) error) error { return errUnjudged }

// Send sends one message. It returns when the server has it; what the server
// answers comes by itself.
func (w *remoteWay) Send(text []byte) error {
	m, err := readMessage(text)
	if err != nil {
		return err
	}
	if m.method == cancelledMethod && w.alone {
		w.cancel(&m) // closing its stream is how a request is cancelled
		return nil
	}
	if !m.request() {
		return w.tell(w.by.life(), &m)
	}
	w.asks(&m)
	return nil
}

// asks sends a request, and waits until the server has it, but not long: one that is
// hard to reach does not keep what else the client says.
func (w *remoteWay) asks(m *message) {
	ctx, stop := w.starts(m)
	var once sync.Once
	written := make(chan struct{})
	wrote := func() { once.Do(func() { close(written) }) }
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { wrote() }})
	w.by.runs(func() {
		defer stop()
		defer wrote()
		w.exchange(ctx, m)
	})
	select {
	case <-written:
	case <-time.After(pause):
	}
}

// starts is the context of a request that is sent now.
func (w *remoteWay) starts(m *message) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(w.by.life())
	key := m.key()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stops[key] = cancel
	return ctx, func() {
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.stops, key)
	}
}

// cancel closes the request that a cancellation names, if it is on its way.
func (w *remoteWay) cancel(m *message) {
	id, err := unwanted(*m)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if stop := w.stops[(&message{id: id}).key()]; stop != nil {
		stop()
	}
}

// tell sends a message that nothing answers.
func (w *remoteWay) tell(ctx context.Context, m *message) error {
	resp, err := w.post(ctx, m)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()             // only read
	_, _ = io.CopyN(io.Discard, resp.Body, int64(1<<16)) // so that the connection can be used again
	if resp.StatusCode/100 != 2 {
		w.by.refused(w, resp)
		return nil
	}
	if m.method == begunMethod {
		w.listen()
	}
	return nil
}

// post sends a message.
func (w *remoteWay) post(ctx context.Context, m *message) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.up.URL, bytes.NewReader(m.line))
	if err != nil {
		return nil, err
	}
	w.head(req, w.given, w.version)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, "+sse.ContentType)
	if m.method != "" && w.alone {
		o, err := readOutside(m)
		if err != nil {
			return nil, err
		}
		req.Header.Set(methodHeader, encoded(m.method))
		if o.named && (strings.HasPrefix(m.method, "tasks/") || m.method == callMethod || m.method == "resources/read" || m.method == "prompts/get") {
			req.Header.Set(nameHeader, encoded(o.name))
		}
		if m.method == callMethod {
			w.up.known.mirror(req.Header, w.given, &o)
		}
	}
	return w.do(req)
}

// do makes a request. An error says nothing of the address, in which a secret may
// stand.
func (r *remote) do(req *http.Request) (*http.Response, error) {
	resp, err := r.up.client.Do(req)
	var in *url.Error
	if errors.As(err, &in) {
		err = in.Err
	}
	return resp, err
}

// head sets what goes with each request.
func (r *remote) head(req *http.Request, given http.Header, version string) {
	for name, values := range r.up.Header {
		req.Header[name] = values
	}
	if r.up.PassAuthorization && len(given["Authorization"]) > 0 {
		req.Header["Authorization"] = given["Authorization"]
	}
	if version != "" {
		req.Header.Set(versionHeader, version)
	}
	if id := r.session(); id != "" {
		req.Header.Set(sessionHeader, id)
	}
}

// session is the id of the session at the server.
func (r *remote) session() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.id
}

// exchange sends a request, and relays what comes back.
func (w *remoteWay) exchange(ctx context.Context, m *message) {
	id := w.session()
	resp, err := w.post(ctx, m)
	if err == nil && resp.StatusCode == http.StatusNotFound && id != "" && m.method != beginMethod {
		switch w.by.forgotten(w, m, id) {
		case isAnswered: // and what the server says of it would be a second answer
			_ = resp.Body.Close() // only read
			w.by.reached(w, resp, nil)
			return
		case goesAgain:
			_ = resp.Body.Close()
			resp, err = w.post(ctx, m)
		case isRefused:
		}
	}
	w.by.reached(w, resp, err)
	if err != nil {
		w.lost(m, "The server could not be reached ("+w.up.plain(err)+"). Whether it got the request is not known.")
		return
	}
	defer func() { _ = resp.Body.Close() }() // only read
	kind := kindOf(resp)
	switch {
	case resp.StatusCode/100 == 3:
		w.lost(m, "The server sends to another address"+elsewhere(resp)+", which is not followed.")
	case resp.StatusCode/100 != 2:
		w.failed(m, resp, kind)
	case kind == sse.ContentType:
		w.began(m, resp)
		w.stream(ctx, m, resp.Body)
	default:
		w.began(m, resp)
		_ = w.relay().FromServer(w.by.life(), oneLine{resp.Body}) // told below
		w.lost(m, "The server did not answer the request.")
	}
}

// relay is the relay for what the server says.
func (w *remoteWay) relay() *Relay { return w.by.says(w) }

// kindOf is the type of what a server answers with.
func kindOf(resp *http.Response) string {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// began takes down the session that a server began.
func (w *remoteWay) began(m *message, resp *http.Response) {
	id := resp.Header.Get(sessionHeader)
	if m.method != beginMethod || w.alone || len(id) > maxID {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.id = id
}

// failed relays what a server that refused a request said of it.
func (w *remoteWay) failed(m *message, resp *http.Response, kind string) {
	w.by.refused(w, resp)
	if kind == "application/json" {
		text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		flat(text)
		if in, wrong := readMessage(bytes.TrimSpace(text)); err == nil && wrong == nil && in.failed && in.key() == m.key() {
			_ = w.relay().fromServer(w.by.life(), in.line)
			return
		}
	}
	w.lost(m, statusText(resp.StatusCode)) // its own words for it may say anything
}

// statusText is what a client is told of a request that a server refused.
func statusText(status int) string {
	said := "The server refused the request, with the status " + strconv.Itoa(status) + " of HTTP"
	switch status {
	case http.StatusUnauthorized:
		return said + ": it wants to know who asks."
	case http.StatusMethodNotAllowed:
		return said + ": what is there may speak the transport of 2024-11-05 (SSE), which is not spoken here."
	}
	return said + "."
}

// lost answers a request that the server did not answer.
func (w *remoteWay) lost(m *message, why string) {
	if w.by.life().Err() == nil && w.by.awaits(m) {
		_ = w.relay().fromServer(w.by.life(), failure(m.id, codeInternal, why)) // a client that is gone needs none
	}
}

// awaits reports whether a call of the client was forwarded and is not answered yet.
// What is answered and may not go on yet is.
func (c *conversation) awaits(m *message) (call, here bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.calls[m.key()]
	return h != nil && h.request != "", c.judged[m.key()] > 0
}

// stream relays the stream that answers a request. One that ends before it did is
// gone on with, if the server lets us: for as long as that is wanted, where the server
// ends its streams itself and has us come back (SEP-1699).
func (w *remoteWay) stream(ctx context.Context, m *message, body io.Reader) {
	events := newEventLines(body)
	end := w.relay().FromServer(w.by.life(), events)
	for rest := (resting{}); resumable(end) && !w.alone && events.lastID != "" && w.by.wants(m); {
		if end == nil {
			w.by.turned(m, rest.asked(events.retry))
		}
		if !rest.wait(ctx, events.retry) {
			break
		}
		var next *eventLines
		if next, end = w.resume(ctx, events); next != nil {
			events = next
		}
		rest.after(next)
	}
	w.lost(m, "The connection to the server ended before it answered. Whether what was asked for ran is not known.")
}

// resume reads a stream on behind the last event that came, and reports how it ended,
// nil if the server ended it.
func (w *remoteWay) resume(ctx context.Context, last *eventLines) (*eventLines, error) {
	resp, err := w.get(ctx, last.lastID)
	if err != nil {
		return nil, errBroken
	}
	defer func() { _ = resp.Body.Close() }() // only read
	switch {
	case resp.StatusCode/100 == 5:
		return nil, errBroken
	case resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), sse.ContentType):
		return nil, errNoResuming
	}
	events := newEventLines(resp.Body)
	events.id, events.lastID, events.retry = last.lastID, last.lastID, last.retry
	return events, w.relay().FromServer(w.by.life(), events)
}

// get asks for a stream.
func (w *remoteWay) get(ctx context.Context, last string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.up.URL, nil)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	given, version := w.remote.given, w.remote.version
	w.mu.Unlock()
	w.head(req, given, version)
	req.Header.Set("Accept", sse.ContentType)
	if last != "" {
		req.Header.Set(resumeHeader, last)
	}
	return w.do(req)
}

// listen listens to what the server says of itself, for as long as it lets us.
func (w *remoteWay) listen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.listens {
		return
	}
	w.listens = true
	from := &remoteWay{remote: w.remote, by: w.by, given: w.given, version: w.version}
	w.by.runs(func() {
		events := &eventLines{}
		for rest := (resting{lasts: true}); ; {
			next, end := from.resume(w.by.life(), events)
			if next != nil {
				events = next
			}
			rest.after(next)
			if !resumable(end) || !rest.wait(w.by.life(), events.retry) {
				return
			}
		}
	})
}

// end ends the session at the server.
func (r *remote) end() {
	id := r.session()
	if id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, r.up.URL, nil)
	if err != nil {
		return
	}
	r.mu.Lock()
	given, version := r.given, r.version
	r.mu.Unlock()
	r.head(req, given, version)
	if resp, err := r.do(req); err == nil { // one that cannot be reached ends the session by itself
		_ = resp.Body.Close()
	}
}
