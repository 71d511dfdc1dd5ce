package gateway_test

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
)

// rejectSession has a server say in JSON that it knows no session but the last.
func (s *testServer) rejectSession(method, last string, then http.HandlerFunc) {
	s.handle(method, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") == last {
			then(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+idOf(string(body))+`,"error":{"code":-32001,"message":"Session not found"}}`)
	})
}

// A call that a server did not take, as it had forgotten the session, is answered
// once, whatever the server says of it.
func TestRemoteSessionLostCall(t *testing.T) {
	up := newTestServer(t)
	up.startSessions("one", "two")
	up.rejectSession("tools/call", "two", eventStream("data: "+echoResult+"\n\n"))
	d := openBridge(t, rules{"echo": sayso.Allow}, up.remote())
	d.initialize()
	d.listTools()
	d.client.send(echo("2", "hi"))
	d.client.expect(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	if got := d.client.receive(); !strings.Contains(got, `"id":2,`) || !strings.Contains(got, "make the call again") {
		t.Error(got)
	}
	d.client.send(echo("2", "hi"))
	if got := d.client.receive(); got != strings.Replace(echoResult, "ID", "2", 1) {
		t.Errorf("answered twice: %s", got)
	}
	if rest := d.closeClient(); rest != "" {
		t.Errorf("more came: %s", rest)
	}
}

// A session that begins anew with another version, or with an error, is not gone on
// with: what comes next is not sent in it.
func TestRemoteSessionLostVersion(t *testing.T) {
	for name, says := range map[string]string{
		"another version": `"result":{"protocolVersion":"2024-11-05","capabilities":{}}`,
		"an error":        `"error":{"code":-1,"message":"no"}`,
	} {
		t.Run(name, func(t *testing.T) {
			up := newTestServer(t)
			up.startSessions("one")
			d := openBridge(t, nil, up.remote())
			d.initialize()
			d.listTools()
			up.handle("initialize", func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				w.Header().Set("Mcp-Session-Id", "other")
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+idOf(string(body))+`,`+says+`}`)
			})
			up.rejectSession("ping", "", eventStream())
			if got := d.roundTrip(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); !strings.Contains(got, "Session not found") {
				t.Error(got)
			}
			d.listTools()
			if h := up.received("tools/list"); len(h) != 2 || h[1].header.Get("Mcp-Session-Id") != "" {
				t.Errorf("%+v", h)
			}
			if h := up.received("DELETE"); len(h) != 1 || h[0].header.Get("Mcp-Session-Id") != "other" {
				t.Errorf("the session is left at the server: %+v", h)
			}
		})
	}
}

// A server that is not there just when another session is to begin is asked for one again
// by what comes next.
func TestRemoteSessionLostWhileDown(t *testing.T) {
	for name, down := range map[string]http.HandlerFunc{
		"a proxy says so": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"it is too much":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
		"it breaks off":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"amid its answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Mcp-Session-Id", "half")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			up := newTestServer(t)
			up.startSessions("one")
			d := openBridge(t, nil, up.remote())
			d.initialize()
			d.listTools()
			up.handle("initialize", down)
			up.rejectSession("ping", "two", eventStream("data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"pong\":1}}\n\n"))
			for range 2 {
				if got := d.roundTrip(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); !strings.Contains(got, "Session not found") {
					t.Error(got)
				}
			}
			up.startSessions("two")
			if got := d.roundTrip(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); !strings.Contains(got, `"pong"`) {
				t.Error(got)
			}
			for _, h := range up.received("DELETE") {
				if got := h.header.Get("Mcp-Session-Id"); got != "half" {
					t.Errorf("the session %q was ended", got)
				}
			}
			if n := len(up.received("DELETE")); name == "amid its answer" && n != 2 {
				t.Errorf("%d of 2 sessions that nobody goes on with were ended", n)
			}
		})
	}
}

// What a client asks for while another session begins is asked for in that one.
func TestRemoteSessionLostMeanwhile(t *testing.T) {
	up := newTestServer(t)
	up.startSessions("one")
	d := openBridge(t, nil, up.remote())
	d.initialize()
	d.listTools()
	begun, begin := make(chan struct{}), make(chan struct{})
	up.handle("initialize", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		close(begun)
		<-begin
		w.Header().Set("Mcp-Session-Id", "two")
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+idOf(string(body))+`,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`)
	})
	for _, method := range []string{"ping", "resources/list"} {
		up.rejectSession(method, "two", eventStream("data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"pong\":1}}\n\n"))
	}
	d.client.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	<-begun
	d.client.send(`{"jsonrpc":"2.0","id":2,"method":"resources/list"}`)
	for len(up.received("resources/list")) == 0 {
		runtime.Gosched()
	}
	close(begin)
	answered := map[string]bool{}
	for len(answered) < 2 {
		switch got := d.client.receive(); {
		case strings.Contains(got, `"pong"`):
			answered[idOf(got)] = true
		case !strings.Contains(got, `"method"`):
			t.Fatal(got)
		}
	}
	if h := up.received("resources/list"); h[0].header.Get("Mcp-Session-Id") != "one" || h[len(h)-1].header.Get("Mcp-Session-Id") != "two" {
		t.Errorf("%+v", h)
	}
}
