package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/sqlite"
	"github.com/sayso-dev/sayso/store/storetest"
)

// later is after every event that a test made with n requests.
func later() time.Time { return storetest.Begin.AddDate(1, 0, 0) }

func archive(t *testing.T, l *sqlite.Log, before time.Time) sqlite.Archived {
	t.Helper()
	a, err := l.Archive(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestArchive_nothingCanBeTold(t *testing.T) {
	path := place(t)
	l := open(t, path, nil)
	m := lived(t, l, 60)
	events, before := all(t, l), rows(t, l)
	streams := map[string][]sayso.Event{}
	for _, e := range events {
		streams[e.Stream] = append(streams[e.Stream], e)
	}
	middle := events[len(events)/2].At.Wall
	first := archive(t, l, middle)
	if first.Segment != 1 || first.Moved == 0 {
		t.Fatalf("archived %+v", first)
	}
	second := archive(t, l, later())
	if second.Segment != 2 || second.Moved == 0 || int(second.Last) != len(events)-1 {
		t.Fatalf("archived %+v of %d events", second, len(events))
	}
	if third := archive(t, l, later()); third.Segment != 0 || third.Moved != 0 {
		t.Errorf("archived %+v when there was nothing to archive", third)
	}
	same(t, "the log", all(t, l), events)
	same(t, "the rows", rows(t, l), before)
	for name, want := range streams {
		for after := range len(want) {
			got, err := l.Stream(t.Context(), name, after)
			if err != nil {
				t.Fatal(err)
			}
			same(t, fmt.Sprintf("stream %s after %d", name, after), got, want[after:])
		}
	}
	for after := range len(events) {
		got, err := l.Since(t.Context(), sayso.Seq(after), 5)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("the log after %d", after), got, events[after:min(after+5, len(events))])
	}
	if r := sound(t, l); r.Segments != 2 || r.Events != len(events) {
		t.Errorf("verified %d events in %d segments", r.Events, r.Segments)
	}
	if err := l.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "the rows after rebuilding", rows(t, l), before)
	lived2(t, l, m)
	sound(t, l)
}

// lived2 adds to a log that was archived.
func lived2(t *testing.T, l *sqlite.Log, m *storetest.Maker) {
	id, asked := m.Request(storetest.Wish{})
	add(t, l, asked)
	add(t, l, m.Answer(id, 1, sayso.Deny, ""))
}

func TestArchive_aStreamGoesOn(t *testing.T) {
	path := place(t)
	l, other := open(t, path, nil), open(t, path, nil)
	m := storetest.NewMaker(1)
	id, asked := m.Request(storetest.Wish{})
	add(t, l, asked)
	add(t, other, m.Answer(id, 1, sayso.Deny, "")) // so that both know the stream
	add(t, l, m.Note(sayso.BrokerStream, 0))
	if a := archive(t, l, later()); a.Moved != 3 {
		t.Fatalf("archived %+v", a)
	}
	stale := m.Next(id, 0, sayso.EventAnswerRefused, sayso.AnswerRefused{Why: "decided"})
	for _, log := range []*sqlite.Log{l, other, open(t, path, nil)} {
		if _, err := log.Append(t.Context(), stale); err == nil {
			t.Fatal("an archived stream counted as empty")
		}
	}
	for i, log := range []*sqlite.Log{other, l} {
		add(t, log, m.Next(id, 3+i, sayso.EventAnswerRefused, sayso.AnswerRefused{Why: "decided"}))
	}
	if _, err := l.Append(t.Context(), m.Next(id, 5, sayso.EventExpired, sayso.Closed{})); err == nil {
		t.Error("an archived request was decided again")
	}
	if events, err := l.Wait(t.Context(), sayso.RequestStream(id), 3, time.Time{}); err != nil || len(events) != 2 {
		t.Errorf("waiting gave %d events, %v", len(events), err)
	}
	add(t, l, m.Note(sayso.BrokerStream, 1))
	if a := archive(t, l, later()); a.Moved != 2 {
		t.Errorf("archived %+v", a)
	}
	got, err := l.Stream(t.Context(), sayso.RequestStream(id), 0)
	if err != nil || len(got) != 5 {
		t.Fatalf("the stream has %d events, %v", len(got), err)
	}
	sound(t, l)
}

func TestArchive_erasesInSegments(t *testing.T) {
	l := open(t, place(t), nil)
	m := storetest.NewMaker(1)
	const secret = "the-moon-is-a-harsh-mistress"
	id, asked := m.Request(storetest.Wish{Command: secret})
	add(t, l, asked)
	add(t, l, m.Answer(id, 1, sayso.Deny, ""))
	add(t, l, m.Note(sayso.BrokerStream, 0))
	archive(t, l, later())
	erased := m.Next(id, 3, sayso.EventContentErased, sayso.ContentErased{Requests: []sayso.ID{id}})
	erased.Erase = []sayso.ID{id}
	add(t, l, erased)
	got, err := l.Stream(t.Context(), sayso.RequestStream(id), 0)
	if err != nil || len(got) != 4 {
		t.Fatalf("the stream has %d events, %v", len(got), err)
	}
	for _, e := range got {
		if e.Content != nil || e.Salt != nil {
			t.Errorf("event %d still has its content", e.Seq)
		}
	}
	sound(t, l)
	folder := filepath.Dir(pathOf(t, l))
	noneHolds(t, folder, secret)
}

func TestErase_leavesNoBytes(t *testing.T) {
	l := open(t, place(t), nil)
	m := storetest.NewMaker(1)
	const secret = "the-moon-is-a-harsh-mistress"
	id, asked := m.Request(storetest.Wish{Command: secret})
	add(t, l, asked)
	erased := m.Next(id, 1, sayso.EventContentErased, sayso.ContentErased{Requests: []sayso.ID{id}})
	erased.Erase = []sayso.ID{id}
	add(t, l, erased)
	noneHolds(t, filepath.Dir(pathOf(t, l)), secret)
}

// noneHolds fails the test if a file beneath folder contains text.
func noneHolds(t *testing.T, folder, text string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		held, err := holds(path, text)
		if held {
			t.Errorf("%s still holds %q", path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A process has just written to a request, and another archives it: no unique
// index sees its decision any more.
func TestArchive_byAnotherFreesNoDecision(t *testing.T) {
	path := place(t)
	l, other := open(t, path, nil), open(t, path, nil)
	m := storetest.NewMaker(1)
	id, asked := m.Request(storetest.Wish{})
	add(t, l, asked)
	add(t, l, m.Answer(id, 1, sayso.Deny, ""))
	add(t, l, m.Note(sayso.BrokerStream, 0))
	if a := archive(t, other, later()); a.Moved != 3 {
		t.Fatalf("archived %+v", a)
	}
	if _, err := l.Append(t.Context(), m.Next(id, 3, sayso.EventExpired, sayso.Closed{})); !errors.Is(err, sayso.ErrConflict) {
		t.Errorf("a request that is decided and archived was decided again: %v", err)
	}
	add(t, l, m.Next(id, 3, sayso.EventAnswerRefused, sayso.AnswerRefused{Why: "decided"}))
	sound(t, l)
}

// Somebody waits for a stream, and everything that it waits for is appended
// and archived by another process before this one looks.
// A stream that lies in a segment alone does not begin a second time, neither for
// the process that archived it nor for one that has it open all the while.
func TestArchive_beginsNothingAgain(t *testing.T) {
	path, m := place(t), storetest.NewMaker(3)
	l, other := open(t, path, nil), open(t, path, nil)
	id, asked := m.Request(storetest.Wish{})
	_, newest := m.Request(storetest.Wish{})
	add(t, l, asked)
	add(t, l, m.Answer(id, 1, sayso.Deny, ""))
	add(t, other, newest) // which finds nothing archived
	if a := archive(t, l, later()); a.Moved == 0 {
		t.Fatalf("archived %+v", a)
	}
	asked.Keys = nil // it is the stream that must not begin
	for name, log := range map[string]*sqlite.Log{"the one that archived": l, "another": other} {
		if _, err := log.Append(t.Context(), asked); !errors.Is(err, sayso.ErrConflict) {
			t.Errorf("%s: beginning an archived stream came to %v, want a conflict", name, err)
		}
	}
}

func TestArchive_wakesWhoWaitsForWhatIsArchivedAlready(t *testing.T) {
	sqlite.WithoutHints(t)
	path := place(t)
	waits := open(t, path, &sqlite.Options{Poll: 6 * time.Second}) // without hints it looks 20 times as often
	other := open(t, path, nil)
	m := storetest.NewMaker(1)
	for range 6 {
		id, asked := m.Request(storetest.Wish{})
		add(t, other, asked)
		woken := make(chan error, 1)
		go func() { // ends when the stream grows
			_, err := waits.Wait(t.Context(), sayso.RequestStream(id), 1, time.Time{})
			woken <- err
		}()
		for waits.Waiting() == 0 {
			runtime.Gosched()
		}
		<-time.After(20 * time.Millisecond) // the waiter looks at the stream before it sleeps
		add(t, other, m.Answer(id, 1, sayso.Deny, ""))
		_, next := m.Request(storetest.Wish{})
		add(t, other, next)
		archive(t, other, later())
		select {
		case err := <-woken:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("the waiter hangs")
		}
	}
}
