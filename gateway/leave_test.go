package gateway_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/store/memory"
)

// newHandler is a handler whose requests the test hands over itself, before a real broker.
func newHandler(t *testing.T, p rules, url string, change ...func(*gateway.Options)) (*gateway.Handler, *harness) {
	t.Helper()
	w := &harness{t: t, log: memory.New(nil)}
	var err error
	w.broker, err = broker.New(w.log, p, &broker.Options{Now: momentsFrom(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	u := gateway.Upstream{URL: url, Options: gateway.Options{
		Name: "srv", Gate: w.broker.Gate(asker), Pins: w.broker, Calls: w.broker, Actor: asker, Session: "s", Cwd: "/",
		Facts: facts.Options{Workspace: "/"},
	}}
	for _, c := range change {
		c(&u.Options)
	}
	f, err := gateway.NewHandler(gateway.HandlerOptions{Authenticate: func(string) (string, error) { return "ada", nil }}, u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(f.Close(context.Background()), w.broker.Close()); err != nil {
			t.Error(err)
		}
	})
	return f, w
}

// newExchange is a request as it is handed to a handler, of a client that has gone when ctx
// ends.
func newExchange(ctx context.Context, body string, header ...string) *http.Request {
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7777}
	r := httptest.NewRequestWithContext(context.WithValue(ctx, http.LocalAddrContextKey, at), "POST", "http://127.0.0.1:7777/srv/mcp", strings.NewReader(body))
	r.Header = http.Header{"Authorization": {"Bearer x"}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for i := 0; i < len(header); i += 2 {
		r.Header[http.CanonicalHeaderKey(header[i])] = []string{header[i+1]}
	}
	return r
}

// A call whose client had gone before it was looked at runs for nobody.
func TestHandlerClientGoneBefore(t *testing.T) {
	up := newTestServer(t)
	f, _ := newHandler(t, rules{"echo": sayso.Allow}, up.URL)
	body, header := statelessMessage("0", "tools/list", "", "")
	f.ServeHTTP(httptest.NewRecorder(), newExchange(t.Context(), body, header...))
	gone, leave := context.WithCancel(t.Context())
	leave()
	for i := range 50 {
		body, header := statelessEcho(strconv.Itoa(i), "for nobody")
		f.ServeHTTP(httptest.NewRecorder(), newExchange(gone, body, header...))
	}
	body, header = statelessEcho("50", "for somebody")
	f.ServeHTTP(httptest.NewRecorder(), newExchange(t.Context(), body, header...))
	if err := f.Close(t.Context()); err != nil { // which waits for what was begun
		t.Fatal(err)
	}
	if ran := up.received("tools/call"); len(ran) != 1 || !strings.Contains(ran[0].body, "for somebody") {
		t.Errorf("%d calls ran, not that of the client that is there alone", len(ran))
	}
}

// A client that goes before its call is known to the relay takes it back as well:
// nobody is asked any more.
func TestHandlerClientGoneAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks, goOn := make(chan struct{}), make(chan struct{})
		var once sync.Once
		f, w := newHandler(t, rules{}, "http://127.0.0.1:1", func(o *gateway.Options) {
			o.Off = func() bool { // is the first that is looked at for a call
				once.Do(func() { close(looks); <-goOn })
				return false
			}
		})
		ctx, leave := context.WithCancel(t.Context())
		body, header := statelessEcho("1", "hi")
		var handler sync.WaitGroup
		handler.Go(func() { f.ServeHTTP(httptest.NewRecorder(), newExchange(ctx, body, header...)) })
		<-looks
		leave()
		synctest.Wait()
		close(goOn)
		handler.Wait()
		w.waitForEvent(sayso.EventWithdrawn)
	})
}

// What a server does not answer is bounded within a session, also where the clients
// have gone; and what was cancelled gives way.
func TestHandlerUnanswered(t *testing.T) {
	const session = "Mcp-Session-Id"
	for name, bound := range map[string][2]int{"by their number": {3, 1 << 20}, "by their length": {1000, 1000}} {
		t.Run(name, func(t *testing.T) {
			defer gateway.SetMaxOpen(bound[0], bound[1])()
			up := newTestServer(t)
			begun := make(chan struct{})
			up.handle("resources/read", func(_ http.ResponseWriter, r *http.Request) {
				begun <- struct{}{}
				<-r.Context().Done()
			})
			f, _ := newHandler(t, nil, up.URL)
			begins := httptest.NewRecorder()
			f.ServeHTTP(begins, newExchange(t.Context(), `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`))
			id := begins.Header().Get(session)
			reads := func(ctx context.Context, n int) *http.Request {
				return newExchange(ctx, `{"jsonrpc":"2.0","id":`+strconv.Itoa(n)+`,"method":"resources/read","params":{"uri":"file:///`+strings.Repeat("x", 200)+`"}}`, session, id)
			}
			leaves := func(n int) *httptest.ResponseRecorder {
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				go func() {
					select {
					case <-begun:
						leave()
					case <-ctx.Done():
					}
				}()
				got := httptest.NewRecorder()
				f.ServeHTTP(got, reads(ctx, n))
				return got
			}
			for n := range 3 {
				leaves(n + 1)
			}
			if full := leaves(4); full.Code != http.StatusServiceUnavailable || !strings.Contains(full.Body.String(), "not answered yet") {
				t.Fatalf("one more: %d %s", full.Code, full.Body)
			}
			f.ServeHTTP(httptest.NewRecorder(), newExchange(t.Context(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, session, id))
			if got := leaves(5); got.Code == http.StatusServiceUnavailable {
				t.Error("what was cancelled does not give way")
			}
		})
	}
}

// A session is one with a single server: behind the path of another there is none
// under its id.
func TestHandlerOtherServer(t *testing.T) {
	a, b := newTestServer(t), newTestServer(t)
	s := openHandler(t, rules{"echo": sayso.Allow},
		gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: a.URL}, gateway.Upstream{Options: gateway.Options{Name: "other"}, URL: b.URL})
	in := []string{"Mcp-Session-Id", s.initialize(), "Mcp-Protocol-Version", "2025-11-25"}
	for method, body := range map[string]string{"POST": echo("1", "hi"), "GET": "", "DELETE": ""} {
		if r := s.do(s.newRequest(method, "/other/mcp", body, in...)); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s %s", method, r.Status, r.text)
		}
	}
	if len(a.received("tools/call"))+len(b.received("tools/call")) > 0 {
		t.Error("a call ran")
	}
	if r := s.post(`{"jsonrpc":"2.0","id":2,"method":"ping"}`, in...); r.StatusCode != http.StatusOK {
		t.Errorf("and then: %s %s", r.Status, r.text)
	}
}

// Closing waits no longer than it may, and says so.
func TestHandlerCloseInTime(t *testing.T) {
	up := newTestServer(t)
	deleted, goOn := make(chan struct{}), make(chan struct{})
	up.handle("DELETE", func(http.ResponseWriter, *http.Request) { close(deleted); <-goOn })
	defer close(goOn)
	f, _ := newHandler(t, nil, up.URL)
	f.ServeHTTP(httptest.NewRecorder(), newExchange(t.Context(), `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-deleted; cancel() }()
	if err := f.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("closed with %v", err)
	}
}
