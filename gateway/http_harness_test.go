package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/sse"
	"github.com/sayso-dev/sayso/store/memory"
)

// httpHarness is a handler before servers that the test plays, before a real broker.
type httpHarness struct {
	*harness
	url     string      // http://127.0.0.1:PORT
	revoked atomic.Bool // ada's token
}

// The tokens of two clients.
const adaToken, bobToken = "sayso_agent_ada", "sayso_agent_bob"

// openHandler opens a handler before servers, whose names are given.
func openHandler(t *testing.T, p rules, servers ...gateway.Upstream) *httpHarness {
	t.Helper()
	s := &httpHarness{harness: &harness{t: t, log: memory.New(nil)}}
	w := s.harness
	var err error
	w.broker, err = broker.New(w.log, p, &broker.Options{Now: momentsFrom(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	for i := range servers {
		u := &servers[i]
		u.Gate, u.Pins, u.Calls, u.Actor, u.Session, u.Cwd = w.broker.Gate(asker), w.broker, w.broker, asker, "s", "/"
		u.Facts = facts.Options{Workspace: "/"}
		u.Note = func(text string) { w.mu.Lock(); defer w.mu.Unlock(); w.notes = append(w.notes, text) }
	}
	f, err := gateway.NewHandler(gateway.HandlerOptions{
		Authenticate: func(secret string) (string, error) {
			switch {
			case secret == adaToken && !s.revoked.Load():
				return "ada", nil
			case secret == bobToken:
				return "bob", nil
			}
			return "", errors.New("unknown")
		},
		StreamDelay: 10 * time.Second, KeepAlive: 100 * time.Millisecond, // a slow machine answers alone, too
	}, servers...)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- f.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-served, f.Close(context.Background()), w.broker.Close()); err != nil {
			t.Error(err)
		}
	})
	s.url = "http://" + l.Addr().String()
	return s
}

// newRequest makes a request of a client.
func (s *httpHarness) newRequest(method, path, body string, header ...string) *http.Request {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + adaToken}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for i := 0; i < len(header); i += 2 {
		switch name, value := header[i], header[i+1]; {
		case name == "Host":
			r.Host = value
		case strings.HasPrefix(name, "+"):
			r.Header[name[1:]] = append(r.Header[name[1:]], value)
		case value == "":
			r.Header.Del(name)
		default:
			r.Header[http.CanonicalHeaderKey(name)] = []string{value}
		}
	}
	return r
}

// client follows nothing, and begins each connection anew.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Timeout:       time.Minute,
}

// response is an answer over HTTP.
type response struct {
	*http.Response
	text   string
	events []sse.Event
}

// last is the last message of an answer.
func (r *response) last() string {
	if len(r.events) > 0 {
		return string(r.events[len(r.events)-1].Data)
	}
	return r.text
}

// do makes a request, and reads the answer to its end.
func (s *httpHarness) do(r *http.Request) *response {
	s.t.Helper()
	resp, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	out := &response{Response: resp}
	if resp.Header.Get("Content-Type") == sse.ContentType {
		for in := sse.NewReader(resp.Body, 64<<20); ; {
			e, err := in.Next()
			if err != nil {
				return out
			}
			out.events = append(out.events, e)
		}
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	out.text = string(text)
	return out
}

// post sends a message to the server srv.
func (s *httpHarness) post(body string, header ...string) *response {
	s.t.Helper()
	return s.do(s.newRequest("POST", "/srv/mcp", body, header...))
}

// listTools has a client list the tools of the server, which else would be asked about.
func (s *httpHarness) listTools() {
	s.t.Helper()
	body, header := statelessMessage("0", "tools/list", "", "")
	if r := s.post(body, header...); !strings.Contains(r.last(), `"echo"`) {
		s.t.Fatalf("%s %s", r.Status, r.last())
	}
}

// initialize begins a session, and returns its id.
func (s *httpHarness) initialize(header ...string) string {
	s.t.Helper()
	r := s.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lab"}}}`, header...)
	id := r.Header.Get("Mcp-Session-Id")
	if r.StatusCode != 200 || id == "" {
		s.t.Fatalf("no session: %s %s %v", r.Status, r.text, r.events)
	}
	return id
}

// statelessMessage is a message of 2026-07-28 with its headers.
func statelessMessage(id, method, name, params string) (body string, header []string) {
	if params != "" {
		params = "," + params
	}
	body = `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}` + params + `}}`
	header = []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
	if name != "" {
		header = append(header, "Mcp-Name", name)
	}
	return body, header
}

// statelessEcho is a call of the tool echo.
func statelessEcho(id, text string) (string, []string) {
	return statelessMessage(id, "tools/call", "echo", `"name":"echo","arguments":{"text":"`+text+`"}`)
}

// received is what a server that speaks HTTP was sent.
type received struct {
	method string
	header http.Header
	body   string
}

// testServer is a server that speaks HTTP, which the test plays.
type testServer struct {
	*httptest.Server
	t        *testing.T
	mu       sync.Mutex // guards what follows
	got      []received
	handlers map[string]http.HandlerFunc // by the method of the message, or of HTTP
}

// newTestServer opens a server that begins sessions, and answers what it knows nothing of
// with an empty result.
func newTestServer(t *testing.T) *testServer {
	t.Helper()
	s := &testServer{t: t, handlers: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *testServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil && len(body) > 0 {
		err = jcs.Check(body) // what is forwarded has no member twice, however it was made
	}
	if err != nil {
		s.t.Errorf("the server got %.300q: %v", body, err)
	}
	method := r.Method
	if r.Method == "POST" {
		method = between(string(body), `"method":"`, `"`)
	}
	s.mu.Lock()
	s.got = append(s.got, received{method, r.Header.Clone(), string(body)})
	do := s.handlers[method]
	s.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	switch {
	case do != nil:
		do(w, r)
	case r.Method != "POST":
		w.WriteHeader(http.StatusMethodNotAllowed)
	case !strings.Contains(string(body), `"id":`) || method == "":
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		if method == "initialize" {
			w.Header().Set("Mcp-Session-Id", "there")
		}
		result := "{}"
		if method == "tools/list" {
			result = `{"tools":[` + echoTool + `]}`
		}
		fmt.Fprintf(w, "{\n\"jsonrpc\":\"2.0\",\r\n\"id\":%s,\"result\":%s}", idOf(string(body)), result)
	}
}

// handle has the server do something.
func (s *testServer) handle(method string, do http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[method] = do
}

// received is what the server was sent with a method.
func (s *testServer) received(method string) (all []received) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.got {
		if h.method == method {
			all = append(all, h)
		}
	}
	return all
}

// idOf is the id in a message as it is spelled, of those above.
func idOf(body string) string { return between(body, `"id":`, ",") }

func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

// eventStream answers with an event stream.
func eventStream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			_, _ = io.WriteString(w, strings.ReplaceAll(e, "ID", idOf(string(body))))
			_ = http.NewResponseController(w).Flush()
		}
	}
}

const echoResult = `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"ran"}]}}`
