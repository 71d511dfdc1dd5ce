package sayso_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/storetest"
)

// same is what a row must tell of the request that its events fold into.
type same struct {
	ID              sayso.ID
	Session, Group  string
	Tool, Host      string
	Kind            sayso.Kind
	Digest          sayso.Digest
	Holder          string
	State           sayso.State
	Source          sayso.Source
	Open, Undecided bool
	Nothing         bool // more can come of it
}

func ofRequest(r sayso.Request) same {
	s := same{
		ID: r.ID, Session: r.SessionID, Group: r.GroupID, Tool: r.Tool, Host: r.Host, Kind: r.Kind, Digest: r.Digest,
		Holder: r.Life.Holder, State: r.State, Open: r.State.Open(), Undecided: r.Decision == nil,
		Nothing: !r.State.Open() && !r.Unspent() && !r.Undelivered(),
	}
	if r.Decision != nil {
		s.Source = r.Decision.Source
	}
	return s
}

func ofRow(w sayso.Row) same {
	return same{
		ID: w.ID, Session: w.Session, Group: w.Group, Tool: w.Tool, Host: w.Host, Kind: w.Kind, Digest: w.Digest,
		Holder: w.Holder, State: w.State, Source: w.Source, Open: w.State.Open(), Undecided: w.Decided.IsZero(), Nothing: w.Spent,
	}
}

// A row is a short form of the fold: on every stream that can be, both say the
// same after every event.
func TestRow_agreesWithFold(t *testing.T) {
	luck := rand.New(rand.NewPCG(1, 2))
	all := append(types(), denied, denied, sayso.EventResolved, sayso.EventParked, sayso.EventTaken)
	longest := 0
	for range 200 {
		l := newLife(storetest.Wish{Group: "g", Deadline: time.Hour, Holder: "lease-1"})
		r, err := sayso.Fold(l.events)
		if err != nil {
			t.Fatal(err)
		}
		w, err := sayso.RowOf(&l.events[0])
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			next := all[luck.IntN(len(all))]
			if next == sayso.EventContentErased {
				continue // has a test of its own
			}
			e := l.next(next)
			if r.Apply(&e) != nil {
				continue // what cannot follow is never in a log
			}
			if err := w.Apply(&e); err != nil {
				t.Fatalf("the fold took %q, the row did not: %v", next, err)
			}
			l.events = append(l.events, e)
			if ofRequest(r) != ofRow(w) {
				t.Fatalf("after %v (-fold +row):\n%s", typesOf(l.events), cmp.Diff(ofRequest(r), ofRow(w)))
			}
		}
		longest = max(longest, len(l.events))
	}
	if longest < 10 {
		t.Errorf("the longest stream had %d events: nothing was tried", longest)
	}
}

func typesOf(events []sayso.Event) (types []sayso.EventType) {
	for _, e := range events {
		types = append(types, e.Type)
	}
	return types
}

func TestRow_erased(t *testing.T) {
	l := newLife(storetest.Wish{}).then(sayso.EventResolved, sayso.EventContentErased)
	w, err := sayso.RowOf(&l.events[0])
	if err != nil || w.Digest.IsZero() {
		t.Fatalf("the row has digest %q: %v", w.Digest, err)
	}
	if err := w.Apply(&l.events[2]); err != nil || !w.Digest.IsZero() {
		t.Errorf("after erasure it is %q: %v", w.Digest, err)
	}
	l.events[0].Content = nil
	again, err := sayso.RowOf(&l.events[0])
	if err != nil || !again.Digest.IsZero() {
		t.Errorf("made again without content it is %q: %v", again.Digest, err)
	}
	r, err := sayso.Fold(l.events)
	if err != nil || !r.Erased || !r.Digest.IsZero() {
		t.Errorf("the request is erased: %v, with digest %q: %v", r.Erased, r.Digest, err)
	}
	if _, err := r.Asked(); err == nil {
		t.Error("the call is known after its erasure")
	}
}

// Only what a person was asked about counts as asked.
func TestRow_asked(t *testing.T) {
	for source, want := range map[sayso.Source]bool{
		sayso.SourcePerson: true, sayso.SourceDeadline: true,
		sayso.SourcePolicy: false, sayso.SourceGrant: false, sayso.SourceMode: false, "": false,
	} {
		l := newLife(storetest.Wish{})
		w, err := sayso.RowOf(&l.events[0])
		if err != nil || !w.Asked {
			t.Fatalf("an open request is asked: %v, %v", w.Asked, err)
		}
		e := l.Next(l.id, 1, sayso.EventResolved, sayso.Resolved{Effect: sayso.Allow, Source: source}).Events[0]
		if err := w.Apply(&e); err != nil || w.Asked != want {
			t.Errorf("decided by %q: asked is %v, %v, want %v", source, w.Asked, err, want)
		}
	}
}

func TestRowQuery_OnlyOpen(t *testing.T) {
	for _, c := range []struct {
		states []sayso.State
		want   bool
	}{
		{nil, false},
		{sayso.OpenStates(), true},
		{[]sayso.State{sayso.StateParked}, true},
		{[]sayso.State{sayso.StateOpen, sayso.StateExpired}, false},
		{[]sayso.State{sayso.StateAllowed}, false},
		{[]sayso.State{""}, false},
	} {
		if got := (sayso.RowQuery{States: c.states}).OnlyOpen(); got != c.want {
			t.Errorf("%q select open requests alone: %v", c.states, got)
		}
	}
	for _, s := range sayso.OpenStates() {
		if !s.Open() {
			t.Errorf("%q is not open", s)
		}
	}
}
