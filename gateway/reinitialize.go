package gateway

import (
	"context"
	"io"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/lines"
	"github.com/sayso-dev/sayso/internal/rpc"
	"github.com/sayso-dev/sayso/internal/sse"
)

// A client on standard input knows nothing of sessions over HTTP. When a server has
// forgotten the one that it began, as one does that was started anew, another is
// begun here with the client's own words.

// handleInitialize takes down with what the client begins a session. One that it had is over.
func (b *bridge) handleInitialize(m *message) {
	if b.session.sessionID() != "" {
		b.session.close()
	}
	b.session.mu.Lock()
	b.session.sessID, b.session.listening = "", false
	b.session.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.initialize, b.version, b.initialized = m.line, "", false
}

// handleInitializeResult takes down which version a server speaks, as it says it when a session
// begins.
func (b *bridge) handleInitializeResult(m *message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.initialize == nil || b.version != "" {
		return
	}
	if first, err := readMessage(b.initialize); err == nil && first.key() == m.key() {
		b.version = versionIn(m.result)
	}
}

// versionIn is the version in the answer to initialize; empty if there is none that
// can stand in a header.
func versionIn(result jsontext.Value) (version string) {
	_ = rpc.Members(result, nil, func(name string, value jsontext.Value, _ int) error { // what is unreadable is no version
		if name == "protocolVersion" {
			return rpc.ReadText(value, &version)
		}
		return nil
	})
	if len(version) > maxName || !visible(version) {
		return ""
	}
	return version
}

// toolListChanged has a client ask for the tools of a server again.
const toolListChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

// handleSessionLost begins another session. A call is not sent twice, whatever the server
// says of the first time: its approval was for once.
func (b *bridge) handleSessionLost(w *httpSender, m *sentRequest, id string) recovery {
	if !b.reinitialize(w, id) {
		return notRecovered
	}
	if m.method == callMethod {
		w.failUnanswered(m, "The server had forgotten the session, as it does when it is started anew, and did not take the call. Another session has begun: make the call again.")
		return answeredLocally
	}
	return resend
}

// reinitialize begins another session in the place of the one with this id, unless
// somebody did.
func (b *bridge) reinitialize(w *httpSender, id string) bool {
	b.reinitializing.Lock()
	defer b.reinitializing.Unlock()
	if b.session.sessionID() != id {
		return true
	}
	b.mu.Lock()
	hello, can, spoken := b.initialize, b.initialized && b.proven, b.version
	b.proven = false
	b.mu.Unlock()
	m, err := readMessage(hello)
	if err != nil || !can { // a session that was good for nothing is followed by no other
		return false
	}
	b.session.mu.Lock()
	b.session.listening = false
	b.session.mu.Unlock()
	ctx, cancel := context.WithTimeout(b.ctx, ioTimeout)
	defer cancel()
	switch same, err := w.initialize(ctx, &m, spoken); {
	case err != nil: // it is not there now: what comes next has another begin
		b.mu.Lock()
		b.proven = b.initialized // else the client begins one itself
		b.mu.Unlock()
		return false
	case !same:
		b.session.mu.Lock()
		if b.session.sessID == id {
			b.session.sessID = ""
		}
		b.session.mu.Unlock()
		return false
	}
	first, err := readMessage([]byte(`{"jsonrpc":"2.0","method":"` + initializedMethod + `"}`))
	if err == nil {
		err = w.sendNotification(ctx, &first)
	}
	if err != nil {
		return false
	}
	b.up.Options.Note(b.up.Name + " had forgotten the session; another has begun")
	_ = b.out.Send([]byte(toolListChanged)) // a client that is gone needs none
	return true
}

// initialize begins a session with the words of the client, which hears nothing of it.
// It reports whether the server speaks the same version as before; an error says that it
// is not there.
func (w *httpSender) initialize(ctx context.Context, m *message, spoken string) (same bool, err error) {
	resp, err := w.post(ctx, m)
	if err != nil {
		return false, err
	}
	defer func() { _ = resp.Body.Close() }() // only read
	switch code := resp.StatusCode; {
	case code/100 == 2:
	case code/100 == 5 || code == http.StatusRequestTimeout || code == http.StatusTooManyRequests:
		return false, errBroken
	default:
		return false, nil
	}
	defer func() {
		if id := resp.Header.Get(sessionHeader); !same && id != "" && len(id) <= maxID {
			w.endSession(id) // nobody goes on with it
		}
	}()
	var from io.Reader = oneLine{resp.Body}
	if contentType(resp) == sse.ContentType {
		from = newEventLines(resp.Body)
	}
	for in := lines.NewReader(from, maxMessage); ; {
		line, whole, err := in.Next()
		if err != nil || !whole {
			return false, errBroken
		}
		if a, err := readMessage(line); err == nil && a.isResponse() && a.key() == m.key() {
			if same = !a.failed && versionIn(a.result) == spoken; same {
				w.saveSessionID(m, resp)
			}
			return same, nil
		}
	}
}
