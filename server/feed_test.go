package server_test

import (
	"context"
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

// countingInbox is an inbox with so many large events once it is let go, which counts
// who follows it.
type countingInbox struct {
	sayso.Gate
	sayso.Inbox
	t *countingState
}

type countingState struct {
	events    sayso.Seq
	let       chan struct{}
	begun, on atomic.Int64
}

func (countingInbox) Head(context.Context) (sayso.Head, error) { return sayso.Head{}, nil }

func (k countingInbox) Follow(ctx context.Context, since sayso.Seq, q sayso.EventQuery) iter.Seq2[sayso.Event, error] {
	return func(yield func(sayso.Event, error) bool) {
		if len(q.Types) > 1 { // the server itself
			<-ctx.Done()
			return
		}
		k.t.begun.Add(1)
		k.t.on.Add(1)
		defer k.t.on.Add(-1)
		select {
		case <-k.t.let:
		case <-ctx.Done():
			return
		}
		payload := sayso.Args(`{"note":"` + strings.Repeat("x", 32<<10) + `"}`)
		for seq := since + 1; seq <= k.t.events; seq++ {
			if !yield(sayso.Event{Seq: seq, Type: sayso.EventAnswered, Payload: payload}, nil) {
				return
			}
		}
		<-ctx.Done()
		yield(sayso.Event{}, ctx.Err())
	}
}

// newTally serves a tally.
func newTally(t *testing.T, events sayso.Seq) (*harness, *countingState) {
	t.Helper()
	state := &countingState{events: events, let: make(chan struct{})}
	w := &harness{t: t, tokens: &tokenList{ended: map[string]bool{}}, logs: &syncBuffer{}}
	w.door = func(sayso.Actor) (sayso.Gate, sayso.Inbox) { return countingInbox{t: state}, countingInbox{t: state} }
	w.start(func(o *server.Options) { o.SetStall(time.Minute) })
	t.Cleanup(func() { w.stop() })
	return w, state
}

// Who sees the same and asks for the same shares one follow, and nobody else
// does.
func TestEvents_shareAFollow(t *testing.T) {
	w, state := newTally(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 3 {
		for _, token := range []string{"person", "bob", "viewer"} {
			for _, query := range []string{"", "?session=s1", "?since=0&type=approval.answered"} {
				if resp, _ := w.stream(ctx, token, query); resp.StatusCode != http.StatusOK {
					t.Fatal(resp.StatusCode)
				}
			}
		}
	}
	eventually(t, func() bool { return state.on.Load() == 9 })
	if n := state.begun.Load(); n != 9 {
		t.Errorf("27 streams of nine kinds follow %d times", n)
	}
	cancel()
	eventually(t, func() bool { return state.on.Load() == 0 })
}

// eventually fails the test if something does not become true.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for tick := time.Tick(time.Millisecond); !ok(); {
		select {
		case <-tick:
		case <-ctx.Done():
			t.Fatal("it never came to that")
		}
	}
}

// A reader that is left behind goes on alone: it misses nothing, gets nothing
// twice, and holds up nobody.
func TestEvents_leftBehindMissesNothing(t *testing.T) {
	const events = 100
	w, state := newTally(t, events)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	slow, quick := w.narrow(ctx, "person"), w.narrow(ctx, "person")
	close(state.let)
	all(t, quick, events)
	all(t, slow, events)
	if state.begun.Load() < 2 {
		t.Error("nobody was left behind")
	}
}

// all reads events from the first to the last.
func all(t *testing.T, r *sse.Reader, n int) {
	t.Helper()
	for want := 1; want <= n; want++ {
		if e, err := r.Next(); err != nil || e.ID != strconv.Itoa(want) {
			t.Errorf("event %q in the place of %d: %v", e.ID, want, err)
			return
		}
	}
}

// narrow opens a stream over the Unix socket, which takes little before it is
// read.
func (w *harness) narrow(ctx context.Context, token string) *sse.Reader {
	w.t.Helper()
	rt := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", w.socket)
	}}
	req, err := http.NewRequestWithContext(ctx, "GET", "http://sayso/v1/events", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := rt.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatal(resp, err)
	}
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	return sse.NewReader(resp.Body, 1<<20)
}

// A stream that begins further back than the others does not share with them.
func TestEvents_joinLate(t *testing.T) {
	const events = 20
	w, state := newTally(t, events)
	close(state.let)
	for range 3 {
		_, r := w.stream(t.Context(), "person", "?since=0")
		all(t, r, events)
	}
	_, r := w.stream(t.Context(), "person", "?since=10")
	if e, err := r.Next(); err != nil || e.ID != "11" {
		t.Errorf("since 10 begins with %q: %v", e.ID, err)
	}
}
