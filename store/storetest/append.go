package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sayso-dev/sayso"
)

// at runs n goroutines at once and waits for them.
func at(n int, do func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() { <-start; do(i) })
	}
	close(start)
	all.Wait()
}

// won counts the appends that were taken; all others must be conflicts.
func (s *stage) won(n int, appended func(i int) error) int {
	var wins atomic.Int32
	at(n, func(i int) {
		switch err := appended(i); {
		case err == nil:
			wins.Add(1)
		case !errors.Is(err, sayso.ErrConflict):
			s.Errorf("a loser was told %v, want a conflict", err)
		}
	})
	return int(wins.Load())
}

func oneAppendWins(s *stage) {
	handles := []sayso.Log{s.handle(), s.handle(), s.handle()}
	for round := range 10 {
		id, b := s.Request(Wish{})
		s.append(handles[0], b)
		wins := s.won(8, func(i int) error {
			_, err := handles[i%3].Append(s.ctx, s.Answer(id, 1, sayso.Effect(i%2)*2, fmt.Sprint("by ", i)))
			return err
		})
		if wins != 1 {
			s.Errorf("round %d: %d answers were taken, want 1", round, wins)
		}
		if events := s.stream(handles[1], b.Events[0].Stream, 0); len(events) != 3 {
			s.Errorf("round %d: the stream has %d events, want the request, one answer and one decision", round, len(events))
		}
	}
}

func allOrNothing(s *stage) {
	one, two := s.handle(), s.handle()
	s.append(one, s.Note("session/a", 0))
	id, request := s.Request(Wish{})
	wrong := s.Note("session/a", 0)
	for name, b := range map[string]sayso.Batch{
		"the last stream is longer": Join(request, wrong),
		"the first stream is":       Join(wrong, request),
	} {
		s.conflict(one, b)
		s.same(name+": the stream", s.stream(two, sayso.RequestStream(id), 0), []sayso.Event(nil))
		if _, err := two.Lookup(s.ctx, request.Keys[0].Name); !errors.Is(err, sayso.ErrNotFound) {
			s.Errorf("%s: the key was taken all the same: %v", name, err)
		}
		rows, err := two.Rows(s.ctx, sayso.RowQuery{})
		s.check(err)
		s.same(name+": the rows", rows, []sayso.Row(nil))
	}
	both := s.append(one, Join(request, s.Note("session/a", 1)))
	s.same("the head", s.head(two).Seq, both[1].Seq)
}

func invalidBatches(s *stage) {
	log := s.handle()
	bare := s.Note("session/a", 0)
	unexpected := s.Note("session/a", 0)
	unexpected.Expect = map[string]int{"session/b": 0}
	nameless := s.Note("", 0)
	_, unsalted := s.Request(Wish{})
	unsalted.Events[0].Salt = nil
	bare.Events = nil
	for name, b := range map[string]sayso.Batch{
		"without events": bare, "of an unexpected stream": unexpected,
		"of no stream": nameless, "with content without salt": unsalted,
	} {
		if _, err := log.Append(s.ctx, b); !errors.Is(err, sayso.ErrInvalid) {
			s.Errorf("a batch %s: got %v, want that it is invalid", name, err)
		}
	}
	s.same("the head", s.head(log), sayso.Head{})
}

func conflictAddsNothing(s *stage) {
	one, two := s.handle(), s.handle()
	id, b := s.Request(Wish{})
	s.append(one, b)
	before := s.all(one)
	s.conflict(two, b)
	s.conflict(one, s.Answer(id, 0, sayso.Allow, "too early"))
	s.conflict(two, s.Answer(id, 2, sayso.Allow, "too late"))
	s.conflict(one, s.Note("session/never", 1))
	s.same("the log", s.all(two), before)
	s.append(two, s.Answer(id, 1, sayso.Allow, "in time"))
}

func anyLength(s *stage) {
	one, two := s.handle(), s.handle()
	at(16, func(i int) {
		log := one
		if i%2 == 0 {
			log = two
		}
		if _, err := log.Append(s.ctx, s.Note(sayso.BrokerStream, sayso.AnyLength)); err != nil {
			s.Errorf("append %d: %v", i, err)
		}
	})
	for i, e := range s.stream(one, sayso.BrokerStream, 0) {
		s.same("the position", e.Pos, i+1)
	}
	s.same("the head", s.head(two).Seq, sayso.Seq(16))
}

// A batch may depend on what it does not write: a decision on the grant that
// it was judged by.
func expectedOnly(s *stage) {
	one, two := s.handle(), s.handle()
	s.append(one, s.Note("grant/g", 0))
	b := s.Note("session/a", 0)
	b.Expect["grant/g"] = 2
	s.conflict(two, b)
	b.Expect["grant/g"] = 1
	s.append(two, b)
	s.same("the stream that was only expected", len(s.stream(one, "grant/g", 0)), 1)
}

// Engines commit many appends at once. One of them that is refused must not
// take the others with it, and one that depends on another sees it.
func conflictInGroup(s *stage) {
	handles := []sayso.Log{s.handle(), s.handle()}
	s.append(handles[0], s.Note("session/taken", 0))
	const n = 64
	var last atomic.Int64
	at(n, func(i int) {
		log := handles[i%len(handles)]
		if i%2 == 0 {
			events, err := log.Append(s.ctx, Join(s.Note(fmt.Sprint("session/", i), 0), s.Note("session/taken", 0)))
			if !errors.Is(err, sayso.ErrConflict) || events != nil {
				s.Errorf("append %d was to be refused and got %d events and %v", i, len(events), err)
			}
			return
		}
		events, err := log.Append(s.ctx, s.Note(fmt.Sprint("session/", i), 0))
		if err != nil {
			s.Errorf("append %d was refused with the others: %v", i, err)
			return
		}
		for old := last.Load(); old < int64(events[0].Seq) && !last.CompareAndSwap(old, int64(events[0].Seq)); {
			old = last.Load()
		}
	})
	s.same("the head", s.head(handles[0]).Seq, sayso.Seq(1+n/2))
	s.same("the highest seq returned", last.Load(), int64(1+n/2))
	for i := range n {
		s.same(fmt.Sprint("the length of stream ", i), len(s.stream(handles[1], fmt.Sprint("session/", i), 0)), i%2)
	}
}

func givenUp(s *stage) {
	one, two := s.handle(), s.handle()
	for i := range 40 {
		ctx, cancel := context.WithCancel(s.ctx)
		a, b := fmt.Sprint("session/a", i), fmt.Sprint("session/b", i)
		given := make(chan error, 1)
		go func() {
			_, err := one.Append(ctx, Join(s.Note(a, 0), s.Note(b, 0)))
			given <- err
		}()
		for range i {
			runtime.Gosched()
		}
		cancel()
		err := <-given
		s.append(two, s.Note("broker", i)) // after whatever one still had to do
		left := []int{len(s.stream(two, a, 0)), len(s.stream(two, b, 0))}
		if left[0] != left[1] || err == nil && left[0] != 1 {
			s.Errorf("append %d returned %v, and left %v events in its streams", i, err, left)
		}
	}
	s.same("the head", s.head(one), s.verify(s.all(two)))
}

func keyTakenOnce(s *stage) {
	one, two := s.handle(), s.handle()
	key := sayso.Key{Name: "hook\x00one\xff call", Stream: "request/one"}
	with := func(b sayso.Batch, keys ...sayso.Key) sayso.Batch { b.Keys = keys; return b }
	if _, err := one.Lookup(s.ctx, key.Name); !errors.Is(err, sayso.ErrNotFound) {
		s.Errorf("a key that nobody took: %v", err)
	}
	s.append(one, with(s.Note("session/a", 0), key))
	other := key
	other.Stream = "request/other"
	s.conflict(two, with(s.Note("session/a", 1), other))
	s.conflict(one, with(s.Note("session/a", 1), key))
	s.conflict(two, with(s.Note("session/a", 1), sayso.Key{Name: "twice", Stream: "x"}, sayso.Key{Name: "twice", Stream: "y"}))
	holder, err := two.Lookup(s.ctx, key.Name)
	s.check(err)
	s.same("who holds the key", holder, key.Stream)
	if _, err := two.Lookup(s.ctx, "twice"); !errors.Is(err, sayso.ErrNotFound) {
		s.Errorf("a key of a refused batch: %v", err)
	}
}

func absent(s *stage) {
	one, two := s.handle(), s.handle()
	again := func(session, command string, grants bool) sayso.Batch {
		id, b := s.Request(Wish{Session: session, Command: command})
		b.Absent = sayso.Absent{Session: session, Digest: s.digests[id], Grants: grants}
		return b
	}
	s.append(one, again("s", "ls", true))
	open, b := s.Request(Wish{Session: "s", Command: "pwd"})
	s.append(one, b)
	s.conflict(two, again("s", "pwd", false))
	s.append(two, again("t", "pwd", true))
	s.append(two, s.Answer(open, 1, sayso.Allow, ""))
	s.conflict(two, again("s", "pwd", false))
	s.append(two, s.Next(open, 3, sayso.EventRedeemed, sayso.Redeemed{}))
	s.append(one, again("s", "pwd", true))

	s.append(two, again("s", "tty", true))
	s.append(one, again("s", "who", true))
	id, granted := s.Grant("s", open, sayso.HashOf("key"))
	s.append(one, granted)
	s.conflict(one, again("s", "id", true))
	s.conflict(two, again("s", "id", true))
	s.append(two, again("s", "id", false))
	s.append(two, again("t", "id", true))
	s.append(one, sayso.Batch{
		Events: []sayso.Event{s.event(sayso.GrantStream(id), sayso.EventGrantRevoked, sayso.Closed{}, nil)},
		Expect: map[string]int{sayso.GrantStream(id): 1},
	})
	s.append(two, again("s", "date", true))
}

func absentOnce(s *stage) {
	handles := []sayso.Log{s.handle(), s.handle()}
	for range 10 {
		command := string(s.ID())
		wins := s.won(8, func(i int) error {
			id, b := s.Request(Wish{Command: command})
			s.mu.Lock()
			b.Absent = sayso.Absent{Session: b.Events[0].SessionID, Digest: s.digests[id]}
			s.mu.Unlock()
			_, err := handles[i%2].Append(s.ctx, b)
			return err
		})
		s.same("requests for one call that wait", wins, 1)
	}
}

func keyTakenOnceByMany(s *stage) {
	handles := []sayso.Log{s.handle(), s.handle()}
	for range 10 {
		call := string(s.ID())
		wins := s.won(8, func(i int) error {
			_, b := s.Request(Wish{CallID: call})
			_, err := handles[i%2].Append(s.ctx, b)
			return err
		})
		s.same("requests with one call id", wins, 1)
	}
}

// endings are all events that decide a request.
func (s *stage) endings(id sayso.ID, at int) []sayso.Batch {
	return []sayso.Batch{
		s.Next(id, at, sayso.EventResolved, sayso.Resolved{Effect: sayso.Allow, Source: sayso.SourcePerson}),
		s.Next(id, at, sayso.EventExpired, sayso.Closed{Reason: "nobody answered"}),
		s.Next(id, at, sayso.EventWithdrawn, sayso.Closed{Reason: "cancelled"}),
	}
}

func terminalOnce(s *stage) {
	one, two := s.handle(), s.handle()
	for first := range 3 {
		id, b := s.Request(Wish{})
		s.append(one, b)
		for _, second := range s.endings(id, sayso.AnyLength) {
			s.conflict(two, Join(s.endings(id, 1)[first], second))
		}
		s.append(two, s.endings(id, sayso.AnyLength)[first])
		for _, second := range s.endings(id, sayso.AnyLength) {
			s.conflict(one, second)
		}
	}
}

func spentOnce(s *stage) {
	one, two := s.handle(), s.handle()
	spend := func(id sayso.ID) []sayso.Batch {
		return []sayso.Batch{
			s.Next(id, sayso.AnyLength, sayso.EventRedeemed, sayso.Redeemed{Policy: "p1"}),
			s.Next(id, sayso.AnyLength, sayso.EventVoided, sayso.Closed{Reason: "lapsed"}),
		}
	}
	for first := range 2 {
		id, b := s.Request(Wish{})
		s.append(one, Join(b, s.Answer(id, 0, sayso.Allow, "")))
		for _, second := range spend(id) {
			s.conflict(two, Join(spend(id)[first], second))
		}
		s.append(one, spend(id)[first])
		for _, second := range spend(id) {
			s.conflict(two, second)
		}
	}
	id, b := s.Request(Wish{})
	s.append(one, Join(b, s.Answer(id, 0, sayso.Allow, "")))
	wins := s.won(8, func(i int) error {
		_, err := []sayso.Log{one, two}[i/2%2].Append(s.ctx, spend(id)[i%2])
		return err
	})
	s.same("spendings that were taken", wins, 1)
}

func readBack(s *stage) {
	one, two := s.handle(), s.handle()
	id, b := s.Request(Wish{Command: "printf '\\u0000 \u202e é 漢字 \U0001f600'", Deadline: time.Hour, Holder: "lease-1"})
	b.Events[0].At.Wall = b.Events[0].At.Wall.In(time.FixedZone("far", 9*3600)).Add(123456789)
	b.Events[0].Actor.Channel, b.Events[0].Version = "embedded", 3
	large := s.Note("session/large", 0)
	large.Events[0].Content = content(map[string]string{"text": string(slices.Repeat([]byte("0123456789abcdef"), 1<<16))}, nil, nil)
	large.Events[0].Salt = s.salt()
	large.Events[0].At.Boot, large.Events[0].At.Since = "", 0
	appended := s.append(one, Join(b, large))
	s.same("the length of another event", len(s.append(two, s.Next(id, 1, sayso.EventParked, sayso.Parked{Cause: sayso.ParkedLeft}))), 1)
	for i, e := range b.Events {
		got := appended[i]
		if got.At.Wall.Location() != time.UTC {
			s.Errorf("the time of event %d is in %v, want UTC", i, got.At.Wall.Location())
		}
		got.Seq, got.Pos, got.Hash, got.Prev, got.Commitment = 0, 0, sayso.Digest{}, sayso.Digest{}, sayso.Digest{}
		s.same("an event that came back from Append", got, e)
	}
	for _, log := range []sayso.Log{one, two} {
		s.same("the log", s.all(log)[:2], appended)
		s.same("the stream of the request", s.stream(log, appended[0].Stream, 0)[:1], appended[:1])
		s.same("the stream of the large event", s.stream(log, "session/large", 0), appended[1:])
		open, err := log.Open(s.ctx, "", 0)
		s.check(err)
		s.same("the open request", open[0][:1], appended[:1])
	}
}

func ownBytes(s *stage) {
	log := s.handle()
	_, b := s.Request(Wish{})
	spoil := func(events []sayso.Event) {
		for _, e := range events {
			for _, bytes := range [][]byte{e.Payload, e.Content, e.Salt} {
				for i := range bytes {
					bytes[i] = '#'
				}
			}
		}
	}
	appended := s.append(log, b)
	want := s.all(log)
	s.same("what Append returned", appended, want)
	want[0].Payload, want[0].Content, want[0].Salt = slices.Clone(want[0].Payload), slices.Clone(want[0].Content), slices.Clone(want[0].Salt)
	spoil(b.Events)
	spoil(appended)
	spoil(s.stream(log, want[0].Stream, 0))
	spoil(s.all(log))
	s.same("the log", s.all(log), want)
}
