// Package storetest is the contract of [sayso.Log] as a test that any engine
// runs. Engines share this contract and no code.
//
// An engine's test calls [Run] with a function that makes an empty store and
// returns how to open handles on it:
//
//	func TestPromises(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storetest.Opener {
//			path := filepath.Join(t.TempDir(), "log.db")
//			return func(t *testing.T) sayso.Log { return mustOpen(t, path) }
//		})
//	}
//
// Every handle stands for a process of its own: the suite writes through some
// and reads through others, at the same time. So an engine that remembers in a
// handle what it must read from the store fails, and so does one that lets a
// reader see a commit before one with a lower [sayso.Seq].
//
// [WakeUps] is the promise that no waiter is forgotten, for as many cycles as
// one has time for; within [Run], the flag -storetest.cycles says how many, and
// -storetest.seeds how many random histories are compared with a model. A [Maker] makes batches such as a broker appends, for
// engines' own tests and measurements.
package storetest

import (
	"context"
	"errors"
	"flag"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
)

// Opener opens a handle on one store, as another process would. The suite
// closes each handle it opened, some more than once. An engine that can only
// have one handle returns the same each time.
type Opener func(t *testing.T) sayso.Log

// patience is how long a promise may take to come true before it counts as
// broken. It is long, since a slow machine breaks no promise.
const patience = time.Minute

var (
	cycles = flag.Int("storetest.cycles", 400, "cycles of asking and answering that must lose no wake-up")
	seeds  = flag.Int("storetest.seeds", 3, "random histories that are compared with the model")
)

// Run tests every promise, each in a subtest on a store of its own that store
// makes empty.
func Run(t *testing.T, store func(t *testing.T) Opener) {
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) { p.test(newStage(t, store(t))) })
	}
	t.Run("no wake-up is lost", func(t *testing.T) { WakeUps(t, store(t), *cycles) })
	t.Run("a random history is what a model says", func(t *testing.T) {
		for seed := range *seeds {
			history(newStage(t, store(t)), uint64(seed))
		}
	})
}

// promise is one sentence and how to find out whether it is true.
type promise struct {
	name string
	test func(*stage)
}

var promises = []promise{
	{"one append wins", oneAppendWins},
	{"a batch is all or nothing", allOrNothing},
	{"a batch that no engine can keep is refused", invalidBatches},
	{"conflict adds nothing", conflictAddsNothing},
	{"any length takes streams as they are", anyLength},
	{"a stream is expected without being written", expectedOnly},
	{"what must be absent is", absent},
	{"what must be absent comes once", absentOnce},
	{"a conflict in a group fails only itself", conflictInGroup},
	{"an append that is given up is whole or not there", givenUp},
	{"a key is taken once", keyTakenOnce},
	{"a key is taken once by many", keyTakenOnceByMany},
	{"a terminal event comes once", terminalOnce},
	{"redeemed and voided exclude each other", spentOnce},
	{"returned events equal what is read back", readBack},
	{"nobody else's bytes are kept or given", ownBytes},
	{"a stream begins where it is asked to", streamAfter},
	{"a stream that nobody wrote is empty", emptyStream},
	{"an empty log has no head", emptyHead},
	{"the chain links every event", chainLinks},
	{"seqs follow commit order across handles", seqsFollowCommits},
	{"nothing appears behind a reader", nothingBehind},
	{"what was appended is there when the store is opened again", openedAgain},
	{"wait returns if it already grew", waitGrown},
	{"wait returns when another handle appends", waitOther},
	{"wait wakes only for its own stream", waitOwn},
	{"wait ends with its context", waitContext},
	{"closing releases waiters", closeReleases},
	{"a closed handle refuses", closedRefuses},
	{"open lists open requests oldest first and forgets decided ones", openList},
	{"open is limited and by session", openLimited},
	{"rows follow their requests", rowsFollow},
	{"rows select by every member", rowsSelect},
	{"rows come in pages", rowsPage},
	{"count counts", countCounts},
	{"what a person typed finds requests, ambiguous ones listed", findTyped},
	{"grants live and end", grantsLive},
	{"erased content is gone and the chain still verifies", erased},
	{"a lease is held until released", leaseReleased},
	{"a lease dies with its handle", leaseDies},
}

// stage is where one promise is tested.
type stage struct {
	*testing.T
	*Maker
	ctx  context.Context
	open Opener
}

func newStage(t *testing.T, open Opener) *stage {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return &stage{T: t, Maker: NewMaker(1), ctx: ctx, open: open}
}

// handle opens another handle, to be closed with the test.
func (s *stage) handle() sayso.Log {
	s.Helper()
	log := s.open(s.T)
	s.Cleanup(func() {
		if err := log.Close(); err != nil {
			s.Errorf("closing: %v", err)
		}
	})
	return log
}

// check fails the test at once if err is one.
func (s *stage) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// append adds a batch that must be taken.
func (s *stage) append(log sayso.Log, b sayso.Batch) []sayso.Event {
	s.Helper()
	events, err := log.Append(s.ctx, b)
	s.check(err)
	if len(events) != len(b.Events) {
		s.Fatalf("Append returned %d events for %d", len(events), len(b.Events))
	}
	return events
}

// conflict appends a batch that must be refused and change nothing.
func (s *stage) conflict(log sayso.Log, b sayso.Batch) {
	s.Helper()
	before := s.head(log)
	events, err := log.Append(s.ctx, b)
	if !errors.Is(err, sayso.ErrConflict) || len(events) > 0 {
		s.Errorf("Append returned %d events and %v, want none and a conflict", len(events), err)
	}
	s.same("the head after a conflict", s.head(log), before)
}

func (s *stage) head(log sayso.Log) sayso.Head {
	s.Helper()
	head, err := log.Head(s.ctx)
	s.check(err)
	return head
}

func (s *stage) stream(log sayso.Log, name string, after int) []sayso.Event {
	s.Helper()
	events, err := log.Stream(s.ctx, name, after)
	s.check(err)
	return events
}

// all reads the whole log in small steps.
func (s *stage) all(log sayso.Log) []sayso.Event {
	s.Helper()
	var all []sayso.Event
	for {
		events, err := log.Since(s.ctx, sayso.Seq(len(all)), 7)
		s.check(err)
		if len(events) == 0 {
			return all
		}
		if len(events) > 7 {
			s.Fatalf("Since returned %d events for a limit of 7", len(events))
		}
		all = append(all, events...)
	}
}

// same reports how got differs from want. Empty and nil are the same.
func (s *stage) same(what string, got, want any) {
	s.Helper()
	if diff := cmp.Diff(want, got, alike...); diff != "" {
		s.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}
