package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
)

// sseServer is a server of the transport of 2024-11-05, which the test plays.
type sseServer struct {
	*httptest.Server
	endpoint string // that it names; %s is the session
	refuses  int    // the status with which it refuses what newer clients post

	mu      sync.Mutex // guards what follows
	streams []*sseStream
	got     []received
	do      map[string]func(s *sseStream, w http.ResponseWriter, id string)
}

// sseStream is a session of one.
type sseStream struct {
	messages chan string
	stop     context.CancelFunc
	gone     chan struct{} // closed when nobody reads it any more
}

// say sends a message to the client.
func (s *sseStream) say(text string) { s.messages <- text }

func newSSEServer(t *testing.T) *sseServer {
	t.Helper()
	s := &sseServer{endpoint: "/messages?session=%s", refuses: http.StatusMethodNotAllowed, do: map[string]func(*sseStream, http.ResponseWriter, string){}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *sseServer) remote() gateway.Remote {
	return gateway.Remote{URL: s.URL + "/sse", Header: http.Header{"Authorization": {"Bearer " + canary}}}
}

// on has the server do something with a message.
func (s *sseServer) on(method string, do func(s *sseStream, w http.ResponseWriter, id string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.do[method] = do
}

// stream is the nth session.
func (s *sseServer) stream(n int) *sseStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[n]
}

// received is what the server was sent with a method.
func (s *sseServer) received(method string) (all []received) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.got {
		if h.method == method {
			all = append(all, h)
		}
	}
	return all
}

func (s *sseServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/sse" && r.Method == http.MethodGet:
		s.serveStream(w, r)
	case r.URL.Path == "/messages" && r.Method == http.MethodPost:
		s.serveMessage(w, r)
	default:
		w.WriteHeader(s.refuses)
	}
}

func (s *sseServer) serveStream(w http.ResponseWriter, r *http.Request) {
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	stream := &sseStream{messages: make(chan string, 64), stop: stop, gone: make(chan struct{})}
	defer close(stream.gone)
	s.mu.Lock()
	s.streams = append(s.streams, stream)
	n := len(s.streams) - 1
	s.got = append(s.got, received{"GET", r.Header.Clone(), ""})
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	fmt.Fprintf(w, ": hello\r\nevent: endpoint\r\ndata: %s\r\n\r\n", strings.ReplaceAll(s.endpoint, "%s", strconv.Itoa(n)))
	for {
		_ = http.NewResponseController(w).Flush()
		select {
		case <-ctx.Done():
			return
		case text := <-stream.messages:
			fmt.Fprintf(w, "event: message\ndata: %s\n\n: beat\n\n", text)
		}
	}
}

func (s *sseServer) serveMessage(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	method, id := between(string(body), `"method":"`, `"`), idOf(string(body))
	s.mu.Lock()
	s.got = append(s.got, received{method, r.Header.Clone(), string(body)})
	n, err := strconv.Atoi(r.URL.Query().Get("session"))
	if err != nil || n >= len(s.streams) {
		s.mu.Unlock()
		w.WriteHeader(http.StatusNotFound)
		return
	}
	stream, do := s.streams[n], s.do[method]
	s.mu.Unlock()
	switch {
	case do != nil:
		do(stream, w, id)
		return
	case method == "initialize":
		stream.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"2024-11-05","capabilities":{}}}`)
	case method == "tools/list":
		stream.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"tools":[` + echoTool + `]}}`)
	case method == "tools/call":
		stream.say(strings.Replace(echoResult, "ID", id, 1))
	case method != "" && strings.Contains(string(body), `"id":`):
		stream.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	}
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, "Accepted")
}

// A call waits for people, and reaches a server of the older transport as the very bytes
// that were judged, with what it is authorised by. What the server says by itself reaches
// the client before an answer that came behind it.
func TestSSE_forwards(t *testing.T) {
	up := newSSEServer(t)
	up.on("tools/call", func(s *sseStream, w http.ResponseWriter, id string) {
		for n := range 20 {
			s.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":%d}}`, n))
		}
		s.say(`{"jsonrpc":"2.0","id":5,"method":"roots/list"}`)
		s.say(strings.Replace(echoResult, "ID", id, 1)) // before it says that it took the call
		w.WriteHeader(http.StatusAccepted)
	})
	d := openBridge(t, nil, up.remote())
	d.initialize()
	d.listTools()
	for _, id := range []string{"7", "8", "9"} {
		call := echo(id, "hi")
		d.client.send(call)
		r := d.requests(1)[0]
		before := len(up.received("tools/call"))
		d.answer(r, sayso.Allow)
		for n := range 20 {
			d.client.expect(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":%d}}`, n))
		}
		d.client.expect(`{"jsonrpc":"2.0","id":5,"method":"roots/list"}`)
		d.client.expect(strings.Replace(echoResult, "ID", id, 1))
		heard := up.received("tools/call")
		if len(heard) != before+1 || heard[before].body != call || heard[before].header.Get("Authorization") != "Bearer "+canary {
			t.Fatalf("the server got %+v", heard)
		}
		if heard[before].header.Get("Mcp-Session-Id") != "" {
			t.Error("the server is told of a session that it knows nothing of")
		}
	}
	d.client.send(echo("10", "hi"))
	d.answer(d.requests(1)[0], sayso.Deny)
	if got := d.refusalOf(d.responseTo("10"), "10"); !strings.Contains(got, "Denied") {
		t.Error(got)
	}
	const roots = `{"jsonrpc":"2.0","id":5,"result":{"roots":[]}}`
	took := make(chan struct{})
	up.on("", func(*sseStream, http.ResponseWriter, string) { close(took) })
	d.client.send(roots)
	<-took
	d.closeClient()
	if got := up.received(""); len(got) != 1 || got[0].body != roots {
		t.Errorf("the server got %+v", got)
	}
	if n := len(up.received("tools/call")); n != 3 {
		t.Errorf("%d calls", n)
	}
	if all := d.logText(); strings.Contains(all, canary) || strings.Contains(all, "session=") {
		t.Errorf("it is on the record:\n%s", all)
	}
}

// Clients that speak streamable HTTP reach it as well, each with a session of its own.
func TestSSE_handler(t *testing.T) {
	up := newSSEServer(t)
	up.on("tools/call", func(s *sseStream, w http.ResponseWriter, id string) {
		s.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`)
		s.say(strings.Replace(echoResult, "ID", id, 1))
		w.WriteHeader(http.StatusAccepted)
	})
	s := openHandler(t, rules{"echo": sayso.Allow}, gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: up.URL + "/sse"})
	for range 2 {
		id := s.initialize()
		s.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id)
		if r := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Session-Id", id); !strings.Contains(r.last(), `"echo"`) {
			t.Fatalf("%s %s", r.Status, r.last())
		}
		call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"progressToken":"p"},"name":"echo","arguments":{"text":"hi"}}}`
		r := s.post(call, "Mcp-Session-Id", id)
		if r.last() != strings.Replace(echoResult, "ID", "2", 1) {
			t.Errorf("%s %s", r.Status, r.last())
		}
		told := 0
		for _, e := range r.events {
			told += strings.Count(string(e.Data), "notifications/progress")
		}
		if told != 1 {
			t.Errorf("progress was told %d times: %s", told, r.events)
		}
	}
	if n := len(up.received("GET")); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

// An address for messages that is not the server's own is sent nothing.
func TestSSE_endpointElsewhere(t *testing.T) {
	other := newSSEServer(t)
	host := strings.TrimPrefix(other.URL, "http://")
	for _, endpoint := range []string{other.URL + "/messages?session=0", "//" + host + "/messages?session=0", "https://127.0.0.1/messages", "http://ada@%s/messages", "ftp://x/", ":"} {
		up := newSSEServer(t)
		up.endpoint = endpoint
		if strings.Contains(endpoint, "ada@") {
			up.endpoint = strings.Replace(up.URL, "http://", "http://ada@", 1) + "/messages?session=0"
		}
		d := openBridge(t, nil, up.remote())
		if got := d.roundTrip(hello); !strings.Contains(got, "messages") || strings.Contains(got, `"result"`) {
			t.Errorf("%s: %s", endpoint, got)
		}
		if n := len(up.received("initialize")); n > 0 {
			t.Errorf("%s: it was sent %d messages", endpoint, n)
		}
	}
	if len(other.got) > 0 {
		t.Errorf("the other was sent %+v", other.got)
	}
}

// When the stream ends what is under way may have run, which is said; the next message
// begins another session, and no call is made twice.
func TestSSE_streamEnds(t *testing.T) {
	up := newSSEServer(t)
	up.on("tools/call", func(s *sseStream, w http.ResponseWriter, id string) {
		w.WriteHeader(http.StatusAccepted)
		s.stop()
	})
	d := openBridge(t, rules{"echo": sayso.Allow}, up.remote())
	d.initialize()
	d.listTools()
	d.client.send(echo("1", "hi"))
	if got := d.responseTo("1"); !strings.Contains(got, "Whether what was asked for ran is not known") {
		t.Error(got)
	}
	up.on("tools/call", nil)
	d.client.send(echo("2", "hi"))
	if got := d.responseTo("2"); !strings.Contains(got, "make the call again") {
		t.Error(got)
	}
	d.client.send(echo("3", "hi"))
	if got := d.responseTo("3"); got != strings.Replace(echoResult, "ID", "3", 1) {
		t.Error(got)
	}
	if got := up.received("tools/call"); len(got) != 2 || !strings.Contains(got[0].body, `"id":1`) || !strings.Contains(got[1].body, `"id":3`) {
		t.Errorf("the server got %+v", got)
	}
	if got := up.received("notifications/initialized"); len(got) != 2 {
		t.Errorf("%d sessions began", len(got))
	}
	d.client.send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	d.responseTo("4")
	up.stream(1).stop()
	if got := d.roundTrip(`{"jsonrpc":"2.0","id":5,"method":"resources/list"}`); !strings.Contains(got, `"result"`) && !strings.Contains(got, "not known") {
		t.Error(got)
	}
}

// A server that does not know the session any more has another one begun, and nothing is
// left of the first.
func TestSSE_sessionForgotten(t *testing.T) {
	up := newSSEServer(t)
	d := openBridge(t, nil, up.remote())
	d.initialize()
	d.listTools()
	up.on("resources/list", func(s *sseStream, w http.ResponseWriter, id string) {
		if s == up.stream(0) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		s.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resources":[]}}`)
		w.WriteHeader(http.StatusAccepted)
	})
	if got := d.roundTrip(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`); !strings.Contains(got, `"resources":[]`) {
		t.Error(got)
	}
	select {
	case <-up.stream(0).gone:
	case <-time.After(time.Minute):
		t.Error("the first stream is still read")
	}
}

// What is no server of the older transport is told of as before, whatever it answers.
func TestSSE_refusalStands(t *testing.T) {
	for name, stream := range map[string]http.HandlerFunc{
		"no stream":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) },
		"a page":           func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>"+canary) },
		"another event":    eventStream("data: {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n\n"),
		"an empty stream":  eventStream(""),
		"breaks off":       func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"an endless line":  eventStream("event: endpoint\ndata: " + strings.Repeat("x", 2<<20)),
		"it redirects":     func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"a foreign client": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
	} {
		up := newTestServer(t)
		up.handle("initialize", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
		up.handle("GET", stream)
		d := openBridge(t, nil, up.remote())
		if got := d.roundTrip(hello); !strings.Contains(got, "status 404 of HTTP") {
			t.Errorf("%s: %s", name, got)
		}
	}
	up := newTestServer(t)
	up.handle("initialize", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) })
	up.handle("GET", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	d := openBridge(t, nil, up.remote())
	if got := d.roundTrip(hello); !strings.Contains(got, "it wants to know who asks") {
		t.Error(got)
	}
}

// A server may answer the request for a message when all is done, or never; a message that
// is longer than is held ends the session, and is not the answer.
func TestSSE_oddServers(t *testing.T) {
	up := newSSEServer(t)
	never := make(chan struct{})
	defer close(never)
	up.on("tools/call", func(s *sseStream, _ http.ResponseWriter, id string) {
		s.say(strings.Replace(echoResult, "ID", id, 1))
		<-never
	})
	up.on("resources/read", func(s *sseStream, w http.ResponseWriter, id string) {
		s.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"a":"` + strings.Repeat("x", 2<<20) + `"}}`)
		w.WriteHeader(http.StatusAccepted)
	})
	up.on("prompts/list", func(s *sseStream, w http.ResponseWriter, id string) {
		for range 2 {
			s.say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
		}
		w.WriteHeader(http.StatusAccepted)
	})
	up.on("prompts/get", func(_ *sseStream, w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusInternalServerError) })
	d := openBridge(t, rules{"echo": sayso.Allow}, up.remote())
	d.initialize()
	d.listTools()
	if got := d.roundTrip(echo("1", "hi")); got != strings.Replace(echoResult, "ID", "1", 1) {
		t.Error(got)
	}
	d.roundTrip(`{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`)
	if got := d.roundTrip(`{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"x"}}`); !strings.Contains(got, "status 500") {
		t.Error(got)
	}
	if got := d.roundTrip(`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"a"}}`); !strings.Contains(got, "is not known") {
		t.Errorf("%.300s", got)
	}
	if got := d.roundTrip(`{"jsonrpc":"2.0","id":5,"method":"ping"}`); !strings.Contains(got, `"result":{}`) {
		t.Error(got)
	}
}
