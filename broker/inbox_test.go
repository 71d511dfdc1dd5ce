package broker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
)

func TestInbox_whoSeesWhat(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		mine := w.park("c1")
		_, err := w.b.Gate(program).Admit(t.Context(), sayso.Admission{Call: bash("p1", "make"), Patience: time.Second})
		wantErr(t, err, sayso.ErrPending)
		theirs := w.open()[1].ID
		foreign := agent
		foreign.Principal, foreign.Owner, foreign.Approvers = "foreign", "eve", nil
		c := bash("f1", "ls")
		c.Session = "s2"
		_, err = w.b.Gate(foreign).Admit(t.Context(), sayso.Admission{Call: c, Patience: time.Second})
		wantErr(t, err, sayso.ErrPending)
		for _, seer := range []struct {
			who     sayso.Actor
			sees    int
			content bool
		}{
			{dev, 2, true}, {ann, 2, true}, {viewer, 2, false}, {admin, 3, true}, {stranger, 1, true},
			{agent, 1, false}, {program, 1, false}, {foreign, 1, false}, {sayso.Actor{}, 0, false},
			{sayso.Actor{Principal: "all", Kind: sayso.PrincipalViewer, Approvers: []string{"*"}}, 3, false},
		} {
			in := w.b.Inbox(seer.who)
			rs, err := in.Requests(t.Context(), sayso.RowQuery{States: []sayso.State{sayso.StateParked}})
			if err != nil || len(rs) != seer.sees {
				t.Errorf("%s sees %d requests, %v, want %d", seer.who.Principal, len(rs), err, seer.sees)
			}
			for _, r := range rs {
				_, err := in.Content(t.Context(), r.ID)
				if (err == nil) != seer.content || err != nil && !errors.Is(err, sayso.ErrNotAllowed) {
					t.Errorf("%s reads the content: %v", seer.who.Principal, err)
				}
				if _, err := in.Life(t.Context(), r.ID); err != nil {
					t.Errorf("%s reads the life: %v", seer.who.Principal, err)
				}
			}
		}
		for _, who := range []sayso.Actor{stranger, foreign, {}} {
			in := w.b.Inbox(who)
			_, err := in.Request(t.Context(), string(mine))
			wantErr(t, err, sayso.ErrNotAllowed)
			_, err = in.Content(t.Context(), theirs)
			wantErr(t, err, sayso.ErrNotAllowed)
			_, err = in.Life(t.Context(), theirs)
			wantErr(t, err, sayso.ErrNotAllowed)
		}
	})
}

func TestInbox_shortIDs(t *testing.T) {
	w := newHarness(t, always(sayso.Ask), func(w *harness) { w.opts.MaxOpen, w.opts.MaxAsks = 1<<20, 1<<20 })
	id := w.parkNow(t, 0)
	in := w.b.Inbox(dev)
	for _, typed := range []string{string(id), id.Short(), " " + id.Short() + "\n", string(id[10:20]), string(id[:20])} {
		if r, err := in.Request(t.Context(), typed); err != nil || r.ID != id {
			t.Errorf("%q: %v", typed, err)
		}
	}
	for typed, want := range map[string]error{
		"":                     sayso.ErrInvalid,
		string(id.Short()[:3]): sayso.ErrInvalid,
		"%%%%":                 sayso.ErrNotFound,
		"zzzzzzzz":             sayso.ErrNotFound,
	} {
		if _, err := in.Request(t.Context(), typed); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", typed, err, want)
		}
	}
	w.parkNow(t, 1)
	_, err := in.Request(t.Context(), string(id[:4])) // the time is no name
	wantErr(t, err, sayso.ErrConflict)
}

// parkNow parks a call at once, outside a bubble.
func (w *harness) parkNow(t *testing.T, n int) sayso.ID {
	t.Helper()
	_, err := w.admit(in("s1", n))
	var pending *sayso.PendingError
	if !errors.As(err, &pending) {
		t.Fatal(err)
	}
	return pending.Ticket
}

func TestFollow_goesOnAndResumes(t *testing.T) {
	w := newHarness(t, always(sayso.Ask))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := make(chan sayso.Event)
	done := make(chan error, 1)
	go func() {
		for e, err := range w.b.Inbox(dev).Follow(ctx, 0, sayso.EventQuery{}) {
			if err != nil {
				done <- err
				return
			}
			seen <- e
		}
	}()
	var last sayso.Event
	next := func(want sayso.EventType) {
		t.Helper()
		if last = <-seen; last.Type != want {
			t.Fatalf("got %s, want %s", last.Type, want)
		}
	}
	id := w.parkNow(t, 0)
	next(sayso.EventSessionStarted)
	next(sayso.EventRequested)
	if r, err := sayso.RequestIn(&last); err != nil || r.ID != id {
		t.Errorf("the event holds %+v, %v", r, err)
	}
	if last.Content != nil || last.Salt != nil {
		t.Error("content came along")
	}
	next(sayso.EventParked)
	since := last.Seq
	w.answerAsOwner(id, sayso.Deny) // while it waits at the head
	next(sayso.EventAnswered)
	next(sayso.EventResolved)
	cancel()
	wantErr(t, <-done, context.Canceled)

	var got []sayso.EventType
	for e, err := range w.b.Inbox(dev).Follow(t.Context(), since, sayso.EventQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, e.Type); len(got) == 2 {
			break
		}
	}
	if fmt.Sprint(got) != "[approval.answered approval.resolved]" {
		t.Errorf("resumed with %v", got)
	}
}

func TestFollow_showsWhatOneMaySee(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.remember(atOnce("c1"))
		foreign := agent
		foreign.Principal, foreign.Owner, foreign.Approvers = "foreign", "eve", nil
		c := bash("f1", "ls")
		c.Session = "s2"
		w.askAs(t.Context(), foreign, sayso.Admission{Call: c}).isWaiting()
		if err := w.b.Inbox(admin).SetMode(t.Context(), "", sayso.ModeStrict, time.Hour); err != nil {
			t.Fatal(err)
		}
		head := w.allEvents()[len(w.allEvents())-1].Seq
		for who, want := range map[*sayso.Actor]map[string]int{
			&dev: {"s1": 6, "": 1}, &ann: {"s1": 6, "": 1}, &viewer: {"s1": 6, "": 1}, &stranger: {"s2": 2, "": 1},
			&admin: {"s1": 6, "s2": 2, "": 1}, &agent: {"s1": 4}, &foreign: {"s2": 1},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			got := map[string]int{}
			for e, err := range w.b.Inbox(*who).Follow(ctx, 0, sayso.EventQuery{}) {
				if err != nil {
					break
				}
				if got[e.SessionID]++; e.Seq > head {
					t.Fatal("beyond the head")
				}
			}
			cancel()
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s sees %v, want %v", who.Principal, got, want)
			}
		}
	})
}

// busyLog is a log in which others are always faster: it does something each time
// before it is read.
type busyLog struct {
	sayso.Log
	open, grants func()
}

func (l busyLog) Open(ctx context.Context, session string, limit int) ([][]sayso.Event, error) {
	l.open()
	return l.Log.Open(ctx, session, limit)
}

func (l busyLog) Grants(ctx context.Context, keys []sayso.Digest, session string, all bool) ([]string, error) {
	l.grants()
	return l.Log.Grants(ctx, keys, session, all)
}

// What was made after a broker looked at the clock and before it looked at the
// log is not from the future: it must be neither expired nor hidden.
func TestClock_isReadAfterTheLog(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		n := 0
		open := func() { pass(time.Second); n++; w.admit(in("s1", n)) }
		late, err := broker.New(busyLog{w.log.Join(), open, func() {}}, w.rules, &w.opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := late.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := w.count(sayso.EventExpired); n != 0 {
			t.Errorf("%d requests expired at birth", n)
		}
		rs, err := late.Inbox(dev).Requests(t.Context(), sayso.RowQuery{States: []sayso.State{sayso.StateParked}})
		if err != nil || len(rs) != n {
			t.Errorf("%d of %d requests are listed, %v", len(rs), n, err)
		}
	})
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.remember(atOnce("c1"))
		use := func() { pass(time.Second); w.allowed(atOnce("")) }
		late, err := broker.New(busyLog{w.log.Join(), func() {}, use}, w.rules, &w.opts)
		if err != nil {
			t.Fatal(err)
		}
		if gs, err := late.Inbox(dev).Grants(t.Context(), "", false); err != nil || len(gs) != 1 {
			t.Errorf("%d grants are listed, %v", len(gs), err)
		}
		if d, err := late.Gate(agent).Admit(t.Context(), atOnce("c2")); err != nil || !d.Redeemed {
			t.Errorf("the grant was not used: %+v, %v", d, err)
		}
		if err := late.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := w.count(sayso.EventGrantEnded); n != 0 {
			t.Error("the grant was ended")
		}
	})
}

func TestExplain_recordsNothing(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		v, err := w.b.Inbox(dev).Explain(t.Context(), push("").Call, sayso.Facts{})
		if err != nil || v.Effect != sayso.Ask || v.Policy != "v1" {
			t.Errorf("got %+v, %v", v, err)
		}
		_, err = w.b.Inbox(dev).Explain(t.Context(), sayso.Call{}, sayso.Facts{})
		wantErr(t, err, sayso.ErrInvalid)
		if len(w.allEvents()) != 0 {
			t.Error("something was recorded")
		}
	})
}
