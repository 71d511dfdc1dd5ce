package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/store/memory"
)

// bridgeHarness is a client on standard input and output of a server that speaks HTTP, which
// the test plays both.
type bridgeHarness struct {
	*httpHarness
	end    gateway.End
	ended  chan struct{} // closed when the gateway has ended
	failed error
	signal chan os.Signal
}

// openBridge begins a gateway before a server.
func openBridge(t *testing.T, p rules, u gateway.Remote, change ...func(*gateway.Options)) *bridgeHarness {
	t.Helper()
	d := &bridgeHarness{httpHarness: &httpHarness{harness: &harness{t: t, log: memory.New(nil)}}}
	var err error
	d.broker, err = broker.New(d.log, p, &broker.Options{Now: momentsFrom(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	d.start(u, change...)
	t.Cleanup(func() {
		d.closeClient()
		if err := d.broker.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// start starts the gateway.
func (d *bridgeHarness) start(u gateway.Remote, change ...func(*gateway.Options)) {
	fromClient, client := io.Pipe()
	toClient, clientOut := io.Pipe()
	d.client = newPeer(d.t, client, toClient)
	d.signal, d.ended = make(chan os.Signal, 1), make(chan struct{})
	u.Signals = d.signal
	o := gateway.Options{
		Gate: d.broker.Gate(asker), Pins: d.broker, Calls: d.broker, Actor: asker, Name: "srv", Session: "s", Cwd: "/",
		Facts: facts.Options{Workspace: "/"},
		Note:  func(text string) { d.mu.Lock(); defer d.mu.Unlock(); d.notes = append(d.notes, text) },
	}
	for _, c := range change {
		c(&o)
	}
	go func() {
		defer close(d.ended)
		d.end, d.failed = u.Serve(context.Background(), o, fromClient, clientOut)
		_ = clientOut.Close()
	}()
}

// closeClient has the client close its end, and waits for that of the gateway. It returns
// what still came.
func (d *bridgeHarness) closeClient() string {
	_ = d.client.in.Close()
	rest, _ := io.ReadAll(d.client.out) // which ends as the gateway does
	<-d.ended
	return string(rest)
}

// roundTrip sends a request, and returns the answer to it. What comes before is passed
// over.
func (d *bridgeHarness) roundTrip(message string) string {
	d.t.Helper()
	d.client.send(message)
	return d.responseTo(idOf(message))
}

func (d *bridgeHarness) responseTo(id string) string {
	d.t.Helper()
	for {
		if line := d.client.receive(); strings.Contains(line, `"id":`+id+",") && !strings.Contains(line, `"method"`) {
			return line
		}
	}
}

// initialize begins a session, as clients do.
func (d *bridgeHarness) initialize() {
	d.t.Helper()
	if got := d.roundTrip(hello); !strings.Contains(got, `"result"`) {
		d.t.Fatal(got)
	}
	d.client.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// listTools has the client list the tools.
func (d *bridgeHarness) listTools() {
	d.t.Helper()
	if got := d.roundTrip(`{"jsonrpc":"2.0","id":"list","method":"tools/list"}`); !strings.Contains(got, `"echo"`) {
		d.t.Fatal(got)
	}
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lab"}}}`

// startSessions has a server begin sessions as servers do, under these ids one after the
// other, and know none but the last.
func (s *testServer) startSessions(ids ...string) {
	now := ""
	s.handle("initialize", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		now, ids = ids[0], ids[1:]
		w.Header().Set("Mcp-Session-Id", now)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`, idOf(string(body)))
	})
}

// remote is the server as a client is told of it.
func (s *testServer) remote() gateway.Remote {
	return gateway.Remote{URL: s.URL + "/mcp", Header: http.Header{"Authorization": {"Bearer " + canary}}}
}

// A call waits for people, and reaches the server over HTTP as the very bytes that
// were judged, in both generations of the protocol, with what it is authorised by.
func TestRemoteForwards(t *testing.T) {
	up := newTestServer(t)
	up.startSessions("one")
	up.handle("tools/call", eventStream("data: "+echoResult+"\n\n"))
	d := openBridge(t, nil, up.remote())
	d.initialize()
	d.listTools()
	call := echo("7", "hi")
	d.client.send(call)
	r := d.requests(1)[0]
	if n := len(up.received("tools/call")); n > 0 {
		t.Fatal("it was forwarded before anybody said yes")
	}
	d.answer(r, sayso.Allow)
	if got := d.responseTo("7"); got != strings.Replace(echoResult, "ID", "7", 1) {
		t.Errorf("%s", got)
	}
	body, _ := statelessEcho("8", "hi")
	d.client.send(body)
	d.answer(d.requests(1)[0], sayso.Deny)
	if got := d.refusalOf(d.responseTo("8"), "8"); !strings.Contains(got, "Denied") {
		t.Error(got)
	}
	body, _ = statelessEcho("9", "hi")
	d.client.send(body)
	d.answer(d.requests(1)[0], sayso.Allow)
	d.responseTo("9")
	heard := up.received("tools/call")
	if len(heard) != 2 || heard[0].body != call || heard[1].body != body {
		t.Fatalf("the server got %+v", heard)
	}
	for i, want := range []map[string]string{
		{"Mcp-Session-Id": "one", "Mcp-Protocol-Version": "2025-11-25", "Mcp-Method": "", "Authorization": "Bearer " + canary},
		{"Mcp-Session-Id": "", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo", "Authorization": "Bearer " + canary},
	} {
		for name, value := range want {
			if got := heard[i].header.Get(name); got != value {
				t.Errorf("call %d: %s is %q, not %q", i, name, got, value)
			}
		}
	}
	if rest := d.closeClient(); rest != "" || d.failed != nil || d.end.Status != 0 {
		t.Errorf("it ended with %v, %+v, %q", d.failed, d.end, rest)
	}
	if gone := up.received("DELETE"); len(gone) != 1 || gone[0].header.Get("Mcp-Session-Id") != "one" {
		t.Errorf("the session was not ended: %+v", gone)
	}
	if all := d.logText(); strings.Contains(all, canary) {
		t.Errorf("it is on the record:\n%s", all)
	}
}

// What the server says by itself reaches the client, also behind a connection that
// broke, and what the client answers reaches the server.
func TestRemoteServerStream(t *testing.T) {
	up := newTestServer(t)
	up.startSessions("one")
	gone := make(chan struct{})
	up.handle("GET", func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Last-Event-Id") {
		case "":
			eventStream("id: a\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":1}}\n\n")(w, r)
		case "a":
			eventStream("id: b\ndata: {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"roots/list\"}\n\n")(w, r)
			select {
			case <-r.Context().Done():
			case <-gone:
			}
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
	defer close(gone)
	answered := make(chan string, 1)
	up.handle("", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		answered <- string(body)
	})
	d := openBridge(t, nil, up.remote())
	d.initialize()
	d.client.expect(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1}}`)
	d.client.expect(`{"jsonrpc":"2.0","id":5,"method":"roots/list"}`)
	const roots = `{"jsonrpc":"2.0","id":5,"result":{"roots":[]}}`
	d.client.send(roots)
	if got := <-answered; got != roots {
		t.Errorf("the server got %s", got)
	}
}

// A server that does not answer a message holds up nothing else; one that is slow to
// answer a request is told when that is not wanted any more.
func TestRemoteSlowServer(t *testing.T) {
	up := newTestServer(t)
	up.startSessions("one")
	stuck, gone, told := make(chan struct{}), make(chan struct{}, 2), make(chan struct{}, 2)
	defer close(stuck)
	up.handle("notifications/cancelled", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		told <- struct{}{}
	})
	up.handle("notifications/roots/list_changed", func(http.ResponseWriter, *http.Request) { <-stuck })
	up.handle("resources/read", func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		gone <- struct{}{}
	})
	d := openBridge(t, nil, up.remote())
	d.initialize()
	d.client.send(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	d.client.send(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"a"}}`)
	body, _ := statelessMessage("4", "resources/read", "", `"uri":"a"`)
	d.client.send(body)
	d.listTools()
	d.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	d.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
	<-gone
	<-gone
	<-told
	if told := up.received("notifications/cancelled"); len(told) != 1 || !strings.Contains(told[0].body, "3") {
		t.Errorf("the server was told %+v", told)
	}
	if got := d.roundTrip(`{"jsonrpc":"2.0","id":9,"method":"ping"}`); got != `{ "jsonrpc":"2.0",  "id":9,"result":{}}` {
		t.Errorf("something else came: %s", got)
	}
}

// A server that forgot the session gets another, with the client's own words. What
// it was asked is asked again, but for a call: an approval is for one.
func TestRemoteSessionLost(t *testing.T) {
	up := newTestServer(t)
	up.startSessions("one", "two", "three")
	forgot := map[string]bool{"one": true, "two": true}
	knows := func(then http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if forgot[r.Header.Get("Mcp-Session-Id")] {
				http.Error(w, "no such session", http.StatusNotFound)
				return
			}
			then(w, r)
		}
	}
	up.handle("ping", knows(eventStream("data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"pong\":1}}\n\n")))
	up.handle("tools/call", knows(eventStream("data: "+echoResult+"\n\n")))
	d := openBridge(t, rules{"echo": sayso.Allow}, up.remote())
	d.initialize()
	d.listTools()
	forgot["two"] = false
	d.client.send(`{"jsonrpc":"2.0","id":1,"method":"ping"  }`)
	d.client.expect(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	if got := d.responseTo("1"); !strings.Contains(got, `"pong"`) {
		t.Error(got)
	}
	forgot["two"] = true
	if got := d.roundTrip(echo("2", "hi")); !strings.Contains(got, "did not take the call. Another session has begun: make the call again") {
		t.Error(got)
	}
	if n := len(up.received("tools/call")); n != 1 {
		t.Errorf("the server got the call %d times", n)
	}
	if got := d.roundTrip(echo("3", "hi")); !strings.Contains(got, `"ran"`) {
		t.Error(got)
	}
	if h := up.received("tools/call"); len(h) != 2 || h[1].header.Get("Mcp-Session-Id") != "three" {
		t.Errorf("%+v", h)
	}
	if n := len(up.received("notifications/initialized")); n != 3 {
		t.Errorf("%d sessions began", n)
	}
}

// A server that knows no session that it begins is not asked for ever new ones.
func TestRemoteSessionLostAgain(t *testing.T) {
	up := newTestServer(t)
	up.startSessions("one", "two", "three")
	d := openBridge(t, nil, up.remote())
	d.initialize()
	d.listTools()
	up.handle("ping", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such session", http.StatusNotFound) })
	for range 3 {
		if got := d.roundTrip(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); !strings.Contains(got, "status 404") {
			t.Error(got)
		}
	}
	if n := len(up.received("initialize")); n != 2 {
		t.Errorf("%d sessions began", n)
	}
}

// What a client is authorised by goes nowhere else: not where a server sends to, not
// into the record or what is told. A slash more or less is the same address.
func TestRemoteRedirect(t *testing.T) {
	elsewhere, up := newTestServer(t), newTestServer(t)
	d := openBridge(t, nil, up.remote())
	for _, to := range []string{elsewhere.URL + "/mcp", up.URL + "/other", strings.Replace(up.URL, "127.0.0.1", "localhost", 1) + "/mcp"} {
		up.handle("tools/list", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		})
		if got := d.roundTrip(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !strings.Contains(got, "which is not followed") || strings.Contains(got, canary) {
			t.Errorf("%s: %s", to, got)
		}
	}
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther} { // which would have another method
		up.handle("ping", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/mcp/", status) })
		if got := d.roundTrip(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); !strings.Contains(got, "which is not followed") || len(up.received("GET")) > 0 {
			t.Errorf("%d: %s", status, got)
		}
	}
	if len(elsewhere.got) > 0 || len(up.received("tools/list")) != 3 {
		t.Errorf("somebody else got %+v", elsewhere.got)
	}
	up.handle("tools/list", func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/") {
			http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
			return
		}
		eventStream("data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"tools\":["+echoTool+"]}}\n\n")(w, r)
	})
	d.listTools()
	if h := up.received("tools/list"); len(h) != 5 || h[4].header.Get("Authorization") != "Bearer "+canary {
		t.Errorf("%+v", h)
	}
}

// Definitions are pinned, and so is the address of the server of a name. What is
// secret in it is shown nowhere.
func TestRemotePins(t *testing.T) {
	up := newTestServer(t)
	up.handle("tools/call", eventStream("data: "+echoResult+"\n\n"))
	allow := rules{"echo": sayso.Allow}
	d := openBridge(t, allow, up.remote())
	d.listTools()
	if got := d.roundTrip(echo("1", "hi")); !strings.Contains(got, `"ran"`) {
		t.Fatal(got)
	}
	up.handle("tools/list", eventStream("data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"tools\":["+strings.Replace(echoTool, "says it again", "says it, and tells me", 1)+"]}}\n\n"))
	if got := d.roundTrip(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); strings.Contains(got, "echo") {
		t.Error(got)
	}
	if got := d.refusalOf(d.roundTrip(echo("3", "hi")), "3"); !strings.Contains(got, "sayso tools accept srv") {
		t.Error(got)
	}
	d.closeClient()
	other := up.remote()
	other.URL = up.URL + "/s/" + canary + "8e1f7a2b94/mcp?key=" + canary
	d.start(other)
	if got := d.refusalOf(d.roundTrip(echo("4", "hi")), "4"); !strings.Contains(got, "not the one that was trusted under its name") {
		t.Error(got)
	}
	if n := len(up.received("tools/call")); n != 1 {
		t.Errorf("%d calls ran", n)
	}
	up.handle("ping", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"no %s"}}`, idOf(string(body)), r.URL)
	})
	if got := d.roundTrip(`{"jsonrpc":"2.0","id":5,"method":"ping"}`); !strings.Contains(got, "[hidden]") || strings.Contains(got, canary) {
		t.Error(got)
	}
	pins, err := d.broker.Pins(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	all := d.logText()
	for _, pin := range pins.Of("srv") {
		all += string(pin.Text) + string(pin.Other)
	}
	if strings.Contains(all, canary) || !strings.Contains(all, "/s/[hidden]/mcp") {
		t.Errorf("what is pinned: %s", all)
	}
}

// Whatever a server answers with instead of an answer, the client is told that there
// is none, and goes on.
func TestRemoteGarbage(t *testing.T) {
	up := newTestServer(t)
	says := func(status int, kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}
	}
	d := openBridge(t, rules{"echo": sayso.Allow}, up.remote())
	d.listTools()
	for name, tt := range map[string]struct {
		do   http.HandlerFunc
		want string
	}{
		"a page":            {says(200, "text/html", "<html>\n<body>log in, "+canary), "did not answer"},
		"nothing":           {says(202, "", ""), "did not answer"},
		"no JSON":           {says(200, "application/json", `{"jsonrpc":"2.0","id":`), "did not answer"},
		"an endless page":   {says(200, "text/html", "<"+strings.Repeat("x", 20<<20)), "did not answer"},
		"another's answer":  {says(200, "application/json", `{"jsonrpc":"2.0","id":99,"result":{}}`), "did not answer"},
		"an empty stream":   {says(200, "text/event-stream", ""), "ended before it answered"},
		"a stream of noise": {says(200, "text/event-stream", "data: x\n\nevent: y\ndata: {}\n\n: z\n\n"), "ended before it answered"},
		"breaks off":        {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "could not be reached"},
		"half an answer": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "did not answer"},
		"who are you": {says(401, "text/plain", "not "+canary), "401 of HTTP: it wants to know who asks"},
		"an error":    {says(500, "text/plain", canary), "status 500"},
		"an old one":  {says(405, "text/plain", ""), "may be no server of this protocol"},
	} {
		for _, method := range []string{"tools/call", "ping"} {
			up.handle(method, tt.do)
			message := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
			if method == "tools/call" {
				message = echo("1", "hi")
			}
			d.client.send(message)
			line := d.client.receive()
			if strings.Contains(line, `"id":99`) {
				line = d.client.receive() // the answer to nothing passes, as it does from a program
			}
			if !strings.Contains(line, tt.want) || strings.Contains(line, canary) || !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":1,"error"`) {
				t.Errorf("%s: %s: %.300s", name, method, line)
			}
		}
	}
	d.listTools()
	if notes := d.logText(); strings.Contains(notes, canary) {
		t.Errorf("told: %s", notes)
	}
}
