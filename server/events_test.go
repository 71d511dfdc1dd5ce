package server_test

import (
	"bufio"
	"context"
	"io"
	"iter"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/sse"
	"github.com/sayso-dev/sayso/server"
)

// stream opens the stream of events as token.
func (w *harness) stream(ctx context.Context, token, query string, header ...string) (*http.Response, *sse.Reader) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", w.url("/v1/events"+query), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	resp, err := plainClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp, sse.NewReader(resp.Body, 1<<20)
}

func TestEvents_areAsTheDocumentSays(t *testing.T) {
	f := newFixture(t)
	f.redeem()
	f.request("agent", "POST", "/v1/requests/"+string(f.allowed.ID)+"/outcome", `{"failed":true,"exit_status":3}`)
	f.request("agent", "POST", "/v1/requests/"+string(f.open.ID)+"/withdraw", `{"reason":"x"}`)
	f.request("person", "PUT", "/v1/sessions/s1/policies", `{"policies":{"bash":"ask"}}`)
	f.request("person", "PUT", "/v1/mode", `{"mode":"strict","session":"s1","for":"1h"}`)
	f.request("eve", "POST", "/v1/requests/"+string(f.denied.ID)+"/answer", answerBody(f.denied, "allow"))
	f.request("person", "DELETE", "/v1/grants/"+string(f.grant.ID), "")
	f.request("agent", "POST", "/v1/sessions/s1/end", `{}`)
	end := f.head()
	resp, r := f.stream(t.Context(), "admin", "?since=0")
	if got := resp.Header.Get("Content-Type"); got != sse.ContentType {
		t.Errorf("content type %q", got)
	}
	seen := map[string]bool{}
	for last := sayso.Seq(0); last < end; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(component("Event"), e.Data); err != nil {
			t.Errorf("%s is not as the document says: %v", e.Data, err)
		}
		seq, err := strconv.ParseUint(e.ID, 10, 64)
		if err != nil || sayso.Seq(seq) != last+1 {
			t.Fatalf("id %q after %d", e.ID, last)
		}
		last = sayso.Seq(seq)
		seen[e.Name] = true
	}
	for _, want := range []sayso.EventType{
		sayso.EventRequested, sayso.EventAnswered, sayso.EventResolved, sayso.EventRedeemed, sayso.EventFinished, sayso.EventWithdrawn,
		sayso.EventGrantCreated, sayso.EventGrantRevoked, sayso.EventSessionStarted, sayso.EventSessionPolicy, sayso.EventModeChanged,
		sayso.EventAnswerRefused, sayso.EventSessionEnded,
	} {
		if !seen[string(want)] {
			t.Errorf("no %s", want)
		}
	}
	if validate(component("Event"), []byte(`{"seq":1,"type":"approval.parked","payload":{"because":"x"}}`)) == nil {
		t.Error("anything passes for an event")
	}
}

func TestEvents_resumeAndSelect(t *testing.T) {
	f := newFixture(t)
	first := func(token, query string, header ...string) sse.Event {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, r := f.stream(ctx, token, query, header...)
		e, err := r.Next()
		if err != nil {
			t.Fatalf("%s %v: %v", query, header, err)
		}
		return e
	}
	if e := first("person", "?since=2"); e.ID != "3" {
		t.Errorf("since 2 begins with %s", e.ID)
	}
	if e := first("person", "?since=0", "Last-Event-ID: 4"); e.ID != "5" {
		t.Errorf("Last-Event-ID 4 begins with %s", e.ID)
	}
	if e := first("person", "?since=0&type=approval.answered&type=approval.resolved"); e.Name != "approval.answered" {
		t.Errorf("first answered or resolved is %s", e.Name)
	}
	if e := first("person", "?since=0&request="+string(f.allowed.ID)); !strings.Contains(string(e.Data), string(f.allowed.ID)) {
		t.Errorf("of another request: %s", e.Data)
	}
	for _, query := range []string{"?since=x", "?since=-1", "?since=0&type=approval.unheard", "?since=1&since=2", "?more=1"} {
		if resp, _ := f.stream(t.Context(), "person", query); resp.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", query, resp.StatusCode)
		}
	}
	if resp, _ := f.stream(t.Context(), "person", "", "Last-Event-ID: x"); resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("Last-Event-ID x: %d", resp.StatusCode)
	}
}

func TestEvents_onlyOnesOwn(t *testing.T) {
	w := newHarness(t, nil)
	w.open("s1", "ours")
	w.open("theirs", "theirs")
	end := w.head()
	for token, want := range map[string]string{"person": "ours", "eve": "theirs", "agent": "ours", "agent2": "theirs", "admin": "ours theirs"} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, r := w.stream(ctx, token, "?since=0&type=approval.requested&type=mode.changed")
		w.request("admin", "PUT", "/v1/mode", `{"mode":"interactive"}`)
		var got []string
		for {
			e, err := r.Next()
			if err != nil {
				// A requester sees no mode.changed; everything of its own came before.
				break
			}
			if e.Name == "mode.changed" {
				break
			}
			for _, id := range []string{"ours", "theirs"} {
				if strings.Contains(string(e.Data), `"call_id":"`+id+`"`) {
					got = append(got, id)
				}
			}
			if seq, _ := strconv.Atoi(e.ID); strings.HasPrefix(token, "agent") && sayso.Seq(seq) <= end {
				break
			}
		}
		cancel()
		if strings.Join(got, " ") != want {
			t.Errorf("%s sees %v, want %s", token, got, want)
		}
	}
}

func TestEvents_heartbeatAndEndOfToken(t *testing.T) {
	w := newHarness(t, func(o *server.Options) { o.SetHeartbeat(20 * time.Millisecond) })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	resp, _ := w.stream(ctx, "person", "")
	lines := bufio.NewScanner(resp.Body)
	beats := 0
	for beats < 3 && lines.Scan() {
		if strings.HasPrefix(lines.Text(), ":") {
			beats++
		}
	}
	w.tokens.end("person")
	for lines.Scan() {
	}
	if beats != 3 || ctx.Err() != nil {
		t.Errorf("%d heartbeats; the stream outlived its token: %v", beats, ctx.Err())
	}
}

// A reader that takes nothing must lose its connection, and nobody else
// anything.
func TestEvents_slowReaderLosesItsConnection(t *testing.T) {
	w := newHarness(t, func(o *server.Options) { o.SetStall(100 * time.Millisecond) })
	c, err := net.Dial("unix", w.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /v1/events?since=0 HTTP/1.1\r\nHost: sayso\r\nAuthorization: Bearer person\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	gate := w.b.Gate(actors["agent"])
	large := call("file-read", "")
	large.Args = sayso.Args(`{"command":"` + strings.Repeat("long ", 390) + `"}`)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			c := large
			c.CallID = strconv.Itoa(i)
			if _, err := gate.Admit(ctx, sayso.Admission{Call: c}); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	}()
	// The other follower goes on all the while.
	seen := 0
	for _, err := range w.client("person").Follow(ctx, 0, sayso.EventQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen%100 == 0 && closedByServer(c) {
			return
		}
	}
	t.Errorf("the slow connection stands after %d events", seen)
}

// closedByServer reports whether a connection was reset, without reading what
// waits in it.
func closedByServer(c net.Conn) bool {
	_, err := c.Write([]byte("x"))
	return err != nil
}

func TestLongConnectionsEndWithTheServer(t *testing.T) {
	w := newHarness(t, nil)
	resp, r := w.stream(t.Context(), "person", "")
	if resp.StatusCode != 200 {
		t.Fatal(resp.StatusCode)
	}
	held := make(chan reply, 1)
	go func() {
		held <- w.request("agent", "POST", "/v1/admissions", `{"call":{"tool":"bash","args":{"command":"x"},"session":"s1","call_id":"c1"}}`)
	}()
	w.waitForRequest("s1", "c1")
	w.stop()
	if got := <-held; got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("a held admission ends with %d %s", got.status, got.body)
	}
	for {
		if _, err := r.Next(); err != nil {
			break
		}
	}
}

// erasingInbox is an inbox whose one event loses its content between two followers.
type erasingInbox struct {
	sayso.Gate
	sayso.Inbox
	payload *atomic.Pointer[string]
}

func (erasingInbox) Head(context.Context) (sayso.Head, error) { return sayso.Head{}, nil }

func (e erasingInbox) Follow(ctx context.Context, _ sayso.Seq, q sayso.EventQuery) iter.Seq2[sayso.Event, error] {
	return func(yield func(sayso.Event, error) bool) {
		if len(q.Types) == 0 {
			yield(sayso.Event{Seq: 1, Type: sayso.EventAnswered, Payload: sayso.Args(*e.payload.Load())}, nil)
		}
		<-ctx.Done()
	}
}

// What was erased must not come out of a memory of ours.
func TestEvents_erasedStaysErased(t *testing.T) {
	var payload atomic.Pointer[string]
	w := &harness{t: t, tokens: &tokenList{ended: map[string]bool{}}, logs: &syncBuffer{}}
	w.startWith(func(sayso.Actor) (sayso.Gate, sayso.Inbox) {
		return erasingInbox{payload: &payload}, erasingInbox{payload: &payload}
	})
	t.Cleanup(func() { w.stop() })
	for _, text := range []string{`{"note":"` + canary + `"}`, `{"note":"` + canary + `"}`, `{}`} {
		payload.Store(&text)
		_, r := w.stream(t.Context(), "person", "?since=0")
		e, err := r.Next()
		if err != nil || !strings.Contains(string(e.Data), `"payload":`+text) {
			t.Errorf("%s: %s, %v", text, e.Data, err)
		}
	}
}

// Who reads slowly puts nothing back that was erased meanwhile.
func TestEvents_slowReaderKeepsNothingErased(t *testing.T) {
	var texts server.Texts
	had := sayso.Event{Seq: 7, Type: sayso.EventAnswered, Payload: sayso.Args(`{"note":"` + canary + `"}`)}
	send := func(e sayso.Event, kept bool) {
		t.Helper()
		if err := texts.Send(e); err != nil || texts.Keep(canary) != kept {
			t.Errorf("event %d: is it kept: %t, %v", e.Seq, !kept, err)
		}
	}
	send(had, true)
	texts.Erased(9)
	send(had, false)
	had.Seq = 10
	send(had, true)
}
