package broker_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
)

// byNow are the ways in which a call that waits for people comes to need none, and on
// whose word it then runs. Each is prepared before the call is parked, and returns
// what makes it so.
var byNow = map[string]struct {
	prepare func(*harness) (turn func())
	source  sayso.Source
}{
	"a rule": {source: sayso.SourcePolicy, prepare: func(w *harness) func() {
		return func() { w.rules.set("v2", func(sayso.Call) sayso.Verdict { return ruled(rule(sayso.Allow)) }) }
	}},
	"the session": {source: sayso.SourcePolicy, prepare: func(w *harness) func() { return func() { w.setPolicy(w.b, sayso.Allow) } }},
	"the mode":    {source: sayso.SourceMode, prepare: func(w *harness) func() { return func() { w.setMode(w.b, sayso.ModeApproveAll) } }},
	"a grant":     {source: sayso.SourceGrant, prepare: func(w *harness) func() { return w.twin(0) }},
}

// twin has the same call wait for people, held by its caller, until turn answers it
// with a yes that is remembered for so many uses.
func (w *harness) twin(uses int) (turn func()) {
	w.t.Helper()
	p := w.ask(w.t.Context(), atOnce("twin"))
	id := w.onlyOpen().ID
	return func() {
		w.t.Helper()
		a := remembered(w.request(id))
		a.Uses = uses
		if _, err := w.answer(dev, id, a); err != nil {
			w.t.Fatal(err)
		}
		if d, err := p.result(); err != nil || !d.Redeemed {
			w.t.Fatal(d, err)
		}
	}
}

// Who asks again for what waits, and what a rule, a grant or the mode allows by now,
// is told so, and runs it once. What people were shown stays as it was.
func TestTakeUp_whatIsAllowedByNow(t *testing.T) {
	for name, tt := range byNow {
		for _, id := range []string{"c1", "c2", ""} {
			for _, immediate := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/%v", name, id, immediate), func(t *testing.T) {
					bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
						turn := tt.prepare(w)
						waits := w.park("c1")
						asked := w.request(waits)
						turn()
						a := push(id)
						a.Immediate, a.Patience = immediate, time.Second
						d := w.allowed(a)
						if d.Request != waits || d.Source != tt.source || d.Redeemed != immediate || (d.Grant != "") != (tt.source == sayso.SourceGrant) {
							t.Errorf("got %+v", d)
						}
						if !immediate {
							if err := w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("").Call); err != nil {
								t.Error(err)
							}
						}
						w.expectEvents(waits, sayso.EventParked, sayso.EventTaken, sayso.EventResolved, sayso.EventRedeemed)
						wantErr(t, w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("").Call), sayso.ErrSpent)
						now := w.request(waits)
						now.State, now.Decision, now.Outcome, now.RemainingS = asked.State, asked.Decision, asked.Outcome, asked.RemainingS
						now.Covers, now.Life = asked.Covers, asked.Life // what covers would have covered is weighed while it waits
						if diff := cmp.Diff(asked, now, cmp.AllowUnexported(sayso.Life{})); diff != "" {
							t.Errorf("what was shown is another (-was +is):\n%s", diff)
						}
						if d := w.allowed(atOnce("c9")); d.Request == waits {
							t.Error("it was used twice")
						}
					})
				})
			}
		}
	}
}

// It counts as a use of the grant: with one use, the next call is asked about.
func TestTakeUp_countsAsAUseOfTheGrant(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		turn := w.twin(1)
		waits := w.park("c1")
		turn()
		if d := w.allowed(atOnce("c2")); d.Request != waits || d.Source != sayso.SourceGrant {
			t.Errorf("got %+v", d)
		}
		if g := w.grants(true)[0]; g.Uses != 1 || w.count(sayso.EventGrantUsed) != 1 {
			t.Errorf("the grant is %+v, after %d uses", g, w.count(sayso.EventGrantUsed))
		}
		if w.isAllowedUnasked(atOnce("c3")) {
			t.Error("a grant of one use was used twice")
		}
	})
}

// What is asked about all the same goes on waiting for people.
func TestTakeUp_whatStillAsks(t *testing.T) {
	personal := rule(sayso.Ask)
	personal.Person = true
	unclear := rule(sayso.Ask)
	unclear.Cause = sayso.CauseNotUnderstood
	option, locked := lockable()
	for name, tt := range map[string]struct {
		match sayso.Match
		twin  bool // that a like call is answered with a yes that is remembered
		then  func(*harness)
	}{
		"nothing changed":          {match: rule(sayso.Ask)},
		"a danger, in approve_all": {match: personal, then: func(w *harness) { w.setMode(w.b, sayso.ModeApproveAll) }},
		"not understood":           {match: unclear, then: func(w *harness) { w.setMode(w.b, sayso.ModeApproveAll) }},
		"another rule, that asks":  {match: rule(sayso.Ask), then: func(w *harness) { w.rules.set("v2", nil) }},
		"a mode that ended": {match: rule(sayso.Ask), then: func(w *harness) {
			w.setMode(w.b, sayso.ModeApproveAll)
			pass(2 * time.Minute)
		}},
		"a grant that was revoked":  {match: rule(sayso.Ask), twin: true, then: func(w *harness) { w.revokeAll(w.b) }},
		"a grant of another policy": {match: rule(sayso.Ask), twin: true, then: func(w *harness) { w.rules.set("v2", nil) }},
		"locked, a rule": {match: rule(sayso.Ask), then: func(w *harness) {
			locked.Store(true)
			w.rules.set("v2", func(sayso.Call) sayso.Verdict { return ruled(rule(sayso.Allow)) })
		}},
		"locked, a grant": {match: rule(sayso.Ask), twin: true, then: func(*harness) { locked.Store(true) }},
		"locked, approve_all": {match: rule(sayso.Ask), then: func(w *harness) {
			locked.Store(true)
			w.setMode(w.b, sayso.ModeApproveAll)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			locked.Store(false)
			p := always(sayso.Ask)
			p.judge = func(sayso.Call) sayso.Verdict {
				v := ruled(tt.match)
				v.Deadline = sayso.Deadline{After: time.Hour}
				return v
			}
			bubble(t, p, func(t *testing.T, w *harness) {
				turn := func() {}
				if tt.twin {
					turn = w.twin(0)
				}
				waits := w.park("c1")
				turn()
				if tt.then != nil {
					tt.then(w)
				}
				_, err := w.admit(patient("c2", time.Second))
				var pending *sayso.PendingError
				if !errors.As(err, &pending) || pending.Ticket != waits {
					t.Fatalf("got %v, want that %s waits", err, waits.Short())
				}
				w.expectEvents(waits, sayso.EventParked, sayso.EventTaken, sayso.EventParked)
			}, option)
		})
	}
}

// What a person denied while nobody waited is denied, whatever is allowed by now; a
// deny of policy is, in any mode.
func TestTakeUp_deniedStaysDenied(t *testing.T) {
	for name, tt := range byNow {
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			turn := tt.prepare(w)
			waits := w.park("c1")
			turn()
			w.answerAsOwner(waits, sayso.Deny)
			if d, err := w.admit(atOnce("c2")); err != nil || d.Effect != sayso.Deny || d.Request != waits || d.Source != sayso.SourcePerson {
				t.Errorf("%s: got %+v, %v", name, d, err)
			}
			if d := w.allowed(atOnce("c3")); d.Request == waits || d.Source != tt.source { // the next is another call
				t.Errorf("%s: then %+v", name, d)
			}
		})
	}
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		waits := w.park("c1")
		w.setMode(w.b, sayso.ModeApproveAll)
		w.rules.set("v2", func(sayso.Call) sayso.Verdict { return ruled(rule(sayso.Deny)) })
		if d, err := w.admit(atOnce("c2")); err != nil || d.Effect != sayso.Deny || d.Request != waits {
			t.Errorf("got %+v, %v", d, err)
		}
	})
}

// One whose caller died, and one that was polled too often, are told of it too.
func TestTakeUp_allowedByNowWhoeverAsks(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.ask(t.Context(), push("c1"))
		waits := w.onlyOpen().ID
		w.restart()
		w.setMode(w.b, sayso.ModeApproveAll)
		if d := w.allowed(atOnce("c1")); d.Request != waits || d.Source != sayso.SourceMode {
			t.Errorf("got %+v", d)
		}
		w.expectEvents(waits, sayso.EventParked, sayso.EventTaken, sayso.EventResolved, sayso.EventRedeemed)
	})
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		for range 3 {
			w.park("c1")
		}
		w.setMode(w.b, sayso.ModeApproveAll)
		w.allowed(atOnce("c1"))
	})
}

// What was allowed so and not used is settled anew like any other, also for a caller
// that is strict by itself.
func TestTakeUp_allowedByNowStandsOrNot(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.park("c1")
		w.setMode(w.b, sayso.ModeApproveAll)
		d := w.allowed(push("c2"))
		w.setMode(w.b, sayso.ModeInteractive)
		wantErr(t, w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("").Call), sayso.ErrVoided)
	})
	p := &rules{version: "v1", judge: func(sayso.Call) sayso.Verdict {
		return sayso.Verdict{Match: rule(sayso.Ask), Default: rule(sayso.Ask)}
	}}
	bubble(t, p, func(t *testing.T, w *harness) {
		a := patient("c1", time.Second)
		a.Asking, a.Ask = true, &sayso.ToolAsk{}
		gate := w.b.Gate(program)
		_, err := gate.Admit(t.Context(), a)
		wantErr(t, err, sayso.ErrPending)
		a.Strict = true
		d, err := gate.Admit(t.Context(), a)
		if err != nil || !d.Allowed() || d.Source != sayso.SourceMode {
			t.Fatalf("got %+v, %v", d, err)
		}
		if err := gate.Redeem(t.Context(), d.Receipt, a.Call); err != nil {
			t.Error(err)
		}
	})
}

// An answer at the hook counts for what waits behind it at the gateway, once, and so
// do the changes that people made there.
func TestTakeUp_allowedAtAnEarlierPoint(t *testing.T) {
	for name, changes := range map[string]string{"as it is": "", "with changes": `{"n":2}`} {
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			gate := w.b.Gate(later)
			_, err := gate.Admit(t.Context(), atGateway())
			wantErr(t, err, sayso.ErrPending)
			waits := w.onlyOpen().ID
			hooked := w.ask(t.Context(), atHook())
			for _, r := range w.open() {
				if r.ID == waits {
					continue
				}
				a := answer(r, sayso.Allow)
				if changes != "" {
					a = edited(r, changes)
				}
				if _, err := w.answer(dev, r.ID, a); err != nil {
					t.Fatal(err)
				}
			}
			if d, err := hooked.result(); err != nil || !d.Redeemed {
				t.Fatalf("%s: at the hook %+v, %v", name, d, err)
			}
			d, err := gate.Admit(t.Context(), atGateway())
			if err != nil || !d.Redeemed || d.Request != waits || d.Source != sayso.SourcePerson || len(d.By) != 1 || string(d.Args) != changes {
				t.Errorf("%s: got %+v, %v", name, d, err)
			}
			again := atGateway()
			again.Call.Session = "another"
			if d, _ := gate.Admit(t.Context(), again); d.Allowed() {
				t.Errorf("%s: the answer counted twice", name)
			}
		})
	}
}

// Many ask again at once, in two processes, for one that waits and that a rule or a
// grant of one use allows by now, while a person denies it: it has one decision, and
// each of these runs it once at most.
func TestTakeUp_allowedByNowAtOnce(t *testing.T) {
	seen := map[sayso.Source]int{}
	both := func() bool { return seen[sayso.SourceGrant] > 0 && seen[sayso.SourcePolicy] > 0 }
	for round := 0; round < 100 || round < 2000 && !both(); round++ { // a machine with much to do has the person win most
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			seen[w.rushed(round%2 == 0)]++
		})
	}
	if !both() {
		t.Errorf("decided by %v", seen)
	}
}

// rushed is one round of it, and returns by whom the one that waited was decided.
func (w *harness) rushed(byGrant bool) sayso.Source {
	w.t.Helper()
	other, err := broker.New(w.log.Join(), w.rules, &w.opts)
	if err != nil {
		w.t.Fatal(err)
	}
	defer other.Close()
	turn := byNow["a rule"].prepare(w)
	if byGrant {
		turn = w.twin(1)
	}
	waits := w.request(w.park("c1"))
	turn()
	var all sync.WaitGroup
	var mu sync.Mutex // guards ran
	ran := map[sayso.ID]int{}
	begin := make(chan struct{})
	for i := range 6 {
		all.Go(func() {
			<-begin
			a := atOnce(fmt.Sprint("again", i))
			a.Patience = time.Nanosecond
			if d, _ := [...]*broker.Broker{w.b, other}[i%2].Gate(agent).Admit(w.t.Context(), a); d.Redeemed {
				mu.Lock()
				defer mu.Unlock()
				ran[d.Request]++
			}
		})
	}
	all.Go(func() {
		<-begin
		_, _ = w.answer(dev, waits.ID, answer(waits, sayso.Deny))
	})
	close(begin)
	all.Wait()
	resolved := 0
	for _, e := range w.eventTypes(waits.ID) {
		if e == sayso.EventResolved {
			resolved++
		}
	}
	d := w.request(waits.ID).Decision
	uses := w.count(sayso.EventGrantUsed)
	switch {
	case d == nil || resolved != 1 || uses > 1:
		w.t.Fatalf("it was decided %d times, and the grant used %d times", resolved, uses)
	case d.Allowed() != (ran[waits.ID] == 1) || byGrant && len(ran) != 1 || !byGrant && len(ran) == 0:
		w.t.Errorf("decided by %s, and ran %v", d.Source, ran)
	}
	return d.Source
}
