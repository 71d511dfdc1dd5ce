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

// polled is what a client has of one stream.
type polled struct {
	events []sse.Event
	retry  time.Duration
	err    error // io.EOF if the stream was ended
}

// at is where the client goes on.
func (p *polled) at() string {
	if len(p.events) == 0 {
		return ""
	}
	return p.events[len(p.events)-1].ID
}

// says are the messages.
func (p *polled) says() (all []string) {
	for _, e := range p.events {
		if len(e.Data) > 0 {
			all = append(all, string(e.Data))
		}
	}
	return all
}

// polls makes a request, and reads the stream to its end.
func (s *street) polls(r *http.Request) *polled {
	s.t.Helper()
	resp, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Header.Get("Content-Type") != sse.ContentType {
		text, _ := io.ReadAll(resp.Body)
		return &polled{err: fmt.Errorf("%s: %s", resp.Status, text)}
	}
	p := &polled{}
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

// back is the request of a client that comes back.
func (s *street) back(at string, header ...string) *http.Request {
	return s.ask("GET", "/srv/mcp", "", append(header[:len(header):len(header)], "Last-Event-Id", at)...)
}

// polling has a server end the stream of each call, and answer it in one of those by
// which the gate goes on, when the test says so. Its own ids are those of the calls.
func (s *shop) polling(result func(id string) string) (answer chan struct{}) {
	answer = make(chan struct{})
	s.when("tools/call", streams("id: theirs-ID\nretry: 20\ndata:\n\n"))
	s.when("GET", func(w http.ResponseWriter, r *http.Request) {
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

func ranAs(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"ran ` + id + `"}]}}`
}

// pollingFront is a front before such a server, and what a client of it sends along.
func pollingFront(t *testing.T, p rules, result func(string) string) (s *street, up *shop, answer chan struct{}, in []string) {
	t.Helper()
	up = openShop(t)
	answer = up.polling(result)
	s = openFront(t, p, gateway.Upstream{Options: gateway.Options{Name: "srv", Patience: time.Minute, Impatience: time.Minute}, URL: up.URL})
	s.learns()
	return s, up, answer, []string{"Mcp-Session-Id", s.begins(), "Mcp-Protocol-Version", "2025-11-25"}
}

// A server that ends its stream amid a call has the client come back when it says,
// and what it answered meanwhile waits there: once for each who asks for it, and as
// often as that.
func TestFrontPolls(t *testing.T) {
	s, up, answer, in := pollingFront(t, rules{"echo": sayso.Allow}, ranAs)
	first := s.polls(s.ask("POST", "/srv/mcp", echo("4", "hi"), in...))
	if first.err != io.EOF || first.retry != 20*time.Millisecond || len(first.says()) > 0 || first.at() == "" || strings.Contains(first.at(), "theirs") {
		t.Fatalf("%v: %+v", first.err, first)
	}
	close(answer)
	s.until(sayso.EventFinished)
	for range 2 {
		if p := s.polls(s.back(first.at(), in...)); p.err != io.EOF || !slices.Equal(p.says(), []string{ranAs("4")}) {
			t.Fatalf("%v: %q", p.err, p.says())
		}
	}
	if n := len(up.heard("tools/call")); n != 1 {
		t.Errorf("the server got the call %d times", n)
	}
	for _, h := range up.heard("GET") {
		if last := h.header.Get("Last-Event-Id"); last != "" && last != "theirs-4" {
			t.Errorf("the server was asked for %q", last)
		}
	}
}

// A client that comes back too soon waits there.
func TestFrontPollsTooSoon(t *testing.T) {
	s, _, answer, in := pollingFront(t, rules{"echo": sayso.Allow}, ranAs)
	first := s.polls(s.ask("POST", "/srv/mcp", echo("4", "hi"), in...))
	resp, err := client.Do(s.back(first.at(), in...))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	close(answer)
	if text, err := io.ReadAll(resp.Body); err != nil || strings.Count(string(text), ranAs("4")) != 1 {
		t.Errorf("%v: %s", err, text)
	}
}

// Who was asked about before, and who was cancelled.
func TestFrontPollsAsked(t *testing.T) {
	s, up, answer, in := pollingFront(t, nil, ranAs)
	first := make(chan *polled, 1)
	go func() { first <- s.polls(s.ask("POST", "/srv/mcp", echo("4", "hi"), in...)) }()
	s.answer(s.asked(1)[0], sayso.Allow)
	p := <-first
	close(answer)
	if p := s.polls(s.back(p.at(), in...)); !slices.Equal(p.says(), []string{ranAs("4")}) {
		t.Fatalf("%v: %q", p.err, p.says())
	}
	if n := len(up.heard("tools/call")); n != 1 {
		t.Errorf("the server got the call %d times", n)
	}
}

// Clients that cannot be told to come back are not: those of before, and those that
// take no streams.
func TestFrontPollsForThem(t *testing.T) {
	for name, more := range map[string][]string{
		"before":         {"Mcp-Protocol-Version", "2025-06-18"},
		"without saying": {"Mcp-Protocol-Version", ""},
		"no streams":     {"Accept", "application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			s, up, answer, in := pollingFront(t, rules{"echo": sayso.Allow}, ranAs)
			up.when("GET", func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Last-Event-Id") == "" {
					w.WriteHeader(http.StatusMethodNotAllowed)
					return
				}
				streams("data: "+ranAs("4")+"\n\n")(w, r)
			})
			close(answer)
			if r := s.posts(echo("4", "hi"), append(in[:len(in):len(in)], more...)...); strings.TrimSpace(r.last()) != ranAs("4") {
				t.Errorf("%s %q", r.Status, r.last())
			}
		})
	}
}

// A stream that breaks off is none that the server ended: the gate goes on with it,
// and the client notices nothing.
func TestFrontServerBreaksOff(t *testing.T) {
	gateway.SetPause(t, time.Millisecond)
	progress := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":4,"progress":1}}`
	breaks := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			streams(text)(w, r)
			panic(http.ErrAbortHandler)
		}
	}
	up := openShop(t)
	cut := false
	up.when("tools/call", breaks("id: a\nretry: 1\ndata:\n\n"))
	up.when("GET", func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Last-Event-Id") {
		case "a":
			breaks("id: b\ndata: "+progress+"\n\nid: c\ndata: {\"cut")(w, r)
		case "b":
			if r.Header.Get("Mcp-Session-Id") != "there" {
				t.Errorf("asked for with %v", r.Header)
			}
			if !cut {
				cut = true
				streams("id: c\ndata: "+ranAs("4"))(w, r) // which is ended, but not whole
				return
			}
			streams("id: d\ndata: "+ranAs("4")+"\n\n")(w, r)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
	s := openFront(t, rules{"echo": sayso.Allow}, gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: up.URL})
	s.learns()
	in := []string{"Mcp-Session-Id", s.begins(), "Mcp-Protocol-Version", "2025-11-25"}
	call := strings.Replace(echo("4", "hi"), `"name"`, `"_meta":{"progressToken":4},"name"`, 1)
	if p := s.polls(s.ask("POST", "/srv/mcp", call, in...)); p.retry != 0 || !slices.Equal(p.says(), []string{progress, ranAs("4")}) {
		t.Errorf("%v %q", p.retry, p.says())
	}
	// One that cannot be gone on with is told, and so it is where requests are stateless.
	up.when("GET", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusBadRequest) })
	if r := s.posts(echo("5", "hi"), in...); !strings.Contains(r.last(), "Whether what was asked for ran is not known") {
		t.Errorf("%s %s", r.Status, r.last())
	}
	body, header := modernEcho("6", "hi")
	if r := s.posts(body, header...); !strings.Contains(r.last(), "Whether what was asked for ran is not known") || !strings.Contains(r.last(), `"id":6`) {
		t.Errorf("%s %s", r.Status, r.last())
	}
	if got := between(strings.Join(s.notes, "\n"), "left out", "\n"); got != "" {
		t.Errorf("what was cut off was taken for a message: %s", got)
	}
}

// What the client hears as a server does not let it come back: an end, not silence.
func TestFrontPollsInVain(t *testing.T) {
	s, up, _, in := pollingFront(t, rules{"echo": sayso.Allow}, ranAs)
	up.when("GET", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNotFound) })
	first := s.polls(s.ask("POST", "/srv/mcp", echo("4", "hi"), in...))
	if p := s.polls(s.back(first.at(), in...)); len(p.says()) != 1 || !strings.Contains(p.says()[0], "Whether what was asked for ran is not known") {
		t.Errorf("%v: %q", p.err, p.says())
	}
}

// A server may end its streams as often as it likes, with nothing told in between.
func TestFrontPollsOften(t *testing.T) {
	gateway.SetPause(t, time.Millisecond)
	s, up, _, in := pollingFront(t, rules{"echo": sayso.Allow}, ranAs)
	const often = 20
	times := 0
	up.when("GET", func(w http.ResponseWriter, r *http.Request) {
		switch times++; {
		case r.Header.Get("Last-Event-Id") == "":
			w.WriteHeader(http.StatusMethodNotAllowed)
		case times < often:
			streams("retry: 1\n\n")(w, r)
		default:
			streams("data: "+ranAs("4")+"\n\n")(w, r)
		}
	})
	p := s.polls(s.ask("POST", "/srv/mcp", echo("4", "hi"), in...))
	at, turns := p.at(), 0
	for ; len(p.says()) == 0 && p.err == io.EOF; turns++ {
		p = s.polls(s.back(at, in...))
	}
	if !slices.Equal(p.says(), []string{ranAs("4")}) {
		t.Errorf("%v after %d turns: %q", p.err, turns, p.says())
	}
}

// Of many calls whose clients are all away as they are answered none is lost, and
// none goes to another.
func TestFrontPollsTogether(t *testing.T) {
	s, _, answer, in := pollingFront(t, rules{"echo": sayso.Allow}, ranAs)
	const many = 80
	at := make([]string, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() { at[i] = s.polls(s.ask("POST", "/srv/mcp", echo(fmt.Sprint(i), "hi"), in...)).at() })
	}
	all.Wait()
	close(answer)
	s.ended(many)
	for i := range many {
		if p := s.polls(s.back(at[i], in...)); !slices.Equal(p.says(), []string{ranAs(fmt.Sprint(i))}) {
			t.Errorf("%d: %v %q", i, p.err, p.says())
		}
	}
}

// ended waits until so many calls have finished.
func (w *world) ended(n int) {
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
func TestFrontPollsOthers(t *testing.T) {
	s, _, answer, in := pollingFront(t, rules{"echo": sayso.Allow}, ranAs)
	first := s.polls(s.ask("POST", "/srv/mcp", echo("4", "hi"), in...))
	close(answer)
	s.until(sayso.EventFinished)
	another := []string{"Mcp-Session-Id", s.begins(), "Mcp-Protocol-Version", "2025-11-25"}
	own := []string{"Mcp-Session-Id", s.begins(), "Mcp-Protocol-Version", "2025-11-25"}
	if p := s.polls(s.ask("POST", "/srv/mcp", echo("5", "hi"), own...)); p.at() != first.at() {
		t.Fatalf("not alike: %q and %q", first.at(), p.at())
	}
	if p := s.polls(s.back(first.at(), own...)); !slices.Equal(p.says(), []string{ranAs("5")}) {
		t.Errorf("a session with an event of that id: %v %q", p.err, p.says())
	}
	bob := []string{"Authorization", "Bearer " + bobToken}
	bob = append(bob, "Mcp-Session-Id", s.begins(bob...), "Mcp-Protocol-Version", "2025-11-25")
	thief := append([]string{"Authorization", "Bearer " + bobToken}, in...)
	alone := []string{"Mcp-Protocol-Version", "2026-07-28"}
	for name, header := range map[string][]string{"another session": another, "another token": bob, "another token with the session": thief, "no session": alone} {
		if p := s.polls(s.back(first.at(), header...)); p.err == io.EOF || len(p.says()) > 0 {
			t.Errorf("%s: %v %q", name, p.err, p.says())
		}
	}
	if p := s.polls(s.back(first.at(), in...)); !slices.Equal(p.says(), []string{ranAs("4")}) {
		t.Errorf("%v: %q", p.err, p.says())
	}
}

// A result that is too long to be kept waits for a client that was sent away, passes
// to one connection alone, and is lost if nobody comes.
func TestFrontPollsLong(t *testing.T) {
	defer gateway.SetMaxMessage(128 << 10)()
	long := strings.Repeat("all work and no play ", 100_000)
	result := func(id string) string { return strings.Replace(ranAs(id), "ran", long, 1) }
	t.Run("waits", func(t *testing.T) {
		s, _, answer, in := pollingFront(t, rules{"echo": sayso.Allow}, result)
		first := s.polls(s.ask("POST", "/srv/mcp", echo("4", "hi"), in...))
		close(answer)
		if p := s.polls(s.back(first.at(), in...)); !slices.Equal(p.says(), []string{result("4")}) {
			t.Errorf("%v: %d messages", p.err, len(p.says()))
		}
		s.until(sayso.EventFinished)
		if p := s.polls(s.back(first.at(), in...)); p.err == io.EOF || len(p.says()) > 0 {
			t.Errorf("a second time: %v, %d messages", p.err, len(p.says()))
		}
	})
	t.Run("waits for long", func(t *testing.T) {
		c := gateway.SentAway(t, time.Minute)
		long, done := c.Long(), make(chan error, 1)
		go func() { done <- long("all work") }()
		if text, err := c.Back(); err != nil || text != "all work" {
			t.Errorf("%v: %q", err, text)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Run("nobody comes", func(t *testing.T) {
		defer gateway.SetSlowest(100 * time.Millisecond)()
		s, _, answer, in := pollingFront(t, rules{"echo": sayso.Allow}, result)
		first := s.polls(s.ask("POST", "/srv/mcp", echo("4", "hi"), in...))
		close(answer)
		s.until(sayso.EventFinished) // nothing holds the server up
		if p := s.polls(s.back(first.at(), in...)); p.err == io.EOF || len(p.says()) > 0 {
			t.Errorf("%v, %d messages", p.err, len(p.says()))
		}
	})
}

// A long result that goes to one connection does not go to another piece by piece.
func TestFrontLongOnce(t *testing.T) {
	defer gateway.SetMaxMessage(128 << 10)()
	up := openShop(t)
	head, goOn := make(chan struct{}), make(chan struct{})
	long := strings.Repeat("all work and no play ", 100_000)
	up.when("tools/call", func(w http.ResponseWriter, r *http.Request) {
		streams("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n", "data: {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\""+long)(w, r)
		close(head)
		<-goOn
		streams("\"}]}}\n\n")(w, r)
	})
	s := openFront(t, rules{"echo": sayso.Allow}, gateway.Upstream{Options: gateway.Options{Name: "srv"}, URL: up.URL})
	s.learns()
	in := []string{"Mcp-Session-Id", s.begins(), "Mcp-Protocol-Version", "2025-11-25", "Accept", "text/event-stream"}
	first, err := client.Do(s.ask("POST", "/srv/mcp", echo("4", "hi"), in...))
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
	if p := s.polls(s.back(at, in...)); len(p.says()) != 1 || strings.Contains(p.says()[0], "work") {
		t.Errorf("another connection had %v, %d messages", p.err, len(p.says()))
	}
	close(goOn)
	rest, err := io.ReadAll(first.Body)
	if all := append(some[:n:n], rest...); err != nil || !bytes.Contains(all, []byte(long+`"}]}}`)) {
		t.Errorf("%v: the first one has %d bytes", err, len(all))
	}
	<-head
}

// A server is left alone for as long as it asks, and not in vain all the time.
func TestRests(t *testing.T) {
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
		if got := gateway.Rests(tt.retry, tt.gave); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, not %v", name, got, tt.want)
		}
	}
}
