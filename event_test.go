package sayso_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/storetest"
)

// The types that a stream has at most one of.
func TestEventType_once(t *testing.T) {
	terminal := map[sayso.EventType]bool{sayso.EventResolved: true, sayso.EventExpired: true, sayso.EventWithdrawn: true}
	spends := map[sayso.EventType]bool{sayso.EventRedeemed: true, sayso.EventVoided: true}
	for _, kind := range types() {
		if kind.Terminal() != terminal[kind] || kind.Spends() != spends[kind] {
			t.Errorf("%q is terminal: %v, spends: %v", kind, kind.Terminal(), kind.Spends())
		}
	}
	// What decides a request is what its fold takes for a decision.
	for _, kind := range types() {
		l := newLife(storetest.Wish{}).then()
		r, err := sayso.Fold(l.events)
		if err != nil {
			t.Fatal(err)
		}
		if e := l.next(kind); r.Apply(&e) == nil && r.State.Open() == kind.Terminal() {
			t.Errorf("after %q the request is %s", kind, r.State)
		}
	}
}

func TestStreams(t *testing.T) {
	id := sayso.NewID(noon, [16]byte{1})
	for stream, want := range map[string]sayso.ID{
		sayso.RequestStream(id): id, sayso.GrantStream(id): id, sayso.SessionStream("a/b"): "a/b", sayso.BrokerStream: "",
	} {
		if got := sayso.StreamID(stream); got != want {
			t.Errorf("stream %q is of %q, want %q", stream, got, want)
		}
	}
}

func TestEventQuery_matches(t *testing.T) {
	e := &sayso.Event{SessionID: "s1", RequestID: "r1", Type: sayso.EventParked}
	for _, c := range []struct {
		q    sayso.EventQuery
		want bool
	}{
		{sayso.EventQuery{}, true},
		{sayso.EventQuery{Session: "s1", Request: "r1", Types: []sayso.EventType{sayso.EventTaken, sayso.EventParked}}, true},
		{sayso.EventQuery{Session: "s2"}, false},
		{sayso.EventQuery{Request: "r2"}, false},
		{sayso.EventQuery{Types: []sayso.EventType{sayso.EventTaken}}, false},
		{sayso.EventQuery{Session: "s1", Types: []sayso.EventType{""}}, false},
	} {
		if got := c.q.Matches(e); got != c.want {
			t.Errorf("%+v: got %v, want %v", c.q, got, c.want)
		}
	}
}

// The errors that carry a fact are found by their sentinel, and through others.
func TestErrors(t *testing.T) {
	id := sayso.NewID(noon, [16]byte{0xab, 0xcd, 0xef})
	by := []sayso.Actor{{Principal: "ada"}, {Principal: "bob"}}
	for _, c := range []struct {
		err  error
		is   error
		text string
	}{
		{&sayso.PendingError{Ticket: id}, sayso.ErrPending, "not decided yet: ticket " + id.Short()},
		{&sayso.DecidedError{Decision: sayso.Decision{State: sayso.StateDenied, By: by, At: noon}}, sayso.ErrDecided,
			"already decided: denied by ada, bob at 2026-11-20T12:00:00Z"},
		{&sayso.DecidedError{Decision: sayso.Decision{State: sayso.StateAllowed, Source: sayso.SourceGrant, At: noon}}, sayso.ErrDecided,
			"already decided: allowed by grant at 2026-11-20T12:00:00Z"},
	} {
		if !errors.Is(fmt.Errorf("answering: %w", c.err), c.is) || c.err.Error() != c.text {
			t.Errorf("got %q, which is %v: %v", c.err, c.is, errors.Is(c.err, c.is))
		}
	}
}
