package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/sse"
)

func init() { maxSSEMessage = 1 << 20 } // so that what is too long can be sent at once

func newTestConn() *sseConn {
	return &sseConn{transport: newSSETransport(nil), stop: func() {}, pending: map[string]*sseAnswer{}, more: make(chan struct{}, 1)}
}

// What a server says to nobody has an end, however short each message is.
func TestSSEConn_short(t *testing.T) {
	c := newTestConn()
	n := 0
	for c.take([]byte("1")) {
		if n++; n > 1<<20 {
			t.Fatal("there is no end of it")
		}
	}
}

// An answer waits for what came before it, and no longer than somebody listens to that.
func TestSSEConn_listenerEnds(t *testing.T) {
	c := newTestConn()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	listening := c.listen(req)
	a := c.expect("1")
	if !c.take([]byte(`{"jsonrpc":"2.0","method":"notifications/x"}`)) || !c.take([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)) {
		t.Fatal("there is no room")
	}
	select {
	case <-a.done:
		t.Error("the answer is told before what came before it")
	default:
	}
	_ = listening.Body.Close()
	<-a.done
}

// roundTripper makes requests as a function says.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// closing is the body of an answer, which says when it was closed.
type closing struct {
	io.Reader
	closed chan struct{}
}

func (c closing) Close() error { close(c.closed); return nil }

// What a server says to a request that was answered before holds no connection.
func TestSSEConn_takenLate(t *testing.T) {
	c := newTestConn()
	c.endpoint = &url.URL{Scheme: "http", Host: "127.0.0.1", Path: "/messages"}
	take, closed := make(chan struct{}), make(chan struct{})
	c.transport.next = roundTripper(func(req *http.Request) (*http.Response, error) {
		c.take([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
		<-take
		return &http.Response{StatusCode: http.StatusInternalServerError, Body: closing{strings.NewReader("late"), closed}}, nil
	})
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	resp, err := c.post(req)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), `"result"`) {
		t.Errorf("%s, %v", text, err)
	}
	_ = resp.Body.Close()
	close(take)
	<-closed
}

// Of two requests with one id the first is not waited for any more: an answer would be that to
// the second.
func TestSSEConn_sameID(t *testing.T) {
	c := newTestConn()
	first := c.expect("1")
	second := c.expect("1")
	select {
	case <-first.done:
	default:
		t.Error("the first is waited for")
	}
	c.forget("1", first)
	if !c.take([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)) {
		t.Fatal("there is no room")
	}
	<-second.done
	if first.text != nil || second.text == nil {
		t.Errorf("the answers are %q and %q", first.text, second.text)
	}
}

// What was said to a server is not said again because it leads elsewhere.
func TestSSEConn_redirect(t *testing.T) {
	said := 0
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", sse.ContentType)
			_, _ = io.WriteString(w, "event: endpoint\ndata: /messages\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case r.URL.Path != "/messages":
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			if text, _ := io.ReadAll(r.Body); strings.Contains(string(text), "tools/call") {
				said++
				http.Redirect(w, r, "/sse/", http.StatusTemporaryRedirect)
				return
			}
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	defer up.Close()
	client := &http.Client{Transport: newSSETransport(http.DefaultTransport), CheckRedirect: checkRedirect}
	say := func(session, text string) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, up.URL+"/sse", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if session != "" {
			req.Header.Set(sessionHeader, session)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp
	}
	begun := say("", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
	session := begun.Header.Get(sessionHeader)
	resp := say(session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)
	if session == "" || resp.StatusCode != http.StatusTemporaryRedirect || said != 1 {
		t.Errorf("session %q: a call was said %d times, and answered with %s", session, said, resp.Status)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, up.URL+"/sse", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(sessionHeader, session)
	if resp, err = client.Do(req); err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}

// Nothing is left of sessions that a server did not begin.
func TestSSETransport_refused(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", sse.ContentType)
			_, _ = io.WriteString(w, "event: endpoint\ndata: /messages\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case r.URL.Path == "/messages":
			w.WriteHeader(http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}))
	defer up.Close()
	tr := newSSETransport(http.DefaultTransport)
	for range 5 {
		resp, err := (&http.Client{Transport: tr}).Post(up.URL+"/sse", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		tr.mu.Lock()
		known := len(tr.conns)
		tr.mu.Unlock()
		if resp.StatusCode != http.StatusInternalServerError || known > 0 {
			t.Fatalf("%d, and %d sessions are known", resp.StatusCode, known)
		}
	}
}

// An address of the server's own may be spelled in another way than it was typed.
func TestEndpointOf(t *testing.T) {
	for _, tt := range []struct {
		server, named string
		own           bool
	}{
		{"https://x.example/sse", "https://X.example:443/messages", true},
		{"http://x.example:80/sse", "//x.example/messages#there", true},
		{"https://[::1]:443/sse", "https://[::1]/m", true},
		{"https://x.example/sse", "https://x.example:444/messages", false},
		{"https://x.example/sse", "http://x.example:443/messages", false},
		{"https://x.example/sse", "https://x.example.evil.example/messages", false},
		{"https://x.example/sse", "https://x.example@evil.example/messages", false},
		{"https://x.example/sse", "https://evil.example\\@x.example/", false},
		{"https://x.example/sse", "/\\evil.example/messages", true}, // a path, to which a backslash belongs
		{"https://x.example/sse", "https://x.example./messages", false},
		{"https://x.example/sse", "data:,x", false},
		{"https://linear.example/sse", "https://l\u0130near.example/messages", false},
		{"https://linear.example/sse", "https://l%C4%B0near.example/messages", false},
		{"https://k.example/sse", "https://\u212a.example/messages", false},
		{"https://m\u00fcnchen.example/sse", "https://M\u00fcnchen.example/messages", true},
		{"https://m\u00fcnchen.example/sse", "https://M\u00dcNCHEN.example/messages", false},
	} {
		server, err := url.Parse(tt.server)
		if err != nil {
			t.Fatal(err)
		}
		to, err := endpointOf(server, tt.named)
		if (err == nil) != tt.own || err == nil && originOf(to) != originOf(server) {
			t.Errorf("%s: %s: %v, %v", tt.server, tt.named, to, err)
		}
	}
}

// Answers that nobody reads have room until there is too much of them; what was read, or
// is waited for no more, makes room again.
func TestSSEConn_unread(t *testing.T) {
	c := newTestConn()
	long := strings.Repeat("x", maxSSEMessage/2)
	var answers []*sseAnswer
	take := func(id int) bool {
		m := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"x":"%s"}}`, id, long)
		parsed, err := readMessage([]byte(m))
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, c.expect(parsed.key()))
		return c.take([]byte(m))
	}
	for id := range 3 {
		if !take(id) {
			t.Fatalf("no room for answer %d", id)
		}
	}
	if take(3) {
		t.Error("there was room for all")
	}
	b := &sseAnswerBody{conn: c, key: "0", answer: answers[0], ctx: context.Background(), closed: make(chan struct{})}
	for range 2 { // as callers may
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if !take(4) || c.unread > 2*maxSSEMessage {
		t.Errorf("no room after one was read, of %d bytes", c.unread)
	}
	if take(5) {
		t.Error("there was room twice")
	}
}
