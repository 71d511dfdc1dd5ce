package sqlite_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/sqlite"
	"github.com/sayso-dev/sayso/store/storetest"
)

// together appends batches so that they are one group, in their order, and
// returns the error of each.
func together(t *testing.T, l *sqlite.Log, batches []sayso.Batch) []error {
	t.Helper()
	errs := make([]error, len(batches))
	release := l.Stall()
	var all sync.WaitGroup
	for i, b := range batches {
		all.Go(func() { _, errs[i] = l.Append(t.Context(), b) })
		queued(l, i+1)
	}
	before := l.Commits()
	release()
	all.Wait()
	if n := l.Commits() - before; n > 1 {
		t.Errorf("%d batches took %d commits", len(batches), n)
	}
	return errs
}

// queued waits until n batches wait for the writer.
func queued(l *sqlite.Log, n int) {
	for l.Queued() < n {
		runtime.Gosched()
	}
}

func TestGroup_eachIsJudgedAlone(t *testing.T) {
	l := open(t, place(t), nil)
	m := storetest.NewMaker(1)
	first, asked := m.Request(storetest.Wish{CallID: "first"})
	_, twin := m.Request(storetest.Wish{CallID: "first"})
	_, other := m.Request(storetest.Wish{})
	_, late := m.Request(storetest.Wish{}) // its second key is taken
	late.Keys = append(late.Keys, asked.Keys[0])
	garbled := m.Next(first, 3, sayso.EventTaken, sayso.Taken{})
	garbled.Events[0].Payload = sayso.Args(`{"holder":7}`)
	again := m.Next(first, 4, sayso.EventExpired, sayso.Closed{}) // the index refuses it
	steps := []struct {
		name  string
		batch sayso.Batch
		want  error
	}{
		{"asks", asked, nil},
		{"asks with a key of the same group", twin, sayso.ErrConflict},
		{"asks", other, nil},
		{"conflicts after its first write", late, sayso.ErrConflict},
		{"answers what the same group asked", m.Answer(first, 1, sayso.Allow, ""), nil},
		{"expects too few events", m.Answer(first, 1, sayso.Deny, ""), sayso.ErrConflict},
		{"cannot be understood", garbled, sayso.ErrInvalid},
		{"redeems", m.Next(first, 3, sayso.EventRedeemed, sayso.Redeemed{}), nil},
		{"decides again", again, sayso.ErrConflict},
		{"goes on", m.Next(first, 4, sayso.EventFinished, sayso.Finished{}), nil},
	}
	var batches []sayso.Batch
	for _, s := range steps {
		batches = append(batches, s.batch)
	}
	for i, err := range together(t, l, batches) {
		if !errors.Is(err, steps[i].want) {
			t.Errorf("the batch that %s came to %v, want %v", steps[i].name, err, steps[i].want)
		}
	}
	if n := len(all(t, l)); n != 6 {
		t.Errorf("%d events were added, want 6", n)
	}
	sound(t, l)
}

func TestGroup_isOneCommit(t *testing.T) {
	path := place(t)
	l := open(t, path, nil)
	m := storetest.NewMaker(1)
	var batches []sayso.Batch
	for range 100 {
		_, asked := m.Request(storetest.Wish{})
		batches = append(batches, asked)
	}
	for _, err := range together(t, l, batches) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := len(all(t, l)); n != 100 {
		t.Errorf("%d events were added", n)
	}
}

// TestGroup_failsTogether fills the disk under a group: nobody is told anything
// but that, not even the one who conflicts with another of the group.
func TestGroup_failsTogether(t *testing.T) {
	l := open(t, place(t), nil)
	m := storetest.NewMaker(1)
	_, asked := m.Request(storetest.Wish{CallID: "first"})
	_, twin := m.Request(storetest.Wish{CallID: "first"})
	_, large := m.Request(storetest.Wish{Command: strings.Repeat("x", 1<<20)})
	l.Limit(t, 20)
	for i, err := range together(t, l, []sayso.Batch{asked, twin, large}) {
		if !errors.Is(err, sayso.ErrUnavailable) {
			t.Errorf("batch %d came to %v", i, err)
		}
	}
	if n := len(all(t, l)); n != 0 {
		t.Errorf("%d events were added", n)
	}
	l.Limit(t, -1)
	for i, err := range together(t, l, []sayso.Batch{asked, twin, large}) {
		if want := []error{nil, sayso.ErrConflict, nil}[i]; !errors.Is(err, want) {
			t.Errorf("batch %d came to %v, want %v", i, err, want)
		}
	}
	sound(t, l)
}

func TestAppend_endsWithItsContext(t *testing.T) {
	l := open(t, place(t), nil)
	m := storetest.NewMaker(1)
	release := l.Stall()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	_, asked := m.Request(storetest.Wish{})
	go func() {
		_, err := l.Append(ctx, asked)
		ended <- err
	}()
	queued(l, 1)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Append says %v", err)
	}
	release()
	add(t, l, m.Note(sayso.BrokerStream, 0))
	if n := len(all(t, l)); n != 1 {
		t.Errorf("%d events were added", n)
	}
}

func TestClose_finishesWhatWasBegun(t *testing.T) {
	path := place(t)
	l, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := storetest.NewMaker(1)
	release := l.Stall()
	var appends sync.WaitGroup
	for i := range 10 {
		_, asked := m.Request(storetest.Wish{})
		appends.Go(func() {
			if _, err := l.Append(t.Context(), asked); err != nil {
				t.Errorf("an append that was begun says %v", err)
			}
		})
		queued(l, i+1)
	}
	closed := make(chan error, 1)
	go func() { closed <- l.Close() }()
	release()
	appends.Wait()
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	if n := len(all(t, open(t, path, nil))); n != 10 {
		t.Errorf("%d events were added", n)
	}
}

var waiters = flag.Int("waiters", 2000, "goroutines that wait at once, each for its own stream")

// TestWait_many has very many wait, each for its own stream, and wakes them
// all.
func TestWait_many(t *testing.T) {
	n := *waiters / 1000 * 1000
	path := place(t)
	l := open(t, path, nil)
	var waits sync.WaitGroup
	woken := make(chan int, n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range n {
		waits.Go(func() {
			if _, err := l.Wait(t.Context(), fmt.Sprint("session/", i), 0, time.Time{}); err != nil {
				t.Error(err)
			}
			woken <- i
		})
	}
	for l.Waiting() < n {
		runtime.Gosched()
	}
	runtime.ReadMemStats(&after)
	each := (after.HeapInuse + after.StackInuse - before.HeapInuse - before.StackInuse) / uint64(n)
	if each > 10<<10 {
		t.Errorf("a waiter takes %d bytes", each)
	}
	m := storetest.NewMaker(1)
	var parts []sayso.Batch
	for i := range n {
		parts = append(parts, m.Note(fmt.Sprint("session/", i), 0))
		if len(parts) == 1000 {
			add(t, l, storetest.Join(parts...))
			parts = parts[:0]
		}
	}
	waits.Wait()
	if l.Waiting() != 0 {
		t.Errorf("%d are still registered", l.Waiting())
	}
	t.Logf("a waiter takes %d bytes", each)
}

// TestWatch_isLazy keeps processes that never wait from paying for watching.
func TestWatch_isLazy(t *testing.T) {
	l := open(t, place(t), nil)
	lived(t, l, 3)
	all(t, l)
	if l.Watched() {
		t.Error("something is watched though nobody waits")
	}
	if _, err := l.WaitSince(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
}

// A stream that a request begins is not looked up first. If it is there, from
// before the log was opened, the batch fails alone and leaves nothing behind.
func TestGroup_beginsAgain(t *testing.T) {
	path, m := place(t), storetest.NewMaker(1)
	_, asked := m.Request(storetest.Wish{CallID: "first"})
	func() {
		l, err := sqlite.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if _, err := l.Append(t.Context(), asked); err != nil {
			t.Fatal(err)
		}
	}()
	l := open(t, path, nil)
	_, other := m.Request(storetest.Wish{CallID: "other"})
	again := asked
	again.Keys = []sayso.Key{{Name: "another name", Stream: asked.Keys[0].Stream}}
	_, heir := m.Request(storetest.Wish{CallID: "heir"})
	heir.Keys = []sayso.Key{{Name: "another name", Stream: heir.Events[0].Stream}}
	errs := together(t, l, []sayso.Batch{other, again, heir})
	if errs[0] != nil || !errors.Is(errs[1], sayso.ErrConflict) || errs[2] != nil {
		t.Errorf("the batches came to %v, want a conflict of the second alone", errs)
	}
	if events, err := l.Stream(t.Context(), asked.Events[0].Stream, 0); err != nil || len(events) != 1 {
		t.Errorf("the stream has %d events, %v", len(events), err)
	}
}

// A commit is told of once, with how many appends it took; one that did not
// happen is not.
func TestTellCommits(t *testing.T) {
	l := open(t, place(t), nil)
	m := storetest.NewMaker(1)
	var told []int
	l.TellCommits(func(appends int, took time.Duration) {
		if took <= 0 {
			t.Errorf("a commit took %v", took)
		}
		told = append(told, appends) // the next commit waits for this one
	})
	_, twice := m.Request(storetest.Wish{CallID: "a"})
	_, other := m.Request(storetest.Wish{})
	_, third := m.Request(storetest.Wish{})
	if _, err := l.Append(t.Context(), twice); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), twice); !errors.Is(err, sayso.ErrConflict) {
		t.Fatal(err)
	}
	for _, err := range together(t, l, []sayso.Batch{other, third}) {
		if err != nil {
			t.Error(err)
		}
	}
	if want := []int{1, 2}; !slices.Equal(told, want) {
		t.Errorf("told of commits of %v appends, want %v", told, want)
	}
}
