package broker_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

// refusedCalls counts the calls that were refused on the record.
func (w *harness) refusedCalls() (n int) {
	for _, e := range w.allEvents() {
		if e.Type == sayso.EventResolved {
			n++
		}
	}
	return n
}

func in(session string, n int) sayso.Admission {
	c := bash("", fmt.Sprint("echo ", n))
	c.Session = session
	return sayso.Admission{Call: c, Patience: -1}
}

func TestLimit_ofOpenRequests(t *testing.T) {
	bubble(t, within(sayso.Ask, sayso.Deadline{}), func(t *testing.T, w *harness) {
		for i := range 200 {
			if i%100 == 0 {
				pass(2 * time.Minute)
			}
			if _, err := w.admit(in("s1", i)); !errors.Is(err, sayso.ErrPending) {
				t.Fatalf("request %d: %v", i, err)
			}
		}
		pass(2 * time.Minute)
		for i := range 500 { // one event a minute, however many calls
			d, err := w.admit(in("s1", 1000+i))
			if wantErr(t, err, sayso.ErrTooMany); d.Allowed() {
				t.Fatal(d)
			}
		}
		if n := w.refusedCalls(); n != 1 {
			t.Errorf("%d refusals were recorded within a minute", n)
		}
		pass(time.Minute)
		w.admit(in("s1", 2000))
		if n := w.refusedCalls(); n != 2 {
			t.Errorf("%d refusals were recorded in two minutes", n)
		}
		if _, err := w.admit(in("s2", 1)); !errors.Is(err, sayso.ErrPending) {
			t.Errorf("another session: %v", err)
		}
		if err := w.b.Gate(agent).Withdraw(t.Context(), w.open()[0].ID, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := w.admit(in("s1", 3000)); !errors.Is(err, sayso.ErrPending) {
			t.Errorf("after one was withdrawn: %v", err)
		}
	})
}

func TestLimit_ofAsksAMinute(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		g := w.b.Gate(agent)
		ask := func(i int) error {
			_, err := w.admit(in("s1", i))
			var pending *sayso.PendingError
			if errors.As(err, &pending) {
				if err := g.Withdraw(t.Context(), pending.Ticket, ""); err != nil {
					t.Fatal(err)
				}
			}
			return err
		}
		for i := range 120 {
			if err := ask(i); !errors.Is(err, sayso.ErrPending) {
				t.Fatalf("ask %d: %v", i, err)
			}
		}
		for i := range 50 {
			wantErr(t, ask(200+i), sayso.ErrTooMany)
		}
		if n := w.refusedCalls(); n != 1 {
			t.Errorf("%d refusals were recorded", n)
		}
		// What policy decides asks nobody, and is not limited.
		w.rules.set("v1", func(sayso.Call) sayso.Verdict { return ruled(rule(sayso.Allow)) })
		for i := range 300 {
			w.allowed(sayso.Admission{Call: bash("", fmt.Sprint("ls ", i)), Immediate: true})
		}
		w.rules.set("v1", func(sayso.Call) sayso.Verdict { return ruled(rule(sayso.Ask)) })
		pass(time.Minute + time.Second)
		if err := ask(300); !errors.Is(err, sayso.ErrPending) {
			t.Errorf("a minute later: %v", err)
		}
	})
}

func TestLimit_options(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		for i, want := range []error{sayso.ErrPending, sayso.ErrPending, sayso.ErrTooMany} {
			_, err := w.admit(in("s1", i))
			wantErr(t, err, want)
		}
	}, func(w *harness) { w.opts.MaxOpen = 2 })
}

// flood opens as many requests of a session as its limits would only let it
// open in hours, each like the first.
func (w *harness) flood(session string, n int) {
	w.t.Helper()
	var first sayso.Event
	for _, e := range w.allEvents() {
		if e.Type == sayso.EventRequested && e.SessionID == session {
			first = e
		}
	}
	b := sayso.Batch{Expect: map[string]int{}}
	for i := range n {
		e := first
		e.Memo = nil
		e.RequestID = sayso.NewID(e.At.Wall, [16]byte{byte(i), byte(i >> 8), 1})
		e.ID, e.Stream = e.RequestID, sayso.RequestStream(e.RequestID)
		b.Events, b.Expect[e.Stream] = append(b.Events, e), 0
	}
	if _, err := w.log.Append(w.t.Context(), b); err != nil {
		w.t.Fatal(err)
	}
}

// A flood of one session neither hides the request of another from the person
// who answers it, nor stands before it.
func TestFlood(t *testing.T) {
	w := newHarness(t, within(sayso.Ask, sayso.Deadline{}))
	noisy := sayso.Actor{Principal: "noisy", Kind: sayso.PrincipalAgent, Owner: "eve"}
	if _, err := w.b.Gate(noisy).Admit(t.Context(), in("loud", 0)); !errors.Is(err, sayso.ErrPending) {
		t.Fatal(err)
	}
	w.flood("loud", 10_000)
	_, err := w.admit(in("quiet", 0))
	wantErr(t, err, sayso.ErrPending)
	for name, q := range map[string]sayso.RowQuery{
		"open":            {States: []sayso.State{sayso.StateOpen, sayso.StateParked}, Limit: 10},
		"open, by chance": {States: []sayso.State{sayso.StateParked}},
		"history":         {Oldest: true, Limit: 10},
		"newest":          {},
		"its session":     {Session: "quiet", States: []sayso.State{sayso.StateParked}},
		"old and unspent": {Unspent: true, Oldest: true},
	} {
		rs, err := w.b.Inbox(dev).Requests(t.Context(), q)
		if err != nil || len(rs) != 1 || rs[0].SessionID != "quiet" {
			t.Errorf("%s: %d requests, %v", name, len(rs), err)
		}
	}
	rs, err := w.b.Inbox(stranger).Requests(t.Context(), sayso.RowQuery{States: []sayso.State{sayso.StateOpen}, Limit: 25})
	if err != nil || len(rs) != 25 {
		t.Errorf("the owner of the flood got %d, %v", len(rs), err)
	}
	r := w.onlyOpen()
	w.answerAsOwner(r.ID, sayso.Allow)
	a := in("quiet", 0)
	a.Immediate = true
	if d, err := w.admit(a); err != nil || !d.Redeemed || d.Request != r.ID {
		t.Errorf("got %+v, %v", d, err)
	}
}

// A broker that has not met the session yet takes its calls for new, until the
// log says otherwise. What is remembered asks nobody all the same.
func TestLimit_notForWhatIsRemembered(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.remember(atOnce("c1"))
		_, err := w.admit(in("s1", 1))
		wantErr(t, err, sayso.ErrPending)
		w.restart()
		if d, err := w.admit(atOnce("c2")); err != nil || !d.Redeemed {
			t.Errorf("what is remembered got %+v, %v", d, err)
		}
		if n := w.count(sayso.EventRequested); n != 3 {
			t.Errorf("%d requests were recorded, want 3", n)
		}
		_, err = w.admit(in("s1", 2))
		wantErr(t, err, sayso.ErrTooMany)
	}, func(w *harness) { w.opts.MaxOpen = 1 })
}
