package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
)

// A long answer passes as it comes. Where it breaks off the gateway ends: what comes
// behind half a message would be read as a part of it.
func TestRemoteLongAnswer(t *testing.T) {
	defer gateway.SetMaxMessage(64 << 10)()
	long := strings.Repeat("x", 8<<20)
	up := newTestServer(t)
	up.handle("tools/call", eventStream("data: "+strings.Replace(echoResult, `"ran"`, `"`+long+`"`, 1)+"\n\n"))
	d := openBridge(t, rules{"echo": sayso.Allow}, up.remote())
	d.listTools()
	if got := d.roundTrip(echo("1", "hi")); len(got) < len(long) || !strings.HasSuffix(got, `"}]}}`) {
		t.Errorf("%d bytes came", len(got))
	}
	d.waitForEvent(sayso.EventFinished)
	up.handle("resources/read", eventStream("data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"a\":\""+long, "\n\n: "))
	d.client.send(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{}}`)
	d.client.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	all, _ := io.ReadAll(d.client.out)
	<-d.ended
	if d.failed == nil || !strings.Contains(d.failed.Error(), "broke off in the middle") {
		t.Errorf("it ended with %v", d.failed)
	}
	if at := strings.Index(string(all), `"id":2`); at < 0 || strings.Contains(string(all[at:]), `"jsonrpc"`) && !strings.Contains(string(all[:at]), `"id":3`) {
		t.Error("something came behind half a message")
	}
}

// A server that cannot be reached is told of, and reached once it is there.
func TestRemoteUnreachable(t *testing.T) {
	up := newTestServer(t)
	u := up.remote()
	up.CloseClientConnections()
	up.Listener.Close()
	d := openBridge(t, nil, u)
	if got := d.roundTrip(hello); !strings.Contains(got, "could not be reached") || strings.Contains(got, "/mcp") {
		t.Error(got)
	}
	d.client.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if got := d.roundTrip(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); !strings.Contains(got, "could not be reached") {
		t.Error(got)
	}
	d.closeClient()
	if d.failed != nil {
		t.Error(d.failed)
	}
	if got := strings.Join(d.notes, "\n"); strings.Count(got, "srv cannot be reached (") != 1 || !strings.Contains(got, "does it run") {
		t.Errorf("a person is told %q", got)
	}
	for _, u := range []gateway.Remote{{URL: "http://example.org/mcp"}, {URL: "ftp://127.0.0.1/"}, {URL: ""}} {
		if _, err := u.Serve(context.Background(), gateway.Options{Gate: d.broker.Gate(asker), Pins: d.broker, Actor: asker, Name: "srv", Session: "s"}, strings.NewReader(""), io.Discard); !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%s: %v", u.URL, err)
		}
	}
}

// A signal ends the gateway, and with it what waits for people; the client's end is
// waited for until the server has answered.
func TestRemoteEnds(t *testing.T) {
	up := newTestServer(t)
	up.startSessions("one", "two")
	d := openBridge(t, nil, up.remote())
	d.initialize()
	d.listTools()
	d.client.send(echo("1", "hi"))
	d.requests(1)
	d.signal <- syscall.SIGUSR1 // ends nothing
	d.signal <- syscall.SIGTERM
	rest := d.closeClient()
	if d.end.Signal != syscall.SIGTERM || d.failed != nil || strings.Contains(rest, `"id":1`) {
		t.Errorf("it ended with %+v, %v, %q", d.end, d.failed, rest)
	}
	asked := make(chan struct{})
	up.handle("ping", func(w http.ResponseWriter, r *http.Request) {
		<-asked
		eventStream("data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{}}\n\n")(w, r)
	})
	d.start(up.remote())
	d.initialize()
	d.client.send(`{"jsonrpc":"2.0","id":5,"method":"ping"}`)
	if err := d.client.in.Close(); err != nil {
		t.Fatal(err)
	}
	close(asked)
	if rest := d.closeClient(); !strings.Contains(rest, `"id":5`) {
		t.Errorf("the answer is lost: %q", rest)
	}
	if n := len(up.received("DELETE")); n != 2 {
		t.Errorf("%d sessions were ended", n)
	}
	if calls := up.received("tools/call"); len(calls) > 0 {
		t.Errorf("%+v", calls)
	}
	if slices.ContainsFunc(d.requests(1), func(r sayso.Request) bool { return r.State != sayso.StateParked && r.State != sayso.StateOpen }) {
		t.Error("what was asked is gone")
	}
}

// An address that nothing answers at is not taken for the trusted one: the right one
// would not be the server that it was. Once one answered, it is.
func TestRemoteTrustedOnceAnswered(t *testing.T) {
	gone := newTestServer(t)
	gone.Close()
	up := newTestServer(t)
	up.startSessions("one", "two")
	up.handle("tools/call", eventStream("data: "+echoResult+"\n\n"))
	d := openBridge(t, rules{"echo": sayso.Allow}, gone.remote())
	pinned := func() bool {
		t.Helper()
		pins, err := d.broker.Pins(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, there := pins.Of("srv")[""]
		return there
	}
	if got := d.roundTrip(hello); !strings.Contains(got, `"error"`) {
		t.Fatal(got)
	}
	call, _ := statelessEcho("1", "hi")
	d.client.send(call)
	d.answer(d.requests(1)[0], sayso.Allow)
	if got := d.responseTo("1"); !strings.Contains(got, "could not be reached") {
		t.Error(got)
	}
	if pinned() {
		t.Error("an address that never answered is trusted")
	}
	d.closeClient()
	d.start(up.remote())
	d.initialize()
	if !pinned() {
		t.Error("what answered is not known")
	}
	d.listTools()
	if got := d.roundTrip(echo("7", "hi")); got != strings.Replace(echoResult, "ID", "7", 1) {
		t.Error(got)
	}
	d.closeClient()
	d.start(gone.remote()) // mistyped, under the same name
	if got := d.roundTrip(hello); !strings.Contains(got, `"error"`) {
		t.Fatal(got)
	}
	if pins, err := d.broker.Pins(t.Context()); err != nil || !pins.Of("srv")[""].Quarantined.IsZero() {
		t.Errorf("an address that never answered is one that changed: %v", err)
	}
	d.closeClient()
	other := up.remote()
	other.URL += "/other"
	d.start(other)
	d.initialize()
	d.client.send(echo("8", "hi"))
	if got := d.refusalOf(d.responseTo("8"), "8"); !strings.Contains(got, "is not the one that was trusted") {
		t.Error(got)
	}
}

// A server that has not answered yet is not to be the trusted one where another has become
// that meanwhile.
func TestRemoteTrustedElsewhere(t *testing.T) {
	up := newTestServer(t)
	up.handle("tools/call", eventStream("data: "+echoResult+"\n\n"))
	up.handle("ping", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	d := openBridge(t, rules{"echo": sayso.Allow}, up.remote())
	ping, _ := statelessMessage("0", "ping", "", "")
	if got := d.roundTrip(ping); !strings.Contains(got, `"error"`) { // which is no answer of the server
		t.Fatal(got)
	}
	if _, err := d.broker.Meet(t.Context(), asker, "srv", []sayso.Definition{{Text: sayso.Args(`{"url":"https://other.example"}`)}}); err != nil {
		t.Fatal(err)
	}
	call, _ := statelessEcho("1", "hi")
	d.client.send(call)
	if got := d.refusalOf(d.responseTo("1"), "1"); !strings.Contains(got, "is not the one that was trusted") {
		t.Error(got)
	}
	if calls := up.received("tools/call"); len(calls) != 0 {
		t.Errorf("the server got %+v", calls)
	}
}

// block has the server take no message of this method until its client gives up. Each
// that is given up comes by the channel.
func (s *testServer) block(method string) <-chan struct{} {
	given := make(chan struct{}, 128)
	s.handle(method, func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		given <- struct{}{}
	})
	return given
}

const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a","progress":1}}`

// A server that takes no notifications keeps the client from nothing: calls are judged
// and run, and what is cancelled behind them does not run, whatever people say later.
func TestRemoteBlockedNotifications(t *testing.T) {
	gateway.SetRetryDelay(t, 10*time.Millisecond)
	up := newTestServer(t)
	up.startSessions("one")
	arrived := make(chan struct{}, 128)
	up.handle("notifications/progress", func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	})
	gone := make(chan struct{})
	up.handle("resources/read", func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		close(gone)
	})
	up.handle("tools/call", eventStream("data: "+echoResult+"\n\n"))
	d := openBridge(t, nil, up.remote())
	defer func() { d.signal <- syscall.SIGTERM }() // where it is stopped for good, it ends
	d.initialize()
	d.listTools()
	d.client.send(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"a"}}`)
	d.client.send(echo("4", "unwanted"))
	d.requests(1)
	for range 70 {
		d.client.send(progress)
	}
	for _, id := range []string{"3", "4"} {
		d.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	}
	<-gone
	d.waitForEvent(sayso.EventWithdrawn)
	d.client.send(echo("5", "hi"))
	d.answer(d.requests(1)[0], sayso.Allow)
	if got := d.client.receive(); got != strings.Replace(echoResult, "ID", "5", 1) {
		t.Errorf("%s", got)
	}
	for range 64 {
		<-arrived // what is on its way when the client goes may not get there
	}
	d.closeClient()
	if n := strings.Count(strings.Join(d.notes, "\n"), "until it does, they are lost"); n != 1 {
		t.Errorf("a person is told %d times: %q", n, d.notes)
	}
	if n := len(up.received("notifications/progress")); n != 64 {
		t.Errorf("the server got %d of 70", n)
	}
}

// Notifications that the server does not take are given up, and told as lost: the first
// of those that are, one after the other.
func TestRemoteLostNotification(t *testing.T) {
	defer gateway.SetIOTimeout(300 * time.Millisecond)()
	up := newTestServer(t)
	up.startSessions("one")
	given := up.block("notifications/progress")
	d := openBridge(t, nil, up.remote())
	d.initialize()
	for range 3 {
		d.client.send(progress)
		select {
		case <-given:
		case <-time.After(30 * time.Second):
			t.Fatal("it still waits")
		}
		d.listTools() // meanwhile it is told
	}
	d.closeClient()
	if n := strings.Count(strings.Join(d.notes, "\n"), "a message to srv was lost"); n != 1 {
		t.Errorf("a person is told %d times: %q", n, d.notes)
	}
}

// A server that never says that it took the beginning of a session holds up nothing
// for long: what comes behind it is sent while that still waits.
func TestRemoteBlockedInitialized(t *testing.T) {
	gateway.SetRetryDelay(t, 10*time.Millisecond)
	up := newTestServer(t)
	up.startSessions("one")
	given := up.block("notifications/initialized")
	d := openBridge(t, nil, up.remote())
	d.initialize()
	d.listTools()
	select {
	case <-given:
		t.Error("it was given up first")
	default:
	}
}

// A client may use an id again once it was answered. What is still to be said of the request
// that had it before is not said of the next one.
func TestRemoteIDUsedAgain(t *testing.T) {
	up := newTestServer(t)
	d := openBridge(t, nil, up.remote())
	d.initialize()
	first, second := make(chan struct{}), make(chan struct{})
	up.handle("prompts/list", func(w http.ResponseWriter, r *http.Request) {
		eventStream(`data: {"jsonrpc":"2.0","id":"x","result":{"n":1}}`+"\n\n")(w, r)
		<-first // the stream goes on when all is said
	})
	if got := d.roundTrip(`{"jsonrpc":"2.0","id":"x","method":"prompts/list"}`); !strings.Contains(got, `"n":1`) {
		t.Error(got)
	}
	arrived := make(chan struct{})
	up.handle("resources/list", func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-second
		eventStream(`data: {"jsonrpc":"2.0","id":"x","result":{"n":2}}`+"\n\n")(w, r)
	})
	d.client.send(`{"jsonrpc":"2.0","id":"x","method":"resources/list"}`)
	<-arrived
	close(first)
	for i := range 3 { // by then the end of the first stream was read
		d.client.send(`{"jsonrpc":"2.0","id":` + strconv.Itoa(i) + `,"method":"ping"}`)
		if got := d.client.receive(); strings.Contains(got, `"x"`) {
			t.Error(got)
		}
	}
	close(second)
	if got := d.client.receive(); !strings.Contains(got, `"n":2`) {
		t.Error(got)
	}
}

// Nor is what the client takes back then the request before.
func TestRemoteIDUsedAgain_cancelled(t *testing.T) {
	up := newTestServer(t)
	d := openBridge(t, nil, up.remote())
	const request = `{"jsonrpc":"2.0","id":"x","method":"%s","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	first, ended := make(chan struct{}), make(chan struct{})
	up.handle("prompts/list", func(w http.ResponseWriter, r *http.Request) {
		eventStream(`data: {"jsonrpc":"2.0","id":"x","result":{"n":1}}`+"\n\n")(w, r)
		<-first
	})
	arrived := make(chan struct{})
	up.handle("resources/list", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		close(arrived)
		<-r.Context().Done()
		close(ended)
	})
	if got := d.roundTrip(strings.Replace(request, "%s", "prompts/list", 1)); !strings.Contains(got, `"n":1`) {
		t.Error(got)
	}
	d.client.send(strings.Replace(request, "%s", "resources/list", 1))
	<-arrived
	close(first)
	for i := range 3 { // by then the end of the first stream was read
		d.roundTrip(strings.Replace(strings.Replace(request, "%s", "ping", 1), `"x"`, strconv.Itoa(i), 1))
	}
	d.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`)
	<-ended
}

// waitedLogin is a login with something under way that must not end in the middle.
type waitedLogin struct{ waited chan time.Time }

func (l waitedLogin) Transport(next http.RoundTripper) http.RoundTripper { return next }
func (l waitedLogin) Refused(*http.Response) string                      { return "" }
func (l waitedLogin) Secrets() []string                                  { return nil }
func (l waitedLogin) Wait(ctx context.Context) {
	at, _ := ctx.Deadline()
	l.waited <- at
}

// A gateway that ends waits for what its login has under way, but not for ever.
func TestRemoteWaitsForItsLogin(t *testing.T) {
	u, l := newTestServer(t).remote(), waitedLogin{make(chan time.Time, 1)}
	u.Login = l
	openBridge(t, nil, u).closeClient()
	select {
	case at := <-l.waited:
		if at.IsZero() {
			t.Error("it would wait for ever")
		}
	default:
		t.Error("it did not wait")
	}
}
