package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
)

func streamAfter(s *stage) {
	log := s.handle()
	for i := range 5 {
		s.append(log, s.Note("session/a", i))
		s.append(log, s.Note("session/b", i))
	}
	for after := range 7 {
		events := s.stream(log, "session/a", after)
		s.same("how many events follow", len(events), max(5-after, 0))
		for i, e := range events {
			s.same("stream and position", []any{e.Stream, e.Pos}, []any{"session/a", after + i + 1})
		}
	}
	for after := range 11 {
		events, err := log.Since(s.ctx, sayso.Seq(after), 3)
		s.check(err)
		s.same("how many events follow in the log", len(events), min(3, 10-after))
	}
	events, err := log.Since(s.ctx, 0, 0)
	s.check(err)
	s.same("how many events there are without a limit", len(events), 10)
}

func emptyStream(s *stage) {
	log := s.handle()
	s.append(log, s.Note("session/a", 0))
	for _, name := range []string{"session/", "session/A", "session/a ", "session/%", "request/none", ""} {
		if events := s.stream(log, name, 0); len(events) != 0 {
			s.Errorf("stream %q has %d events", name, len(events))
		}
	}
}

func emptyHead(s *stage) {
	log := s.handle()
	s.same("the head", s.head(log), sayso.Head{})
	s.same("the log", s.all(log), []sayso.Event(nil))
	open, err := log.Open(s.ctx, "", 0)
	s.check(err)
	s.same("open requests", len(open), 0)
}

// verify walks the chain from its beginning and returns where it ends.
func (s *stage) verify(events []sayso.Event) sayso.Head {
	s.Helper()
	var head sayso.Head
	for i := range events {
		var err error
		head, err = events[i].Verify(head)
		s.check(err)
	}
	return head
}

func chainLinks(s *stage) {
	handles := []sayso.Log{s.handle(), s.handle()}
	for i := range 20 {
		id, b := s.Request(Wish{})
		s.append(handles[i%2], b)
		s.append(handles[(i+1)%2], s.Answer(id, 1, sayso.Allow, "yes"))
	}
	at(16, func(i int) {
		if _, err := handles[i%2].Append(s.ctx, s.Note("broker", sayso.AnyLength)); err != nil {
			s.Error(err)
		}
	})
	events := s.all(handles[0])
	s.same("the length of the log", len(events), 76)
	s.same("the head", s.head(handles[1]), s.verify(events))
}

func seqsFollowCommits(s *stage) {
	handles := []sayso.Log{s.handle(), s.handle(), s.handle()}
	var last sayso.Seq
	for i := range 30 {
		events := s.append(handles[i%3], Join(s.Note(fmt.Sprint("session/", i), 0), s.Note("broker", i)))
		for _, e := range events {
			if e.Seq != last+1 {
				s.Fatalf("event %d was committed after %d", e.Seq, last)
			}
			last = e.Seq
		}
		s.same("the head in another handle", s.head(handles[(i+1)%3]).Seq, last)
	}
}

// The trap: a store that hands out numbers when asked, not when committed,
// lets a reader pass a number that comes to life later.
func nothingBehind(s *stage) {
	const writers, each = 8, 25
	handles := []sayso.Log{s.handle(), s.handle(), s.handle(), s.handle()}
	total := 0
	for w := range writers {
		for i := range each {
			total += 1 + (w+i)%3
		}
	}
	var all sync.WaitGroup
	read := make([][]sayso.Event, 3)
	for r := range read {
		all.Go(func() { read[r] = s.tail(handles[r], total, 1+r*5) })
	}
	at(writers, func(w int) {
		for i := range each {
			var batches []sayso.Batch
			for k := range 1 + (w+i)%3 {
				batches = append(batches, s.Note(fmt.Sprintf("session/%d-%d", w, k), sayso.AnyLength))
			}
			if _, err := handles[w%len(handles)].Append(s.ctx, Join(batches...)); err != nil {
				s.Errorf("writer %d: %v", w, err)
			}
		}
	})
	all.Wait()
	want := s.all(handles[0])
	s.verify(want)
	for r := range read {
		s.same(fmt.Sprintf("what reader %d saw", r), read[r], want)
	}
}

// tail follows the log until it has seen n events, limit at a time.
func (s *stage) tail(log sayso.Log, n, limit int) []sayso.Event {
	var seen []sayso.Event
	for len(seen) < n {
		events, err := log.WaitSince(s.ctx, sayso.Seq(len(seen)))
		if err != nil {
			s.Errorf("waiting behind %d: %v", len(seen), err)
			return seen
		}
		if len(events) == 0 {
			events, err = log.Since(s.ctx, sayso.Seq(len(seen)), limit)
		}
		if err != nil || len(events) == 0 {
			s.Errorf("the log grew behind %d, but reading gave %d events and %v", len(seen), len(events), err)
			return seen
		}
		for _, e := range events {
			if int(e.Seq) != len(seen)+1 {
				s.Errorf("event %d came after event %d", e.Seq, len(seen))
				return seen
			}
			seen = append(seen, e)
		}
	}
	return seen
}

func openedAgain(s *stage) {
	first := s.open(s.T)
	id, b := s.Request(Wish{})
	s.append(first, b)
	grant, g := s.Grant("session-1", id, sayso.HashOf("key"))
	s.append(first, g)
	want := s.all(first)
	head := s.head(first)
	s.check(first.Close())
	again := s.handle()
	if _, err := again.Head(s.ctx); errors.Is(err, sayso.ErrUnavailable) {
		s.Skip("the engine has one handle, which was closed")
	}
	s.same("the log", s.all(again), want)
	s.same("the head", s.head(again), head)
	s.conflict(again, b)
	open, err := again.Open(s.ctx, "", 0)
	s.check(err)
	s.same("open requests", open, [][]sayso.Event{want[:1]})
	grants, err := again.Grants(s.ctx, []sayso.Digest{sayso.HashOf("key")}, "", false)
	s.check(err)
	s.same("grants", grants, []string{sayso.GrantStream(grant)})
	s.append(again, s.Answer(id, 1, sayso.Deny, "no"))
}

func waitGrown(s *stage) {
	one, two := s.handle(), s.handle()
	s.append(one, s.Note("session/a", 0))
	s.append(one, s.Note("session/a", 1))
	for _, log := range []sayso.Log{one, two} {
		for after := range 2 {
			events, err := log.Wait(s.ctx, "session/a", after, time.Time{})
			s.check(err)
			s.same("what was waited for", events, s.stream(log, "session/a", after))
			_, err = log.WaitSince(s.ctx, sayso.Seq(after))
			s.check(err)
		}
	}
}

func waitOther(s *stage) {
	handles := []sayso.Log{s.handle(), s.handle()}
	for i := range 10 {
		var all sync.WaitGroup
		for _, log := range handles {
			all.Go(func() {
				events, err := log.Wait(s.ctx, "session/a", i, time.Time{})
				if err != nil || len(events) != 1 || events[0].Pos != i+1 {
					s.Errorf("waiting for event %d of the stream: %d events, %v", i+1, len(events), err)
				}
			})
			all.Go(func() {
				if _, err := log.WaitSince(s.ctx, sayso.Seq(i)); err != nil {
					s.Errorf("waiting for the log: %v", err)
				}
			})
		}
		s.append(handles[i%2], s.Note("session/a", i))
		all.Wait()
	}
}

func waitOwn(s *stage) {
	one, two := s.handle(), s.handle()
	const waiters = 200
	ctx, cancel := context.WithCancel(s.ctx)
	var all sync.WaitGroup
	for i := range waiters {
		log := []sayso.Log{one, two}[i%2]
		all.Go(func() {
			if _, err := log.Wait(ctx, fmt.Sprint("session/", i), 0, time.Time{}); !errors.Is(err, context.Canceled) {
				s.Errorf("the waiter for stream %d, which never grew, got %v", i, err)
			}
		})
	}
	for i := range 20 { // each waits for two more, and finds two more
		own := make(chan error, 1)
		go func() {
			events, err := one.Wait(s.ctx, "session/a", 2*i+1, time.Time{})
			if len(events) == 0 {
				err = errors.Join(err, fmt.Errorf("a waiter was through before there was event %d", 2*i+2))
			}
			own <- err
		}()
		s.append(one, s.Note("session/b", i))
		giveWay()
		s.append(two, s.Note("session/a", 2*i))
		s.append(one, s.Note("session/c", i))
		giveWay()
		s.append(two, s.Note("session/a", 2*i+1))
		s.check(<-own)
	}
	cancel()
	all.Wait()
}

// giveWay lets the other goroutines get as far as they can, most of the time.
func giveWay() {
	for range 100 {
		runtime.Gosched()
	}
}

func waitContext(s *stage) {
	log := s.handle()
	s.append(log, s.Note("session/a", 0))
	ended, cancel := context.WithCancel(s.ctx)
	waiting := make(chan error, 2)
	go func() {
		_, err := log.Wait(ended, "session/a", 1, time.Time{})
		waiting <- err
	}()
	go func() {
		_, err := log.WaitSince(ended, 1)
		waiting <- err
	}()
	cancel()
	for range 2 {
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			s.Errorf("got %v, want that the context was cancelled", err)
		}
	}
	late, cancel := context.WithTimeout(s.ctx, 1)
	defer cancel()
	if _, err := log.Wait(late, "session/a", 1, time.Time{}); !errors.Is(err, context.DeadlineExceeded) {
		s.Errorf("got %v, want that the deadline passed", err)
	}
	events, err := log.Wait(s.ctx, "session/a", 1, time.Now().Add(time.Millisecond))
	if s.check(err); len(events) > 0 {
		s.Errorf("got %d events of a stream that did not grow", len(events))
	}
	s.append(log, s.Note("session/a", 1))
	for _, until := range []time.Time{{}, time.Now(), time.Now().Add(time.Hour)} {
		events, err := log.Wait(s.ctx, "session/a", 1, until)
		if s.check(err); len(events) != 1 {
			s.Errorf("until %v: got %d events, want the one there is", until, len(events))
		}
	}
}

func closeReleases(s *stage) {
	log := s.handle()
	s.append(log, s.Note("session/a", 0))
	waiting := make(chan error, 2)
	go func() {
		_, err := log.Wait(s.ctx, "session/a", 1, time.Time{})
		waiting <- err
	}()
	go func() {
		_, err := log.WaitSince(s.ctx, 1)
		waiting <- err
	}()
	s.check(log.Close())
	for range 2 {
		if err := <-waiting; err == nil || s.ctx.Err() != nil {
			s.Errorf("a waiter of a closed handle got %v", err)
		}
	}
}

func closedRefuses(s *stage) {
	log := s.handle()
	s.append(log, s.Note("session/a", 0))
	s.check(log.Close())
	if _, err := log.Append(s.ctx, s.Note("session/a", 1)); err == nil || errors.Is(err, sayso.ErrConflict) {
		s.Errorf("appending gave %v, want an error that is no conflict", err)
	}
	if _, err := log.Stream(s.ctx, "session/a", 0); err == nil {
		s.Error("a closed handle reads")
	}
	if held, err := log.Held(s.ctx, "x"); err == nil || held {
		s.Errorf("a closed handle says held: %v, %v", held, err)
	}
}
