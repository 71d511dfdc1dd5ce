package gateway

import (
	"context"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/lines"
	"github.com/sayso-dev/sayso/internal/rpc"
	"github.com/sayso-dev/sayso/internal/sse"
)

// A client on standard input knows nothing of sessions over HTTP. When a server has
// forgotten the one that it began, as one does that was started anew, another is
// begun here with the client's own words.

// begins takes down with what the client begins a session. One that it had is over.
func (d *inlet) begins(m *message) {
	if d.session.session() != "" {
		d.session.end()
	}
	d.session.mu.Lock()
	d.session.id, d.session.listens = "", false
	d.session.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hello, d.spoken, d.began = m.line, "", false
}

// greets takes down which version a server speaks, as it says it when a session
// begins.
func (d *inlet) greets(m *message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hello == nil || d.spoken != "" {
		return
	}
	if first, err := readMessage(d.hello); err == nil && first.key() == m.key() {
		d.spoken = versionIn(m.result)
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

// changedTools has a client ask for the tools of a server again.
const changedTools = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

// forgotten begins another session. A call is not sent twice, whatever the server
// says of the first time: its approval was for once.
func (d *inlet) forgotten(w *remoteWay, m *message, id string) sequel {
	if !d.renews(w, id) {
		return isRefused
	}
	if m.method == callMethod {
		w.lost(m, "The server had forgotten the session, as it does when it is started anew, and did not take the call. Another session has begun: make the call again.")
		return isAnswered
	}
	return goesAgain
}

// renews begins another session in the place of the one with this id, unless
// somebody did.
func (d *inlet) renews(w *remoteWay, id string) bool {
	d.renewing.Lock()
	defer d.renewing.Unlock()
	if d.session.session() != id {
		return true
	}
	d.mu.Lock()
	hello, can, spoken := d.hello, d.began && d.proven, d.spoken
	d.proven = false
	d.mu.Unlock()
	m, err := readMessage(hello)
	if err != nil || !can { // a session that was good for nothing is followed by no other
		return false
	}
	d.session.mu.Lock()
	d.session.id, d.session.listens = "", false
	d.session.mu.Unlock()
	ctx, cancel := context.WithTimeout(d.ctx, slowest)
	defer cancel()
	if !w.hello(ctx, &m, spoken) {
		return false
	}
	first, err := readMessage([]byte(`{"jsonrpc":"2.0","method":"` + begunMethod + `"}`))
	if err == nil {
		err = w.tell(ctx, &first)
	}
	if err != nil {
		return false
	}
	d.up.Options.Note(d.up.Name + " had forgotten the session; another has begun")
	_ = d.out.Send([]byte(changedTools)) // a client that is gone needs none
	return true
}

// hello begins a session with the words of the client, which hears nothing of it.
// It reports whether the server speaks the same version as before.
func (w *remoteWay) hello(ctx context.Context, m *message, spoken string) bool {
	resp, err := w.post(ctx, m)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }() // only read
	if resp.StatusCode/100 != 2 {
		return false
	}
	var from io.Reader = oneLine{resp.Body}
	if kindOf(resp) == sse.ContentType {
		from = newEventLines(resp.Body)
	}
	for in := lines.NewReader(from, maxMessage); ; {
		line, whole, err := in.Next()
		if err != nil || !whole {
			return false
		}
		if a, err := readMessage(line); err == nil && a.response() && a.key() == m.key() {
			same := !a.failed && versionIn(a.result) == spoken
			if same {
				w.began(m, resp)
			}
			return same
		}
	}
}
