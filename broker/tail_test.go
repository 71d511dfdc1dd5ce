package broker_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
)

// readCountingLog is a log that counts how the end of it is read, and can fail.
type readCountingLog struct {
	sayso.Log
	mu      sync.Mutex // guards what follows
	since   int        // times that events were read
	waiting int        // readers that wait for more
	broken  error
}

func (l *readCountingLog) Since(ctx context.Context, after sayso.Seq, limit int) ([]sayso.Event, error) {
	l.mu.Lock()
	l.since++
	err := l.broken
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return l.Log.Since(ctx, after, limit)
}

func (l *readCountingLog) WaitSince(ctx context.Context, after sayso.Seq) ([]sayso.Event, error) {
	l.count(1)
	defer l.count(-1)
	return l.Log.WaitSince(ctx, after)
}

func (l *readCountingLog) count(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting += n
}

func (l *readCountingLog) seen() (since, waiting int) {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.since, l.waiting
}

func (l *readCountingLog) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = err
}

// reading puts a counted log between the harness's broker and its log.
func reading(t *testing.T, w *harness) *readCountingLog {
	t.Helper()
	l := &readCountingLog{Log: w.log}
	b, err := broker.New(l, w.rules, &w.opts)
	if err != nil {
		t.Fatal(err)
	}
	w.b = b
	return l
}

// logFollower is somebody who follows the log.
type logFollower struct {
	t    *testing.T
	stop context.CancelFunc
	done chan error
	turn chan struct{} // taken before each event; closed for one that never stops
	mu   sync.Mutex    // guards seen
	seen []sayso.Event
}

// follow begins to follow behind a position. Who has a turn to take shows one
// event for each.
func (w *harness) follow(since sayso.Seq, turn chan struct{}) *logFollower {
	ctx, stop := context.WithCancel(w.t.Context())
	f := &logFollower{t: w.t, stop: stop, done: make(chan error, 1), turn: turn}
	in := w.b.Inbox(admin)
	go func() { // ends with its context, or with the log
		var end error
		defer func() { f.done <- end }() // once nothing of it is left
		for e, err := range in.Follow(ctx, since, sayso.EventQuery{}) {
			if end = err; err != nil {
				return
			}
			f.mu.Lock()
			f.seen = append(f.seen, e)
			f.mu.Unlock()
			select {
			case <-turn:
			case <-ctx.Done():
			}
		}
	}()
	synctest.Wait()
	return f
}

// quick is the turn of one that stops at nothing.
func quick() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func (f *logFollower) leaves() {
	f.t.Helper()
	f.stop()
	if err := <-f.done; !errors.Is(err, context.Canceled) {
		f.t.Errorf("it ended with %v", err)
	}
}

// saw fails the test unless what was seen are these events, each once and in
// order.
func (f *logFollower) saw(first, last sayso.Seq) {
	f.t.Helper()
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := sayso.Seq(len(f.seen)); n != last+1-first {
		f.t.Fatalf("it saw %d events, want %d", n, last+1-first)
	}
	for i, e := range f.seen {
		if e.Seq != first+sayso.Seq(i) {
			f.t.Fatalf("event %d came where %d belongs", e.Seq, first+sayso.Seq(i))
		}
	}
}

// grow adds events to the log, one commit each.
func (w *harness) grow(n int) {
	w.t.Helper()
	for range n {
		if err := w.b.Switched(w.t.Context(), admin, sayso.SwitchLocked, 0); err != nil {
			w.t.Fatal(err)
		}
	}
}

// However many follow, the log is read once, for as long as somebody does.
func TestFollow_manyShareOneReading(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		l := reading(t, w)
		w.grow(3)
		var all []*logFollower
		for i := range 40 {
			all = append(all, w.follow(sayso.Seq(i%4), quick()))
		}
		if _, waiting := l.seen(); waiting != 1 {
			t.Fatalf("%d wait for the log to grow", waiting)
		}
		before, _ := l.seen()
		for range 10 {
			w.grow(1)
			synctest.Wait()
		}
		if since, _ := l.seen(); since-before > 10 {
			t.Errorf("ten events were read %d times", since-before)
		}
		for i, f := range all {
			f.saw(sayso.Seq(i%4)+1, 13)
		}
		for _, f := range all[1:] {
			f.leaves()
		}
		if _, waiting := l.seen(); waiting != 1 {
			t.Errorf("%d wait for the log to grow, and one follows", waiting)
		}
		w.grow(1)
		all[0].saw(1, 14)
		all[0].leaves()
		if _, waiting := l.seen(); waiting != 0 {
			t.Errorf("%d wait for the log to grow, and nobody follows", waiting)
		}
		w.grow(2) // which nobody reads
		late := w.follow(13, quick())
		w.grow(1)
		late.saw(14, 17)
		late.leaves()
	})
}

// Who falls further behind than is remembered misses nothing.
func TestFollow_theSlowMissNothing(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		turn := make(chan struct{})
		fast, slow := w.follow(0, quick()), w.follow(0, turn)
		w.grow(10)
		synctest.Wait() // the slow one stands at its first event
		w.grow(2000)
		fast.saw(1, 2010)
		slow.saw(1, 1)
		for range 300 {
			turn <- struct{}{}
		}
		slow.saw(1, 301)
		w.grow(100) // while it is still behind
		close(turn)
		slow.saw(1, 2110)
		w.grow(1)
		slow.saw(1, 2111)
		fast.saw(1, 2111)
		slow.leaves()
		fast.leaves()
	})
}

// One that begins where the log has not come to yet waits until it has.
func TestFollow_behindTheEnd(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.grow(1)
		first, later := w.follow(1, quick()), w.follow(5, quick())
		w.grow(6)
		first.saw(2, 7)
		later.saw(6, 7)
		first.leaves()
		later.leaves()
	})
}

// An error of the log ends all who follow, and none who follow after it.
func TestFollow_whenTheLogFails(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		l := reading(t, w)
		a, b := w.follow(0, quick()), w.follow(0, quick())
		w.grow(1)
		a.saw(1, 1)
		l.fail(errDisk)
		w.grow(1)
		for _, f := range []*logFollower{a, b} {
			if err := <-f.done; !errors.Is(err, errDisk) {
				t.Errorf("it ended with %v", err)
			}
			f.stop()
		}
		l.fail(nil)
		c := w.follow(0, quick())
		w.grow(1)
		c.saw(1, 3)
		c.leaves()
		if _, waiting := l.seen(); waiting != 0 {
			t.Errorf("%d wait for the log to grow, and nobody follows", waiting)
		}
	})
}

// Content that was erased before somebody came to it is not shown to them,
// though others have seen it and the process remembers what they saw.
func TestFollow_showsNothingErased(t *testing.T) {
	const secret = "not on a friday"
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		id := w.park("c1")
		r := w.request(id)
		head := w.allEvents()[len(w.allEvents())-1].Seq
		turn := make(chan struct{})
		fast, slow := w.follow(head, quick()), w.follow(head, turn)
		w.grow(1)
		synctest.Wait() // the slow one stands here
		a := answer(r, sayso.Deny)
		a.Note = secret
		if _, err := w.answer(dev, id, a); err != nil {
			t.Fatal(err)
		}
		fast.saw(head+1, head+3)
		pass(time.Hour)
		w.sweep()
		synctest.Wait()
		close(turn)
		synctest.Wait()
		told := func(f *logFollower) (n int) {
			for _, e := range f.seen {
				n += strings.Count(string(e.Payload), secret)
			}
			return n
		}
		if told(fast) == 0 {
			t.Fatal("the note is nowhere to be seen at first")
		}
		if n := told(slow); n != 0 || len(slow.seen) < 3 {
			t.Errorf("of %d events %d show what was erased", len(slow.seen), n)
		}
		slow.leaves()
		fast.leaves()
	}, keeping(time.Minute))
}
