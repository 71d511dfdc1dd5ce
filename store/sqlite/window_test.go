package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/sqlite"
	"github.com/sayso-dev/sayso/store/storetest"
)

// What a log keeps in memory is the end of the log only until somebody else
// commits, of which nothing tells but the database.
func TestWindow_othersCommit(t *testing.T) {
	path := place(t)
	one, other := open(t, path, nil), open(t, path, nil)
	m := storetest.NewMaker(1)
	var want []sayso.Event
	for range 3 {
		id, asked := m.Request(storetest.Wish{})
		stream := sayso.RequestStream(id)
		request := add(t, one, asked)
		if !one.Keeps(t, stream) {
			t.Error("what was just written is not kept")
		}
		same(t, "a stream that is kept", read(t, one, stream), request)
		request = append(request, add(t, other, m.Answer(id, 1, sayso.Deny, ""))...)
		if one.Keeps(t, stream) {
			t.Error("what was kept is taken for the end of the log, which it is not")
		}
		same(t, "a stream that another made longer", read(t, one, stream), request)
		want = append(want, request...)
		same(t, "the log that another made longer", all(t, one), want)
	}
	if other.Keeps(t, want[len(want)-1].Stream) {
		t.Error("a stream is kept of which another wrote the beginning")
	}
}

// A process that had a failure has nothing in memory that it takes for the log:
// others commit, and who waits here hears of it.
func TestWindow_afterAFailure(t *testing.T) {
	path := place(t)
	one := open(t, path, &sqlite.Options{Poll: 50 * time.Millisecond})
	other := open(t, path, nil)
	m := storetest.NewMaker(1)
	id, asked := m.Request(storetest.Wish{})
	stream := sayso.RequestStream(id)
	add(t, one, asked)
	one.Limit(t, 0)
	var err error
	for range 100 {
		_, more := m.Request(storetest.Wish{})
		if _, err = one.Append(t.Context(), more); err != nil {
			break
		}
	}
	if err == nil {
		t.Fatal("the disk does not become full")
	}
	want := 1 + len(add(t, other, m.Answer(id, 1, sayso.Deny, "")))
	if _, err := one.Wait(t.Context(), stream, 1, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, one, stream); len(got) != want {
		t.Errorf("the stream has %d events after Wait, want %d", len(got), want)
	}
}

// What another process appended was published before somebody waits for it, and
// what this process wrote last says nothing of it.
func TestWait_findsWhatWasPublishedBefore(t *testing.T) {
	path := place(t)
	l, other := open(t, path, nil), open(t, path, nil)
	m := storetest.NewMaker(1)
	for range 5 {
		first, asked := m.Request(storetest.Wish{})
		add(t, l, asked)
		second, asked := m.Request(storetest.Wish{})
		add(t, l, asked)
		go func() {
			for l.Waiting() == 0 {
				runtime.Gosched()
			}
			_, err := other.Append(t.Context(), m.Answer(first, 1, sayso.Deny, ""))
			if _, then := other.Append(t.Context(), m.Answer(second, 1, sayso.Deny, "")); err != nil || then != nil {
				t.Error(err, then)
			}
		}()
		for _, id := range []sayso.ID{second, first} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			events, err := l.Wait(ctx, sayso.RequestStream(id), 1, time.Time{})
			cancel()
			if err != nil || len(events) == 0 {
				t.Fatalf("%d events, %v", len(events), err)
			}
		}
	}
}

// No file beside those of SQLite says whether others have committed: somebody
// could remove it, and other versions would not write it.
func TestWindow_hangsOnNoFile(t *testing.T) {
	path := place(t)
	add(t, open(t, path, nil), storetest.NewMaker(1).Note(sayso.BrokerStream, 0))
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	base := filepath.Base(path)
	if diff := cmp.Diff([]string{base, base + "-shm", base + "-wal"}, names); diff != "" {
		t.Errorf("the files of a log (-want +got):\n%s", diff)
	}
}

// read reads a stream.
func read(t *testing.T, l *sqlite.Log, stream string) []sayso.Event {
	t.Helper()
	events, err := l.Stream(t.Context(), stream, 0)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// erasure is the batch that erases a request of which after events are known.
func erasure(m *storetest.Maker, id sayso.ID, after int) sayso.Batch {
	b := m.Next(id, after, sayso.EventContentErased, sayso.ContentErased{Requests: []sayso.ID{id}})
	b.Erase = []sayso.ID{id}
	return b
}

// bare fails the test if events of the request have content.
func bare(t *testing.T, what string, events []sayso.Event) {
	t.Helper()
	if len(events) == 0 {
		t.Errorf("%s: there are no events", what)
	}
	for _, e := range events {
		if e.Content != nil || e.Salt != nil {
			t.Errorf("%s: event %d (%s) still has its content", what, e.Seq, e.Type)
		}
	}
}

func TestErase_fromMemory(t *testing.T) {
	for _, tt := range []struct {
		name  string
		other bool // erases, and not the log that wrote the content
		group bool // content and erasure are of one commit
	}{{"written before", false, false}, {"written in the same commit", false, true}, {"by another process", true, false}} {
		t.Run(tt.name, func(t *testing.T) {
			path := place(t)
			l := open(t, path, nil)
			by := l
			if tt.other {
				by = open(t, path, nil)
			}
			m := storetest.NewMaker(1)
			id, asked := m.Request(storetest.Wish{Command: "the-moon-is-a-harsh-mistress"})
			if tt.group {
				inOneCommit(t, l, asked, erasure(m, id, 1))
			} else {
				add(t, l, asked)
				add(t, by, erasure(m, id, 1))
			}
			for _, l := range []*sqlite.Log{l, by} {
				bare(t, "the stream", read(t, l, sayso.RequestStream(id)))
				bare(t, "the log", all(t, l))
			}
		})
	}
}

// inOneCommit appends batches in their order, in one commit.
func inOneCommit(t *testing.T, l *sqlite.Log, batches ...sayso.Batch) {
	t.Helper()
	release := l.Stall()
	before := l.Commits()
	done := make(chan error, len(batches))
	for i, b := range batches {
		go func() { _, err := l.Append(t.Context(), b); done <- err }() // ends when the writer goes on
		for l.Queued() != i+1 {
			<-time.After(time.Millisecond)
		}
	}
	release()
	for range batches {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if n := l.Commits() - before; n != 1 {
		t.Fatalf("there were %d commits", n)
	}
}

// Whoever is woken by the news that content was erased does not find it.
func TestErase_isDoneWhenItIsTold(t *testing.T) {
	l := open(t, place(t), nil)
	m := storetest.NewMaker(1)
	for range 50 {
		id, asked := m.Request(storetest.Wish{Command: "the-moon-is-a-harsh-mistress"})
		stream := sayso.RequestStream(id)
		add(t, l, asked)
		heard := make(chan []sayso.Event, 1)
		go func() { // ends when the stream grows
			events, err := l.Wait(t.Context(), stream, 1, time.Time{})
			if err == nil {
				var whole []sayso.Event
				whole, _ = l.Stream(t.Context(), stream, 0) // which are none on an error
				events = append(events, whole...)
			}
			heard <- events
		}()
		add(t, l, erasure(m, id, 1))
		bare(t, "what is read when woken", <-heard)
	}
}

// Who follows is handed what this process wrote while it waited. What others wrote
// and what was erased must be read.
func TestWaitSince_handsOver(t *testing.T) {
	path := place(t)
	l, other := open(t, path, nil), open(t, path, nil)
	m := storetest.NewMaker(1)
	first, asked := m.Request(storetest.Wish{Command: "the-moon-is-a-harsh-mistress"})
	add(t, l, asked)
	_, next := m.Request(storetest.Wish{})
	for _, tt := range []struct {
		name  string
		by    *sqlite.Log
		batch sayso.Batch
		hands bool
	}{
		{"a request", l, next, true},
		{"an answer", l, m.Answer(first, 1, sayso.Deny, ""), true},
		{"what another appended", other, m.Note(sayso.BrokerStream, 0), false},
		{"what came after that", l, m.Note(sayso.BrokerStream, 1), true},
		{"an erasure", l, erasure(m, first, 3), false},
	} {
		handed := make(chan []sayso.Event, 1)
		head, err := l.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() { // ends when the log grows
			events, err := l.WaitSince(t.Context(), head.Seq)
			if err != nil {
				t.Error(err)
			}
			handed <- events
		}()
		for l.Waiting() == 0 {
			runtime.Gosched()
		}
		wrote := add(t, tt.by, tt.batch)
		var want []sayso.Event
		if tt.hands {
			want = wrote
		}
		same(t, tt.name, <-handed, want)
	}
}
