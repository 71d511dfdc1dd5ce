package broker_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
)

// countedLog is a log whose counting can be held up and can fail.
type countedLog struct {
	sayso.Log
	mu     sync.Mutex // guards what follows
	counts int
	hold   chan struct{} // counting waits until it is closed; nil for not at all
	broken error
}

func (l *countedLog) Count(ctx context.Context, session string, since time.Time) (open, asked int, err error) {
	l.mu.Lock()
	l.counts++
	hold, err := l.hold, l.broken
	l.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if err != nil {
		return 0, 0, err
	}
	return l.Log.Count(ctx, session, since)
}

func (l *countedLog) set(hold chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hold, l.broken = hold, err
}

func counting(t *testing.T, w *harness) *countedLog {
	t.Helper()
	l := &countedLog{Log: w.log}
	b, err := broker.New(l, w.rules, &w.opts)
	if err != nil {
		t.Fatal(err)
	}
	w.b = b
	return l
}

// askedFor is an ask of session s1 that goes away at once when it is recorded.
func (w *harness) askedFor(ctx context.Context, n int) error {
	_, err := w.b.Gate(agent).Admit(ctx, in("s1", n))
	return err
}

func limits(open, asks int) func(*harness) {
	return func(w *harness) { w.opts.MaxOpen, w.opts.MaxAsks = open, asks }
}

// Many that come at once are counted by one of them.
func TestRoom_oneCountsForMany(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		l := counting(t, w)
		hold := make(chan struct{})
		l.set(hold, nil)
		results := make(chan error)
		for n := range 20 {
			go func() { results <- w.askedFor(t.Context(), n) }()
		}
		synctest.Wait()
		if l.counts != 1 {
			t.Errorf("%d count at once", l.counts)
		}
		close(hold)
		for range 20 {
			wantErr(t, <-results, sayso.ErrPending)
		}
		if l.counts > 3 {
			t.Errorf("they were counted %d times", l.counts)
		}
	}, limits(100, 100))
}

// Who waits for its turn may leave, and holds nobody up by that.
func TestRoom_whoLeavesTakesNoRoom(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		l := counting(t, w)
		hold := make(chan struct{})
		l.set(hold, nil)
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- w.askedFor(t.Context(), 1) }()
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		go func() { second <- w.askedFor(ctx, 2) }()
		synctest.Wait()
		leave()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("the one that left got %v", err)
		}
		close(hold)
		wantErr(t, <-first, sayso.ErrPending)
		wantErr(t, w.askedFor(t.Context(), 3), sayso.ErrPending)
		wantErr(t, w.askedFor(t.Context(), 4), sayso.ErrTooMany)
	}, limits(2, 100))
}

// Where it cannot be counted nobody is asked, and nothing is held up by that.
func TestRoom_whenItCannotBeCounted(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		l := counting(t, w)
		l.set(nil, errDisk)
		for range 3 {
			wantErr(t, w.askedFor(t.Context(), 1), errDisk)
		}
		if open := w.open(); len(open) != 0 {
			t.Errorf("%d are open", len(open))
		}
		l.set(nil, nil)
		wantErr(t, w.askedFor(t.Context(), 1), sayso.ErrPending)
	}, limits(1, 100))
}

// blockedLog is a log of which the first append waits and the next ones fail.
type blockedLog struct {
	sayso.Log
	mu    sync.Mutex // guards what follows
	held  chan struct{}
	fails int
}

func (l *blockedLog) Append(ctx context.Context, b sayso.Batch) ([]sayso.Event, error) {
	l.mu.Lock()
	first := l.held
	l.held = nil
	fails := first == nil && l.fails > 0
	if fails {
		l.fails--
	}
	l.mu.Unlock()
	if fails {
		return nil, errDisk
	}
	if first != nil {
		<-first
	}
	return l.Log.Append(ctx, b)
}

// An ask that could not be recorded gives its room back, while others are under
// way.
func TestRoom_whatIsNotRecordedTakesNone(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		goes := make(chan struct{})
		b, err := broker.New(&blockedLog{Log: w.log, held: goes, fails: 20}, w.rules, &w.opts)
		if err != nil {
			t.Fatal(err)
		}
		w.b = b
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // nothing else would end a wait for room
		defer cancel()
		first := make(chan error)
		go func() { first <- w.askedFor(ctx, 0) }()
		synctest.Wait()
		for n := range 20 {
			wantErr(t, w.askedFor(ctx, 1+n), errDisk)
		}
		for n := range 5 {
			wantErr(t, w.askedFor(ctx, 100+n), sayso.ErrPending)
		}
		close(goes)
		wantErr(t, <-first, sayso.ErrPending)
		wantErr(t, w.askedFor(ctx, 200), sayso.ErrTooMany)
	}, limits(6, 100))
}

// What another process asks shows after a while at the latest, and before that
// the two together overrun the limit by half of it at most.
func TestRoom_betweenProcesses(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		l := counting(t, w)
		wantErr(t, w.askedFor(t.Context(), 0), sayso.ErrPending)
		other, err := broker.New(w.log, w.rules, &w.opts)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		for n := range 19 {
			_, err := other.Gate(agent).Admit(t.Context(), in("s1", 100+n))
			wantErr(t, err, sayso.ErrPending)
		}
		over := 0
		for n := range 30 {
			if w.askedFor(t.Context(), 200+n); len(w.open()) > 20 {
				over = len(w.open()) - 20
			}
		}
		if over > 10 {
			t.Errorf("the limit of 20 was overrun by %d", over)
		}
		before := l.counts
		pass(11 * time.Second)
		wantErr(t, w.askedFor(t.Context(), 300), sayso.ErrTooMany)
		if l.counts == before {
			t.Error("it was not counted again")
		}
	}, limits(20, 1000))
}

// With room to spare it is not counted at each ask, and with none at each.
func TestRoom_isCountedSeldom(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		l := counting(t, w)
		for n := range 100 {
			wantErr(t, w.askedFor(t.Context(), n), sayso.ErrPending)
		}
		if l.counts > 10 {
			t.Errorf("100 asks were counted %d times", l.counts)
		}
		for n := range 10 {
			wantErr(t, w.askedFor(t.Context(), 100+n), sayso.ErrTooMany)
		}
		if err := w.b.Gate(agent).Withdraw(t.Context(), w.open()[0].ID, ""); err != nil {
			t.Fatal(err)
		}
		wantErr(t, w.askedFor(t.Context(), 200), sayso.ErrPending) // which shows at once
	}, limits(100, 10_000))
}

// One session does not stand before another.
func TestRoom_ofEachSession(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		for n := range 3 {
			session := fmt.Sprint("of ", n)
			for i, want := range []error{sayso.ErrPending, sayso.ErrTooMany} {
				_, err := w.admit(in(session, i))
				wantErr(t, err, want)
			}
		}
	}, limits(1, 100))
}
