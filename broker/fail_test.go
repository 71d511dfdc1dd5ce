package broker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/store/memory"
)

var errDisk = errors.New("no space left on device")

// fault says how an append fails.
type fault string

const (
	faultOnce fault = "once"      // this one, and nothing of it is added
	faultOn   fault = "from then" // this one and all after it
	faultLost fault = "lost"      // it is added, and reported as failed
)

// faultyLog is a log whose nth append fails.
type faultyLog struct {
	sayso.Log
	kind  fault
	nth   int
	count int
}

func (l *faultyLog) Append(ctx context.Context, b sayso.Batch) ([]sayso.Event, error) {
	l.count++
	switch {
	case l.count == l.nth && l.kind == faultLost:
		if _, err := l.Log.Append(ctx, b); err != nil {
			return nil, err
		}
		return nil, errDisk
	case l.count == l.nth, l.count > l.nth && l.nth > 0 && l.kind == faultOn:
		return nil, errDisk
	}
	return l.Log.Append(ctx, b)
}

// ledger is what callers were told, to be compared with what the log holds.
type ledger struct {
	*harness
	ran map[sayso.ID]int // calls that somebody would now run
}

// told checks one answer of the gate against the log.
func (l *ledger) told(d sayso.Decision, err error) {
	l.t.Helper()
	if err != nil && (d.Effect == sayso.Allow || d.Redeemed) {
		l.t.Errorf("an allow came with %v", err)
	}
	if err != nil || d.Effect != sayso.Allow {
		return
	}
	if r := l.fold(d.Request); r.State != sayso.StateAllowed || d.Redeemed && !r.Life.Redeemed {
		l.t.Errorf("an allow that the log does not know: %+v, the log has %s, redeemed %v", d, r.State, r.Life.Redeemed)
	}
	if d.Redeemed {
		l.ran[d.Request]++
	}
}

func (l *ledger) fold(id sayso.ID) sayso.Request {
	l.t.Helper()
	r, err := sayso.Fold(l.stream(sayso.RequestStream(id)))
	if err != nil {
		l.t.Errorf("request %s: %v", id, err)
	}
	return r
}

func (l *ledger) admit(a sayso.Admission) sayso.Decision {
	l.t.Helper()
	d, err := l.b.Gate(agent).Admit(context.Background(), a)
	l.told(d, err)
	return d
}

func (l *ledger) redeem(d sayso.Decision, c sayso.Call) {
	l.t.Helper()
	if len(d.Args) > 0 {
		c.Args = d.Args
	}
	if err := l.b.Gate(agent).Redeem(context.Background(), d.Receipt, c); err == nil {
		if !l.fold(d.Request).Life.Redeemed {
			l.t.Error("redeemed off the record")
		}
		l.ran[d.Request]++
	}
}

// answerAll answers whatever is open, and checks that what the person was told
// is on the record.
func (l *ledger) answerAll(change func(*sayso.Answer)) {
	l.t.Helper()
	for _, r := range l.open() {
		a := answer(r, sayso.Allow)
		if change != nil {
			change(&a)
		}
		d, err := l.answer(dev, r.ID, a)
		if err != nil && d.Effect == sayso.Allow {
			l.t.Errorf("an allow came with %v", err)
		}
		if got := l.fold(r.ID); err == nil && (got.Decision == nil || got.Decision.Effect != d.Effect) {
			l.t.Errorf("the person was told %s, the log has %s", d.Effect, got.State)
		}
	}
}

// waits begins an Admit and returns how to get its end; one that hangs because
// nothing could be answered is given up.
func (l *ledger) waits(a sayso.Admission) func() sayso.Decision {
	ctx, cancel := context.WithCancel(context.Background())
	p := l.ask(ctx, a)
	return func() sayso.Decision {
		l.t.Helper()
		synctest.Wait()
		cancel()
		d, err := p.result()
		l.told(d, err)
		return d
	}
}

var failScenarios = map[string]struct {
	policy func() *rules
	do     func(*ledger)
}{
	"policy allows, run at once": {func() *rules { return always(sayso.Allow) }, func(l *ledger) { l.admit(atOnce("c1")); l.admit(atOnce("c1")) }},
	"policy allows, redeemed": {func() *rules { return always(sayso.Allow) }, func(l *ledger) {
		d := l.admit(push("c1"))
		l.redeem(d, push("").Call)
		l.redeem(d, push("").Call)
		l.b.Gate(agent).Report(context.Background(), sayso.Outcome{Request: d.Request})
	}},
	"a person allows, run at once": {func() *rules { return always(sayso.Ask) }, func(l *ledger) {
		end := l.waits(atOnce("c1"))
		l.answerAll(nil)
		end()
		l.admit(sayso.Admission{Call: push("c1").Call, Immediate: true, Patience: -1})
	}},
	"a person allows, redeemed": {func() *rules { return always(sayso.Ask) }, func(l *ledger) {
		end := l.waits(push("c1"))
		l.answerAll(nil)
		d := end()
		l.redeem(d, push("").Call)
		l.redeem(d, push("").Call)
	}},
	"parked and taken up": {func() *rules { return always(sayso.Ask) }, func(l *ledger) {
		l.admit(patient("c1", time.Second))
		l.admit(patient("c2", time.Second))
		l.answerAll(nil)
		for i := range 3 {
			a := patient(fmt.Sprint("d", i), time.Second)
			a.Immediate = true
			l.admit(a)
		}
	}},
	"remembered and used": {func() *rules { return always(sayso.Ask) }, func(l *ledger) {
		end := l.waits(atOnce("c1"))
		l.answerAll(func(a *sayso.Answer) { a.Scope, a.Uses = sayso.ScopeSession, 2 })
		end()
		for i := range 4 {
			a := patient(fmt.Sprint("d", i), time.Second)
			a.Immediate = true
			l.admit(a)
		}
		gs, err := l.b.Inbox(dev).Grants(context.Background(), "", true)
		if err != nil || len(gs) > 0 && gs[0].Uses > 2 {
			l.t.Errorf("grants: %+v, %v", gs, err)
		}
	}},
	"edited": {noForce, func(l *ledger) {
		end := l.waits(editable(push("c1")))
		l.answerAll(func(a *sayso.Answer) { a.Args = sayso.Args(dryRun) })
		l.redeem(end(), push("").Call)
	}},
	"dead and taken up": {func() *rules { return always(sayso.Ask) }, func(l *ledger) {
		end := l.waits(push("c1"))
		l.b.Close() // the lease is free, as after a death
		l.answerAll(nil)
		end()
		for i := range 2 {
			a := patient(fmt.Sprint("d", i), time.Second)
			a.Immediate = true
			l.admit(a)
		}
	}},
	"a deadline that denies": {func() *rules { return within(sayso.Ask, sayso.Deadline{After: time.Minute, Deny: true}) }, func(l *ledger) {
		l.admit(patient("c1", 2*time.Minute))
		l.answerAll(nil)
	}},
	"withdrawn late": {func() *rules { return always(sayso.Ask) }, func(l *ledger) {
		end := l.waits(push("c1"))
		l.answerAll(nil)
		d := end()
		if err := l.b.Gate(agent).Withdraw(context.Background(), d.Request, "stop"); err == nil {
			before := l.ran[d.Request]
			if l.redeem(d, push("").Call); l.ran[d.Request] != before {
				l.t.Error("it ran after it was withdrawn")
			}
		}
	}},
	"the policy changes": {func() *rules { return always(sayso.Ask) }, func(l *ledger) {
		l.admit(patient("c1", time.Second))
		l.answerAll(nil)
		l.rules.set("v2", nil)
		if d := l.admit(sayso.Admission{Call: push("c1").Call, Patience: time.Second, Immediate: true}); d.Redeemed {
			l.t.Error("it ran on the yes under another policy")
		}
	}},
	"approve_all": {func() *rules { return always(sayso.Ask) }, func(l *ledger) {
		err := l.b.Inbox(admin).SetMode(context.Background(), "", sayso.ModeApproveAll, time.Hour)
		a := atOnce("c1")
		a.Patience = time.Second
		if d := l.admit(a); err != nil && d.Redeemed && l.count(sayso.EventModeChanged) == 0 {
			l.t.Error("a mode was in force that was not recorded")
		}
	}},
}

// What cannot be recorded does not run: every append of every story fails once.
func TestRQ6_everyAppendFails(t *testing.T) {
	for name, s := range failScenarios {
		t.Run(name, func(t *testing.T) {
			appends := tell(t, s.policy(), s.do, faultOnce, 0)
			if appends == 0 {
				t.Fatal("the story appends nothing")
			}
			for _, kind := range []fault{faultOnce, faultOn, faultLost} {
				for n := 1; n <= appends; n++ {
					t.Run(fmt.Sprintf("%s/%d", kind, n), func(t *testing.T) { tell(t, s.policy(), s.do, kind, n) })
				}
			}
		})
	}
}

// tell runs a story on a log whose nth append fails and checks the ledger. It
// returns how many appends there were.
func tell(t *testing.T, p *rules, do func(*ledger), kind fault, nth int) (appends int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newHarness(t, p)
		log := &faultyLog{Log: w.log, kind: kind, nth: nth}
		b, err := broker.New(log, w.rules, &w.opts)
		if err != nil {
			t.Fatal(err)
		}
		w.b = b
		l := &ledger{harness: w, ran: map[sayso.ID]int{}}
		do(l)
		appends = log.count
		for id, n := range l.ran {
			if n > 1 {
				t.Errorf("request %s would run %d times", id.Short(), n)
			}
		}
		var head sayso.Head
		for _, e := range w.allEvents() {
			if head, err = e.Verify(head); err != nil {
				t.Error(err)
			}
		}
	})
	return appends
}

// The same with a disk that is full from the start.
func TestRQ6_fullDisk(t *testing.T) {
	for _, e := range []sayso.Effect{sayso.Allow, sayso.Ask, sayso.Deny} {
		log := memory.New(&memory.Options{Fail: func(sayso.Batch) error { return errDisk }})
		b, err := broker.New(log, always(e), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		d, err := b.Gate(agent).Admit(t.Context(), atOnce("c1"))
		if !errors.Is(err, errDisk) || d.Effect == sayso.Allow {
			t.Errorf("%s: got %+v, %v", e, d, err)
		}
	}
}
