package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sayso-dev/sayso"
)

// chain makes events of three streams behind a head.
func chain(head sayso.Head, n int) []sayso.Event {
	events := make([]sayso.Event, n)
	for i := range events {
		at := head.Seq + sayso.Seq(i)
		events[i] = sayso.Event{Seq: at + 1, Pos: int(at/3) + 1, Stream: fmt.Sprint(at % 3), Hash: sayso.HashOf("test", fmt.Append(nil, at))}
	}
	return events
}

func end(events []sayso.Event) sayso.Head {
	last := events[len(events)-1]
	return sayso.Head{Seq: last.Seq, Hash: last.Hash}
}

// However far the ring has come, it gives the newest events in order, each
// stream's among them, and takes no memory for what it does not hold.
func TestWindow_ring(t *testing.T) {
	w := newWindow()
	var head sayso.Head
	for _, n := range []int{1, 63, 1, 500, 2000, 3, 2500} {
		events := chain(head, n)
		w.add(head.Seq, events)
		head = end(events)
		held := min(int(head.Seq), windowEvents)
		if !w.has(head) || len(w.events) > 2*max(held, windowInitial) {
			t.Fatalf("after %d events: has its end: %v; a ring of %d", head.Seq, w.has(head), len(w.events))
		}
		from := head.Seq - sayso.Seq(held)
		got, ok := w.since(from, 0)
		if !ok || len(got) != held {
			t.Fatalf("%d events since %d, %v; want %d", len(got), from, ok, held)
		}
		for i, e := range got {
			if e.Seq != from+1+sayso.Seq(i) {
				t.Fatalf("event %d in place of %d", e.Seq, from+1+sayso.Seq(i))
			}
		}
		if _, ok := w.since(from-1, 0); ok && from > 0 {
			t.Error("it gives what it has not")
		}
		last := got[len(got)-1]
		if of, ok := w.stream(last.Stream, last.Pos-1); !ok || len(of) != 1 || of[0].Seq != last.Seq {
			t.Errorf("the end of stream %s is %v, %v", last.Stream, of, ok)
		}
		if _, ok := w.stream(last.Stream, 0); ok != (head.Seq <= windowEvents) {
			t.Errorf("has all of a stream after %d events: %v", head.Seq, ok)
		}
	}
}

// Where others write in turn, what lies before the gap goes, and nothing of it is
// found under a number that it shares.
func TestWindow_gap(t *testing.T) {
	w := newWindow()
	first := chain(sayso.Head{}, 100)
	w.add(0, first)
	behind := sayso.Head{Seq: 150}
	w.add(behind.Seq, chain(behind, 1))
	if _, ok := w.since(99, 0); ok || w.has(end(first)) || w.bytes != 0 || len(w.newest) != 1 {
		t.Errorf("it still holds what came before the gap: %d streams", len(w.newest))
	}
	if got, ok := w.since(150, 0); !ok || len(got) != 1 || got[0].Seq != 151 {
		t.Errorf("behind the gap: %v, %v", got, ok)
	}
	w.reset()
	if w.has(sayso.Head{Seq: 151, Hash: chain(behind, 1)[0].Hash}) || w.has(sayso.Head{}) || len(w.newest) != 0 {
		t.Error("it holds something after a reset")
	}
	for i := range w.events {
		if w.events[i].event.Seq != 0 {
			t.Fatalf("event %d is kept in memory", w.events[i].event.Seq)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		behind.Seq += 2
		w.add(behind.Seq, first[:0])
		w.resetTo(behind.Seq)
	}); n > 0 {
		t.Errorf("a gap takes %v allocations", n)
	}
}

// Where the log ends with another event of that number, the window is not of
// this log: the file was exchanged for another, or put back.
func TestWindow_otherEvent(t *testing.T) {
	w := newWindow()
	events := chain(sayso.Head{}, 3)
	w.add(0, events)
	if h := end(events); !w.has(h) || w.has(sayso.Head{Seq: h.Seq, Hash: sayso.HashOf("another")}) {
		t.Error("the window does not tell its newest event from another of its number")
	}
}

// What the writer knows of streams is of the log that ends as it knew it.
func TestLedger_otherEvent(t *testing.T) {
	l, err := Open(t.Context(), filepath.Join(t.TempDir(), "log", "x.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	begin := func(s *writerState) (knows bool) {
		t.Helper()
		if err := l.writer.exec(s.begin); err != nil {
			t.Fatal(err)
		}
		return len(s.streams) == 1 && len(s.withoutGrants) == 1
	}
	learn := func(s *writerState) { s.streams["x"], s.withoutGrants["y"] = &streamState{}, true }
	for _, tt := range []struct {
		name   string
		change func(*writerState)
		knows  bool
	}{
		{"nothing changed", func(*writerState) {}, true},
		{"another event of that number", func(s *writerState) { s.head.Hash = sayso.HashOf("another") }, false},
		{"another number", func(s *writerState) { s.head.Seq++ }, false},
		{"others wrote", func(s *writerState) { s.dataVersion-- }, false},
	} {
		var s writerState
		begin(&s)
		learn(&s)
		tt.change(&s)
		if knows := begin(&s); knows != tt.knows {
			t.Errorf("%s: what it knew is kept: %v", tt.name, knows)
		}
	}
}
