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
)

func TestPatience_parksAndTheCallIsTakenUp(t *testing.T) {
	for name, again := range map[string]string{"the same call id": "c1", "a new call id": "c2", "no call id": ""} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				id := w.park("c1")
				if r := w.onlyOpen(); r.State != sayso.StateParked || r.ID != id {
					t.Fatalf("got %s in state %s, want %s parked", r.ID, r.State, id)
				}
				p := w.ask(t.Context(), push(again))
				if r := w.onlyOpen(); r.State != sayso.StateOpen || r.ID != id {
					t.Fatalf("got %s in state %s, want %s open again", r.ID, r.State, id)
				}
				w.answerAsOwner(id, sayso.Allow)
				if d, err := p.result(); err != nil || !d.Allowed() || d.Request != id {
					t.Errorf("got %+v, %v", d, err)
				}
				w.expectEvents(id, sayso.EventParked, sayso.EventTaken, sayso.EventAnswered, sayso.EventResolved)
			})
		})
	}
}

func TestPatience_thatRanOutAlready(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), patient("c1", -time.Second))
		if p.isWaiting() {
			t.Fatal("it waits for ever")
		}
		_, err := p.result()
		wantErr(t, err, sayso.ErrPending)
	})
}

func TestPending_namesTicketAndDeadline(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		d, err := w.admit(patient("c1", time.Minute))
		var pending *sayso.PendingError
		if !errors.As(err, &pending) || !errors.Is(err, sayso.ErrPending) {
			t.Fatal(err)
		}
		r := w.onlyOpen()
		if pending.Ticket != r.ID || !pending.Deadline.Equal(*r.Deadline) || pending.Stop || d.Allowed() {
			t.Errorf("got %+v and %+v", pending, d)
		}
		if *r.RemainingS != (59 * time.Minute).Seconds() {
			t.Errorf("%v s remain", *r.RemainingS)
		}
	})
}

func TestTakeUp_aParkedRequestAnswersOnce(t *testing.T) {
	for _, e := range []sayso.Effect{sayso.Allow, sayso.Deny} {
		t.Run(e.String(), func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				id := w.park("c1")
				w.answerAsOwner(id, e)
				d, err := w.admit(atOnce("c2"))
				if err != nil || d.Effect != e || d.Request != id || d.Redeemed != (e == sayso.Allow) {
					t.Fatalf("the retry got %+v, %v", d, err)
				}
				p := w.ask(t.Context(), atOnce("c3"))
				if r := w.onlyOpen(); r.ID == id || !p.isWaiting() {
					t.Error("a third call got an answer that was given before")
				}
			})
		})
	}
}

func TestTakeUp_theSameCallIDAgain(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		id := w.park("c1")
		w.answerAsOwner(id, sayso.Deny)
		for range 2 {
			if d, err := w.admit(atOnce("c1")); err != nil || d.Effect != sayso.Deny || d.Request != id {
				t.Fatalf("got %+v, %v", d, err)
			}
		}
	})
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		id := w.park("c1")
		w.answerAsOwner(id, sayso.Allow)
		w.allowed(atOnce("c1"))
		d, err := w.admit(atOnce("c1"))
		wantErr(t, err, sayso.ErrSpent)
		if d.Allowed() || d.Request != id {
			t.Errorf("got %+v", d)
		}
	})
}

func TestTakeUp_notByAnother(t *testing.T) {
	other := agent
	other.Principal = "other-agent"
	for name, try := range map[string]func(*sayso.Call){
		"another directory": func(c *sayso.Call) { c.Cwd = "/tmp" },
		"another session":   func(c *sayso.Call) { c.Session = "s2" },
		"other arguments":   func(c *sayso.Call) { c.Args = sayso.Args(`{"command":"git push "}`) },
		"another server":    func(c *sayso.Call) { c.Server = "github" },
		"a new definition":  func(c *sayso.Call) { c.DefinitionDigest = "sha256:2" },
		"another requester": nil,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				id := w.park("c1")
				w.answerAsOwner(id, sayso.Allow)
				a, who := atOnce("c2"), agent
				if try == nil {
					who = other
				} else {
					try(&a.Call)
				}
				p := w.askAs(t.Context(), who, a)
				if !p.isWaiting() {
					d, err := p.result()
					t.Fatalf("it got %+v, %v", d, err)
				}
				w.expectEvents(id, sayso.EventParked, sayso.EventAnswered, sayso.EventResolved)
			})
		})
	}
}

func TestTwins_areRequestsOfTheirOwn(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		p1, p2 := w.ask(t.Context(), atOnce("c1")), w.ask(t.Context(), atOnce("c2"))
		open := w.open()
		if len(open) != 2 {
			t.Fatalf("%d requests are open", len(open))
		}
		w.answerAsOwner(open[0].ID, sayso.Allow)
		if d, err := p1.result(); err != nil || !d.Allowed() {
			t.Errorf("got %+v, %v", d, err)
		}
		if !p2.isWaiting() {
			t.Fatal("the twin was answered too")
		}
		w.answerAsOwner(open[1].ID, sayso.Deny)
		if d, err := p2.result(); err != nil || d.Allowed() {
			t.Errorf("got %+v, %v", d, err)
		}
	})
}

// Twins that policy allows get a receipt each: both calls will run.
func TestTwins_thatPolicyAllows(t *testing.T) {
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		d1, d2 := w.allowed(push("c1")), w.allowed(push("c2"))
		if d1.Request == d2.Request {
			t.Fatal("two live calls have one receipt")
		}
		for _, d := range []sayso.Decision{d1, d2} {
			if err := w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("").Call); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestCallID_usedForAnotherCall(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.ask(t.Context(), push("c1"))
		before := len(w.allEvents())
		d, err := w.admit(sayso.Admission{Call: bash("c1", "rm -rf /")})
		wantErr(t, err, sayso.ErrConflict)
		if d.Allowed() || len(w.allEvents()) != before {
			t.Errorf("got %+v, and %d events more", d, len(w.allEvents())-before)
		}
		if _, err := w.b.Gate(program).Admit(t.Context(), sayso.Admission{Call: bash("c1", "rm -rf /"), Patience: time.Second}); !errors.Is(err, sayso.ErrPending) {
			t.Errorf("the id of another enforcement point: %v", err)
		}
	})
}

func TestCallID_theSameCallTwiceAtOnce(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		p1, p2 := w.ask(t.Context(), atOnce("c1")), w.ask(t.Context(), atOnce("c1"))
		w.answerAsOwner(w.onlyOpen().ID, sayso.Allow)
		ran := 0
		for _, p := range []*pendingAdmit{p1, p2} {
			d, err := p.result()
			if err == nil && d.Redeemed {
				ran++
			} else if !errors.Is(err, sayso.ErrSpent) || d.Allowed() {
				t.Errorf("got %+v, %v", d, err)
			}
		}
		if ran != 1 {
			t.Errorf("%d of two may run", ran)
		}
	})
}

func TestCancel_parks(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		ctx, cancel := context.WithCancel(t.Context())
		p := w.ask(ctx, push("c1"))
		r := w.onlyOpen()
		cancel()
		d, err := p.result()
		wantErr(t, err, context.Canceled)
		if d.Allowed() {
			t.Errorf("got %+v", d)
		}
		if got := w.lastPayload(sayso.EventParked); got != `{"cause":"left"}` {
			t.Errorf("parked with %s", got)
		}
		w.answerAsOwner(r.ID, sayso.Allow)
		if d := w.allowed(atOnce("c2")); d.Request != r.ID {
			t.Error("the approval was not taken up")
		}
	})
}

// A context that ends anywhere on the way must not leave a request behind that
// nobody waits for and nobody can take up.
func TestCancel_whereverItIsNoticed(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		ctx, cancel := context.WithCancel(t.Context())
		w.opts.Opened = func(sayso.Request) { cancel() } // recorded, and not yet waiting
		w.start()
		_, err := w.b.Gate(agent).Admit(ctx, push("c1"))
		wantErr(t, err, context.Canceled)
		if r := w.onlyOpen(); r.State != sayso.StateParked {
			t.Errorf("the request is %s", r.State)
		}
	})
}

func TestCancel_whenTheAnswerIsThere(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		ctx, cancel := context.WithCancel(t.Context())
		p := w.askAs(ctx, agent, atOnce("c1"))
		synctest.Wait()
		id := w.onlyOpen().ID
		w.answerAsOwner(id, sayso.Allow)
		cancel()
		d, err := p.result()
		if err == nil && d.Redeemed {
			return // it was faster: the answer arrived
		}
		if d.Allowed() {
			t.Errorf("an allow came with %v", err)
		}
		if d := w.allowed(atOnce("c2")); d.Request != id {
			t.Error("the approval was lost")
		}
	})
}

func TestDeath_parksAsLost(t *testing.T) {
	for name, notice := range map[string]func(*harness){
		"noticed by a sweep": func(w *harness) {
			if err := w.b.Sweep(context.Background()); err != nil {
				w.t.Error(err)
			}
		},
		"noticed by the retry": func(*harness) {},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				p := w.ask(t.Context(), push("c1"))
				id := w.onlyOpen().ID
				w.restart()
				_, err := p.result()
				wantErr(t, err, sayso.ErrUnavailable)
				notice(w)
				again := w.ask(t.Context(), atOnce("c2"))
				if got := w.lastPayload(sayso.EventParked); got != `{"cause":"lost"}` {
					t.Errorf("parked with %s", got)
				}
				w.answerAsOwner(id, sayso.Allow)
				if d, err := again.result(); err != nil || d.Request != id || !d.Redeemed {
					t.Errorf("got %+v, %v", d, err)
				}
				w.expectEvents(id, sayso.EventParked, sayso.EventTaken, sayso.EventAnswered, sayso.EventResolved, sayso.EventRedeemed)
			})
		})
	}
}

func TestDeath_ofAnotherHolder(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		other := w.log.Join()
		theirs, err := broker.New(other, w.rules, &w.opts)
		if err != nil {
			t.Fatal(err)
		}
		p := &pendingAdmit{w: w, done: make(chan struct{})}
		go func() { // ends when the other handle is closed
			defer close(p.done)
			p.d, p.err = theirs.Gate(agent).Admit(t.Context(), push("c1"))
		}()
		synctest.Wait()
		if err := w.b.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		id := w.onlyOpen().ID
		w.expectEvents(id) // it lives, and is left alone
		twin := w.ask(t.Context(), patient("c2", time.Second))
		if _, err := twin.result(); !errors.Is(err, sayso.ErrPending) || len(w.open()) != 2 {
			t.Errorf("the twin got %v", err)
		}
		other.Close()
		<-p.done
		if err := w.b.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.expectEvents(id, sayso.EventParked)
	})
}

// An approval that came while its waiter was dead is delivered to the retry.
func TestDeath_allowedMeanwhile(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.ask(t.Context(), push("c1"))
		id := w.onlyOpen().ID
		w.restart()
		w.answerAsOwner(id, sayso.Allow)
		if d := w.allowed(atOnce("c2")); d.Request != id || !d.Redeemed {
			t.Errorf("got %+v", d)
		}
		w.expectEvents(id, sayso.EventAnswered, sayso.EventResolved, sayso.EventParked, sayso.EventTaken, sayso.EventRedeemed)
	})
}

// A caller that has its approval and dies before it runs gets it once more; one
// that lives keeps it.
func TestDeath_allowedAndNotRedeemed(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), push("c1"))
		id := w.onlyOpen().ID
		w.answerAsOwner(id, sayso.Allow)
		d, _ := p.result()
		twin := w.ask(t.Context(), push("c2"))
		if !twin.isWaiting() {
			t.Fatal("a living caller's approval was given to its twin")
		}
		w.restart()
		if d := w.allowed(atOnce("c3")); d.Request != id {
			t.Error("the approval of the dead caller was not taken up")
		}
		wantErr(t, w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("").Call), sayso.ErrSpent)
	})
}

func TestStorm_theFourthWithinAMinuteStops(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		retry := func(i int) (*sayso.PendingError, int) {
			before := len(w.allEvents())
			_, err := w.admit(patient("c1", 5*time.Second))
			var pending *sayso.PendingError
			if !errors.As(err, &pending) {
				t.Fatalf("call %d: %v", i, err)
			}
			return pending, len(w.allEvents()) - before
		}
		for i := range 3 {
			if p, n := retry(i + 1); p.Stop || n == 0 {
				t.Fatalf("call %d: stop is %v after %d events", i+1, p.Stop, n)
			}
		}
		for i := 4; i < 40; i++ { // without an event, however often
			if p, n := retry(i); !p.Stop || n != 0 {
				t.Fatalf("call %d: stop is %v after %d events", i, p.Stop, n)
			}
		}
		pass(44 * time.Second)
		if p, n := retry(39); !p.Stop || n != 0 {
			t.Errorf("within the minute: stop is %v after %d events", p.Stop, n)
		}
		pass(2 * time.Second) // the first of the three is a minute ago
		for i := range 3 {
			if p, _ := retry(40 + i); p.Stop {
				t.Errorf("call %d: it may never ask again", 40+i)
			}
		}
		if p, n := retry(43); !p.Stop || n != 0 {
			t.Errorf("stop is %v after %d events", p.Stop, n)
		}
	})
}

func TestStorm_anAnswerIsStillDelivered(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		for range 3 {
			w.park("c1")
		}
		if _, err := w.admit(patient("c1", time.Second)); !errors.Is(err, sayso.ErrPending) {
			t.Fatal(err)
		}
		w.answerAsOwner(w.onlyOpen().ID, sayso.Allow)
		w.allowed(atOnce("c1"))
	})
}

// One that nobody waits for is found behind all that somebody does.
func TestTakeUp_behindManyTwins(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		for i := range 150 {
			w.askAs(t.Context(), agent, push(fmt.Sprint("twin", i)))
		}
		synctest.Wait()
		id := w.park("c1")
		_, err := w.admit(patient("c2", time.Second))
		var pending *sayso.PendingError
		if !errors.As(err, &pending) || pending.Ticket != id {
			t.Errorf("got %v, want the ticket of %s", err, id.Short())
		}
	}, func(w *harness) { w.opts.MaxAsks = 1000 })
}

// Two callers wait under one call id, as over a connection that was made again
// before the end of the first was noticed. When the first is seen to be gone,
// the request is not one that nobody waits for.
func TestTakeUp_theSecondOfTwoUnderOneID(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		ctx, gone := context.WithCancel(t.Context())
		first := w.ask(ctx, atOnce("c1"))
		second := w.ask(t.Context(), atOnce("c1"))
		r := w.onlyOpen()
		gone()
		if _, err := first.result(); !errors.Is(err, context.Canceled) {
			t.Errorf("the first got %v", err)
		}
		if !second.isWaiting() || w.onlyOpen().State != sayso.StateOpen {
			t.Errorf("the request is %s", w.onlyOpen().State)
		}
		w.answerAsOwner(r.ID, sayso.Allow)
		if d, err := second.result(); err != nil || !d.Redeemed {
			t.Errorf("the second got %+v, %v", d, err)
		}
		w.expectEvents(r.ID, sayso.EventParked, sayso.EventTaken, sayso.EventAnswered, sayso.EventResolved, sayso.EventRedeemed)
	})
}

// The file of a lease is removed under the process that holds it: others take
// its caller for dead, and it does not contradict them for ever.
func TestTakeUp_withoutALease(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), atOnce("c1"))
		r := w.onlyOpen()
		if err := w.b.Close(); err != nil { // which gives the lease back
			t.Fatal(err)
		}
		for range 5 {
			pass(time.Second)
			if err := w.b.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		w.answerAsOwner(r.ID, sayso.Allow)
		if d, err := p.result(); err != nil || !d.Redeemed {
			t.Errorf("got %+v, %v", d, err)
		}
		if n := len(w.eventTypes(r.ID)); n > 8 {
			t.Errorf("%d events were recorded", n)
		}
	})
}
