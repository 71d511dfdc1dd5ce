package storetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

// askers and answerers work at once in [WakeUps].
const (
	askers    = 16
	answerers = 4
)

// WakeUps tests that no waiter is forgotten: askers append a request and wait
// for its stream, answerers follow the log and answer, through different
// handles, until there have been as many cycles. A waiter that is not woken
// within a minute of its answer is lost.
func WakeUps(t *testing.T, open Opener, cycles int) {
	w := &wakeUps{stage: newStage(t, open), cycles: cycles}
	w.ctx = t.Context() // as long as it takes; progress is watched instead
	handles := []sayso.Log{w.handle(), w.handle(), w.handle(), w.handle()}
	var all sync.WaitGroup
	for i := range answerers {
		all.Go(func() { w.answer(handles[(i+1)%len(handles)], i) })
	}
	for i := range askers {
		all.Go(func() { w.ask(handles[i%len(handles)], i) })
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	w.watch(done)
	t.Logf("%d cycles, %d wake-ups", cycles, w.woken.Load())
}

type wakeUps struct {
	*stage
	cycles int
	asked  atomic.Int64 // cycles that somebody took on
	woken  atomic.Int64 // cycles that came to their end
}

// watch ends the test when nothing has happened for a long time.
func (w *wakeUps) watch(done <-chan struct{}) {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for last := int64(-1); ; {
		select {
		case <-done:
			return
		case <-tick.C:
			now := w.woken.Load()
			if now == last {
				w.Fatalf("%d of %d wake-ups came, and then none for a minute", now, w.cycles)
			}
			last = now
		}
	}
}

// ask makes requests and waits for their answers, one after the other.
func (w *wakeUps) ask(log sayso.Log, n int) {
	luck := rand.New(rand.NewPCG(uint64(n), 3))
	for w.asked.Add(1) <= int64(w.cycles) {
		id, b := w.Request(Wish{Session: fmt.Sprint("session-", n)})
		if _, err := log.Append(w.ctx, b); err != nil {
			w.Errorf("asking: %v", err)
			return
		}
		if luck.IntN(4) == 0 { // somebody else got there before the waiter
			if _, err := log.WaitSince(w.ctx, sayso.Seq(luck.IntN(3))); err != nil {
				w.Errorf("waiting for the log: %v", err)
				return
			}
		}
		events, err := log.Wait(w.ctx, b.Events[0].Stream, 1, time.Time{})
		if err != nil || len(events) == 0 || events[0].Pos != 2 {
			w.Errorf("waiting for %s: %d events, %v", id, len(events), err)
			return
		}
		w.woken.Add(1)
	}
}

// answer follows the log and answers every request of its share, until all
// have been.
func (w *wakeUps) answer(log sayso.Log, n int) {
	seen, met := sayso.Seq(0), 0
	for met < w.cycles && !w.Failed() {
		events, err := log.WaitSince(w.ctx, seen)
		if err != nil {
			w.Errorf("following the log: %v", err)
			return
		}
		if len(events) == 0 {
			events, err = log.Since(w.ctx, seen, 50)
		}
		if err != nil {
			w.Errorf("reading the log: %v", err)
			return
		}
		for _, e := range events {
			seen = e.Seq
			if e.Type != sayso.EventRequested {
				continue
			}
			if met++; met%answerers != n {
				continue
			}
			if _, err := log.Append(w.ctx, w.Answer(e.RequestID, 1, sayso.Allow, "")); err != nil {
				w.Errorf("answering: %v", err)
				return
			}
		}
	}
}
