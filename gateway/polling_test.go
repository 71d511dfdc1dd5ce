package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/internal/sse"
)

// polledResponse is what a client has of one stream.
type polledResponse struct {
	events []sse.Event
	retry  time.Duration
	err    error // io.EOF if the stream was ended
}

// lastEventID is where the client goes on.
func (p *polledResponse) lastEventID() string {
	if len(p.events) == 0 {
		return ""
	}
	return p.events[len(p.events)-1].ID
}

// messages are the messages.
func (p *polledResponse) messages() (all []string) {
	for _, e := range p.events {
		if len(e.Data) > 0 {
			all = append(all, string(e.Data))
		}
	}
	return all
}

// doPolled makes a request, and reads the stream to its end.
func (s *httpHarness) doPolled(r *http.Request) *polledResponse {
	s.t.Helper()
	resp, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Header.Get("Content-Type") != sse.ContentType {
		text, _ := io.ReadAll(resp.Body)
		return &polledResponse{err: fmt.Errorf("%s: %s", resp.Status, text)}
	}
	p := &polledResponse{}
	in := sse.NewReader(resp.Body, 64<<20)
	for {
		e, err := in.Next()
		if err != nil {
			p.retry, p.err = in.Retry(), err
			return p
		}
		p.events = append(p.events, e)
	}
}

// resume is the request of a client that comes back.
func (s *httpHarness) resume(at string, header ...string) *http.Request {
	return s.newRequest("GET", "/srv/mcp", "", append(header[:len(header):len(header)], "Last-Event-Id", at)...)
}

// closeStreams has a server end the stream of each call, and answer it in one of those by
// which the gate goes on, when the test says so. Its own ids are those of the calls.
func (s *testServer) closeStreams(result func(id string) string) (answer chan struct{}) {
	answer = make(chan struct{})
	s.handle("tools/call", eventStream("id: theirs-ID\nretry: 20\ndata:\n\n"))
	s.handle("GET", func(w http.ResponseWriter, r *http.Request) {
		id, ok := strings.CutPrefix(r.Header.Get("Last-Event-Id"), "theirs-")
		if !ok {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-answer:
			_, _ = fmt.Fprintf(w, "id: theirs-%s-end\ndata: %s\n\n", id, result(id))
		case <-r.Context().Done():
		}
	})
	return answer
}

func resultFor(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"ran ` + id + `"}]}}`
}

// openPolling is a handler before such a server, and what a client of it sends along.
func openPolling(t *testing.T, p rules, result func(string) string) (s *httpHarness, up *testServer, answer chan struct{}, in []string) {
	t.Helper()
	up = newTestServer(t)
	answer = up.closeStreams(result)
	s = openHandler(t, p, gateway.Upstream{Options: gateway.Options{Name: "srv", Patience: time.Minute, Impatience: time.Minute}, URL: up.URL})
	s.listTools()
	return s, up, answer, []string{"Mcp-Session-Id", s.initialize(), "Mcp-Protocol-Version", "2025-11-25"}
}

// A server that ends its stream amid a call has the client come back when it says,
// and what it answered meanwhile waits there: once for each who asks for it, and as
// often as that.
func TestHandlerPolling(t *testing.T) {
	s, up, answer, in := openPolling(t, rules{"echo": sayso.Allow}, resultFor)
	first := s.doPolled(s.newRequest("POST", "/srv/mcp", echo("4", "hi"), in...))
	if first.err != io.EOF || first.retry != 20*time.Millisecond || len(first.messages()) > 0 || first.lastEventID() == "" || strings.Contains(first.lastEventID(), "theirs") {
		t.Fatalf("%v: %+v", first.err, first)
	}
	close(answer)
	s.waitForEvent(sayso.EventFinished)
	for range 2 {
		if p := s.doPolled(s.resume(first.lastEventID(), in...)); p.err != io.EOF || !slices.Equal(p.messages(), []string{resultFor("4")}) {
			t.Fatalf("%v: %q", p.err, p.messages())
		}
	}
	if n := len(up.received("tools/call")); n != 1 {
		t.Errorf("the server got the call %d times", n)
	}
	for _, h := range up.received("GET") {
		if last := h.header.Get("Last-Event-Id"); last != "" && last != "theirs-4" {
			t.Errorf("the server was asked for %q", last)
		}
	}
}

// A client that comes back too soon waits there.
func TestHandlerPollingTooSoon(t *testing.T) {
	s, _, answer, in := openPolling(t, rules{"echo": sayso.Allow}, resultFor)
	first := s.doPolled(s.newRequest("POST", "/srv/mcp", echo("4", "hi"), in...))
	resp, err := client.Do(s.resume(first.lastEventID(), in...))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	close(answer)
	if text, err := io.ReadAll(resp.Body); err != nil || strings.Count(string(text), resultFor("4")) != 1 {
		t.Errorf("%v: %s", err, text)
	}
}

// Who was asked about before, and who was cancelled.
func TestHandlerPollingAsked(t *testing.T) {
	s, up, answer, in := openPolling(t, nil, resultFor)
	first := make(chan *polledResponse, 1)
	go func() { first <- s.doPolled(s.newRequest("POST", "/srv/mcp", echo("4", "hi"), in...)) }()
	s.answer(s.requests(1)[0], sayso.Allow)
	p := <-first
	close(answer)
	if p := s.doPolled(s.resume(p.lastEventID(), in...)); !slices.Equal(p.messages(), []string{resultFor("4")}) {
		t.Fatalf("%v: %q", p.err, p.messages())
	}
	if n := len(up.received("tools/call")); n != 1 {
		t.Errorf("the server got the call %d times", n)
	}
}

// Clients that cannot be told to come back are not: those of before, and those that
// take no streams.
func TestHandlerPollingForClient(t *testing.T) {
	for name, more := range map[string][]string{
		"before":         {"Mcp-Protocol-Version", "2025-06-18"},
		"without saying": {"Mcp-Protocol-Version", ""},
		"no streams":     {"Accept", "application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			s, up, answer, in := openPolling(t, rules{"echo": sayso.Allow}, resultFor)
			up.handle("GET", func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Last-Event-Id") == "" {
					w.WriteHeader(http.StatusMethodNotAllowed)
					return
				}
				eventStream("data: "+resultFor("4")+"\n\n")(w, r)
			})
			close(answer)
			if r := s.post(echo("4", "hi"), append(in[:len(in):len(in)], more...)...); strings.TrimSpace(r.last()) != resultFor("4") {
				t.Errorf("%s %q", r.Status, r.last())
			}
		})
	}
}

// A stream that breaks off is none that the server ended: the gate goes on with it,
// and the client notices nothing.
func TestHandlerStreamBroken(t *testing.T) {
	gateway.SetRetryDelay(t, time.Millisecond)
	progress := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":4,"progress":1}}`
	breaks := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			eventStream(text)(w, r)
			panic(http.ErrAbortHandler)
		}
	}
	up := newTestServer(t)
	cut := false
	up.handle("tools/call", breaks("id: a\nretry: 1\ndata:\n\n"))
	up.handle("GET", func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Last-Event-Id") {
		case "a":
			breaks("id: b\ndata: "+progress+"\n\nid: c\ndata: {\"cut")(w, r)
		case "b":
			if r.Header.Get("Mcp-Session-Id") != "there" {
				t.Errorf("asked for with %v", r.Header)
			}
			if !cut {
				cut = true
				eventStream("id: c\ndata: "+resultFor("4"))(w, r) // which is ended, but not whole
				return
			}
			eventStream("id: d\ndata: "+resultFor("4")+"\n\n")(w, r)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
	s := openHandler(t, rules{"echo": sayso.Allow}, gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: up.URL})
	s.listTools()
	in := []string{"Mcp-Session-Id", s.initialize(), "Mcp-Protocol-Version", "2025-11-25"}
	call := strings.Replace(echo("4", "hi"), `"name"`, `"_meta":{"progressToken":4},"name"`, 1)
	if p := s.doPolled(s.newRequest("POST", "/srv/mcp", call, in...)); p.retry != 0 || !slices.Equal(p.messages(), []string{progress, resultFor("4")}) {
		t.Errorf("%v %q", p.retry, p.messages())
	}
	// One that cannot be gone on with is told, and so it is where requests are stateless.
	up.handle("GET", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusBadRequest) })
	if r := s.post(echo("5", "hi"), in...); !strings.Contains(r.last(), "Whether what was asked for ran is not known") {
		t.Errorf("%s %s", r.Status, r.last())
	}
	body, header := statelessEcho("6", "hi")
	if r := s.post(body, header...); !strings.Contains(r.last(), "Whether what was asked for ran is not known") || !strings.Contains(r.last(), `"id":6`) {
		t.Errorf("%s %s", r.Status, r.last())
	}
	if got := between(strings.Join(s.notes, "\n"), "left out", "\n"); got != "" {
		t.Errorf("what was cut off was taken for a message: %s", got)
	}
}

// What the client hears as a server does not let it come back: an end, not silence.
func TestHandlerPollingRefused(t *testing.T) {
	s, up, _, in := openPolling(t, rules{"echo": sayso.Allow}, resultFor)
	up.handle("GET", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNotFound) })
	first := s.doPolled(s.newRequest("POST", "/srv/mcp", echo("4", "hi"), in...))
	if p := s.doPolled(s.resume(first.lastEventID(), in...)); len(p.messages()) != 1 || !strings.Contains(p.messages()[0], "Whether what was asked for ran is not known") {
		t.Errorf("%v: %q", p.err, p.messages())
	}
}

// A server may end its streams as often as it likes, with nothing told in between.
func TestHandlerPollingOften(t *testing.T) {
	gateway.SetRetryDelay(t, time.Millisecond)
	s, up, _, in := openPolling(t, rules{"echo": sayso.Allow}, resultFor)
	const often = 20
	times := 0
	up.handle("GET", func(w http.ResponseWriter, r *http.Request) {
		switch times++; {
		case r.Header.Get("Last-Event-Id") == "":
			w.WriteHeader(http.StatusMethodNotAllowed)
		case times < often:
			eventStream("retry: 1\n\n")(w, r)
		default:
			eventStream("data: "+resultFor("4")+"\n\n")(w, r)
		}
	})
	p := s.doPolled(s.newRequest("POST", "/srv/mcp", echo("4", "hi"), in...))
	at, turns := p.lastEventID(), 0
	for ; len(p.messages()) == 0 && p.err == io.EOF; turns++ {
		p = s.doPolled(s.resume(at, in...))
	}
	if !slices.Equal(p.messages(), []string{resultFor("4")}) {
		t.Errorf("%v after %d turns: %q", p.err, turns, p.messages())
	}
}

// Of many calls whose clients are all away as they are answered none is lost, and
// none goes to another.
func TestHandlerPollingConcurrent(t *testing.T) {
	s, _, answer, in := openPolling(t, rules{"echo": sayso.Allow}, resultFor)
	const many = 80
	at := make([]string, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			at[i] = s.doPolled(s.newRequest("POST", "/srv/mcp", echo(fmt.Sprint(i), "hi"), in...)).lastEventID()
		})
	}
	all.Wait()
	close(answer)
	s.waitForOutcomes(many)
	for i := range many {
		if p := s.doPolled(s.resume(at[i], in...)); !slices.Equal(p.messages(), []string{resultFor(fmt.Sprint(i))}) {
			t.Errorf("%d: %v %q", i, p.err, p.messages())
		}
	}
}

// waitForOutcomes waits until so many calls have finished.
func (w *harness) waitForOutcomes(n int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, err := range w.broker.Inbox(sayso.Actor{Principal: "admin", Kind: sayso.PrincipalAdmin}).Follow(ctx, 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventFinished}}) {
		if err != nil {
			w.t.Fatalf("%d calls have not finished: %v", n, err)
		}
		if n--; n == 0 {
			return
		}
	}
}

// What was answered is for the session that asked alone: not for another of the same
// client, and not for anybody else.
func TestHandlerPollingOtherSession(t *testing.T) {
	s, _, answer, in := openPolling(t, rules{"echo": sayso.Allow}, resultFor)
	first := s.doPolled(s.newRequest("POST", "/srv/mcp", echo("4", "hi"), in...))
	close(answer)
	s.waitForEvent(sayso.EventFinished)
	another := []string{"Mcp-Session-Id", s.initialize(), "Mcp-Protocol-Version", "2025-11-25"}
	own := []string{"Mcp-Session-Id", s.initialize(), "Mcp-Protocol-Version", "2025-11-25"}
	if p := s.doPolled(s.newRequest("POST", "/srv/mcp", echo("5", "hi"), own...)); p.lastEventID() != first.lastEventID() {
		t.Fatalf("not alike: %q and %q", first.lastEventID(), p.lastEventID())
	}
	if p := s.doPolled(s.resume(first.lastEventID(), own...)); !slices.Equal(p.messages(), []string{resultFor("5")}) {
		t.Errorf("a session with an event of that id: %v %q", p.err, p.messages())
	}
	bob := []string{"Authorization", "Bearer " + bobToken}
	bob = append(bob, "Mcp-Session-Id", s.initialize(bob...), "Mcp-Protocol-Version", "2025-11-25")
	thief := append([]string{"Authorization", "Bearer " + bobToken}, in...)
	alone := []string{"Mcp-Protocol-Version", "2026-07-28"}
	for name, header := range map[string][]string{"another session": another, "another token": bob, "another token with the session": thief, "no session": alone} {
		if p := s.doPolled(s.resume(first.lastEventID(), header...)); p.err == io.EOF || len(p.messages()) > 0 {
			t.Errorf("%s: %v %q", name, p.err, p.messages())
		}
	}
	if p := s.doPolled(s.resume(first.lastEventID(), in...)); !slices.Equal(p.messages(), []string{resultFor("4")}) {
		t.Errorf("%v: %q", p.err, p.messages())
	}
}

// A result that is too long to be kept waits for a client that was sent away, passes
// to one connection alone, and is lost if nobody comes.
func TestHandlerPollingLongAnswer(t *testing.T) {
	defer gateway.SetMaxMessage(128 << 10)()
	long := strings.Repeat("all work and no play ", 100_000)
	result := func(id string) string { return strings.Replace(resultFor(id), "ran", long, 1) }
	t.Run("waits", func(t *testing.T) {
		s, _, answer, in := openPolling(t, rules{"echo": sayso.Allow}, result)
		first := s.doPolled(s.newRequest("POST", "/srv/mcp", echo("4", "hi"), in...))
		close(answer)
		if p := s.doPolled(s.resume(first.lastEventID(), in...)); !slices.Equal(p.messages(), []string{result("4")}) {
			t.Errorf("%v: %d messages", p.err, len(p.messages()))
		}
		s.waitForEvent(sayso.EventFinished)
		if p := s.doPolled(s.resume(first.lastEventID(), in...)); p.err == io.EOF || len(p.messages()) > 0 {
			t.Errorf("a second time: %v, %d messages", p.err, len(p.messages()))
		}
	})
	t.Run("waits for long", func(t *testing.T) {
		c := gateway.NewReconnecting(t, time.Minute)
		long, done := c.AddLong(), make(chan error, 1)
		go func() { done <- long("all work") }()
		if text, err := c.Read(); err != nil || text != "all work" {
			t.Errorf("%v: %q", err, text)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Run("nobody comes", func(t *testing.T) {
		defer gateway.SetIOTimeout(100 * time.Millisecond)()
		s, _, answer, in := openPolling(t, rules{"echo": sayso.Allow}, result)
		first := s.doPolled(s.newRequest("POST", "/srv/mcp", echo("4", "hi"), in...))
		close(answer)
		s.waitForEvent(sayso.EventFinished) // nothing holds the server up
		if p := s.doPolled(s.resume(first.lastEventID(), in...)); p.err == io.EOF || len(p.messages()) > 0 {
			t.Errorf("%v, %d messages", p.err, len(p.messages()))
		}
	})
}

// A long result that goes to one connection does not go to another piece by piece.
func TestHandlerLongAnswerOnce(t *testing.T) {
	defer gateway.SetMaxMessage(128 << 10)()
	up := newTestServer(t)
	head, goOn := make(chan struct{}), make(chan struct{})
	long := strings.Repeat("all work and no play ", 100_000)
	up.handle("tools/call", func(w http.ResponseWriter, r *http.Request) {
		eventStream("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n", "data: {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\""+long)(w, r)
		close(head)
		<-goOn
		eventStream("\"}]}}\n\n")(w, r)
	})
	s := openHandler(t, rules{"echo": sayso.Allow}, gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: up.URL})
	s.listTools()
	in := []string{"Mcp-Session-Id", s.initialize(), "Mcp-Protocol-Version", "2025-11-25", "Accept", "text/event-stream"}
	first, err := client.Do(s.newRequest("POST", "/srv/mcp", echo("4", "hi"), in...))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Body.Close()
	some := make([]byte, 64<<10)
	n, err := io.ReadFull(first.Body, some)
	if err != nil {
		t.Fatal(err)
	}
	at := between(string(some), "id: ", "\n")
	if p := s.doPolled(s.resume(at, in...)); len(p.messages()) != 1 || strings.Contains(p.messages()[0], "work") {
		t.Errorf("another connection had %v, %d messages", p.err, len(p.messages()))
	}
	close(goOn)
	rest, err := io.ReadAll(first.Body)
	if all := append(some[:n:n], rest...); err != nil || !bytes.Contains(all, []byte(long+`"}]}}`)) {
		t.Errorf("%v: the first one has %d bytes", err, len(all))
	}
	<-head
}

// A server is left alone for as long as it asks, and not in vain all the time.
func TestBackoff(t *testing.T) {
	ms, s := time.Millisecond, time.Second
	for name, tt := range map[string]struct {
		retry time.Duration
		gave  string
		want  []time.Duration
	}{
		"as it asks":         {50 * ms, "11", []time.Duration{50 * ms, 50 * ms, 50 * ms}},
		"it does not say":    {0, "1", []time.Duration{s, s}},
		"in haste":           {ms, "1", []time.Duration{10 * ms, 10 * ms}},
		"for ever":           {time.Hour, "1", []time.Duration{30 * s, 30 * s}},
		"nothing to tell":    {ms, "00000000000", []time.Duration{10 * ms, 100 * ms, 200 * ms, 300 * ms, 400 * ms, 500 * ms, 600 * ms, 700 * ms, 800 * ms, 900 * ms, s, s}},
		"and then it has":    {ms, "001", []time.Duration{10 * ms, 100 * ms, 200 * ms, 10 * ms}},
		"cannot be reached":  {ms, "------", []time.Duration{10 * ms, 2 * s, 4 * s, 8 * s, 16 * s, 30 * s, 30 * s}},
		"can be reached now": {ms, "--1", []time.Duration{10 * ms, 2 * s, 4 * s, 10 * ms}},
	} {
		if got := gateway.BackoffDelays(tt.retry, tt.gave); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, not %v", name, got, tt.want)
		}
	}
}
