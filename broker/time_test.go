package broker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

const tenYears = 10 * 365 * 24 * time.Hour

func TestDeadline_expires(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), push("c1"))
		r := w.onlyOpen()
		pass(time.Hour - time.Second)
		if !p.isWaiting() {
			t.Fatal("it expired early")
		}
		pass(2 * time.Second)
		d, err := p.result()
		wantErr(t, err, sayso.ErrExpired)
		if d.Allowed() || d.State != sayso.StateExpired || d.Request != r.ID {
			t.Errorf("got %+v", d)
		}
		w.expectEvents(r.ID, sayso.EventExpired)
		_, err = w.admit(push("c1"))
		wantErr(t, err, sayso.ErrExpired)
		if p := w.ask(t.Context(), push("c2")); !p.isWaiting() || w.onlyOpen().ID == r.ID {
			t.Error("a new call did not get a request of its own")
		}
	})
}

// A deadline that passes while the machine is suspended has passed when it wakes
// up, within a minute and not when the timer of the waiter would have ended.
func TestDeadline_whileTheMachineIsSuspended(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		p, impatient := w.ask(t.Context(), push("c1")), w.ask(t.Context(), patient("c2", 10*time.Hour))
		pass(10 * time.Second)
		w.clock.suspend(30 * time.Minute)
		pass(61 * time.Second)
		if !p.isWaiting() || !impatient.isWaiting() {
			t.Fatal("it expired early")
		}
		w.clock.suspend(time.Hour)
		pass(61 * time.Second)
		for _, p := range []*pendingAdmit{p, impatient} {
			if p.isWaiting() {
				t.Fatal("it waits, though its deadline has passed")
			}
			_, err := p.result()
			wantErr(t, err, sayso.ErrExpired)
		}
	})
}

func TestDeadline_thatDenies(t *testing.T) {
	bubble(t, within(sayso.Ask, sayso.Deadline{After: time.Minute, Deny: true}), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), push("c1"))
		r := w.onlyOpen()
		pass(61 * time.Second)
		d, err := p.result()
		if err != nil || d.Effect != sayso.Deny || d.State != sayso.StateDenied || d.Source != sayso.SourceDeadline {
			t.Errorf("got %+v, %v", d, err)
		}
		w.expectEvents(r.ID, sayso.EventResolved)
		_, err = w.answer(dev, r.ID, answer(r, sayso.Allow))
		wantErr(t, err, sayso.ErrDecided)
		w.expectEvents(r.ID, sayso.EventResolved, sayso.EventAnswerRefused)
	})
}

func TestDeadline_none(t *testing.T) {
	bubble(t, within(sayso.Ask, sayso.Deadline{}), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), push("c1"))
		if r := w.onlyOpen(); r.Deadline != nil || r.RemainingS != nil {
			t.Errorf("it shows a deadline: %v", r.Deadline)
		}
		pass(365 * 24 * time.Hour)
		if !p.isWaiting() {
			t.Error("it ended")
		}
	})
}

// Expiry is expiry even before anybody recorded it.
func TestDeadline_beforeItIsRecorded(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		id := w.park("c1")
		r := w.request(id)
		pass(time.Hour)
		if got := w.request(id); got.State != sayso.StateExpired || got.RemainingS != nil {
			t.Errorf("it is shown as %s", got.State)
		}
		if open := w.open(); len(open) != 0 {
			t.Error("it is listed as open")
		}
		w.expectEvents(id, sayso.EventParked)
		d, err := w.answer(dev, id, answer(r, sayso.Allow))
		wantErr(t, err, sayso.ErrExpired)
		if d.Allowed() {
			t.Errorf("got %+v", d)
		}
		w.expectEvents(id, sayso.EventParked, sayso.EventExpired, sayso.EventAnswerRefused)
		if got := w.lastPayload(sayso.EventAnswerRefused); got != `{"effect":"allow","why":"expired"}` {
			t.Errorf("recorded %s", got)
		}
		if err := w.b.Gate(agent).Withdraw(t.Context(), id, ""); err == nil {
			t.Error("it could be withdrawn")
		}
	})
}

func TestDeadline_sweep(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		id := w.park("c1")
		pass(2 * time.Hour)
		for range 2 {
			if err := w.b.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		w.expectEvents(id, sayso.EventParked, sayso.EventExpired)
	})
}

// What a deadline does not depend on: who waits, which process, and what is
// done to the wall clock meanwhile.
func TestDeadline_acrossRestartsAndClockSteps(t *testing.T) {
	for name, c := range map[string]struct {
		boot    bool          // the machine restarts as well
		step    time.Duration // of the wall clock
		expired bool          // after half the time
	}{
		"a restart":                     {false, 0, false},
		"a restart, ten years on":       {false, tenYears, false},
		"a restart, ten years back":     {false, -tenYears, false},
		"another boot":                  {true, 0, false},
		"another boot, ten years on":    {true, tenYears, true},
		"another boot, ten years back":  {true, -tenYears, true},
		"another boot, two seconds ago": {true, -31 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				id := w.park("c1")
				r := w.request(id)
				pass(30 * time.Minute)
				w.clock.step(c.step)
				if c.boot {
					w.clock.reboot("boot-2")
				}
				w.restart()
				if got := w.request(id).State; (got == sayso.StateExpired) != c.expired {
					t.Fatalf("halfway it is %s", got)
				}
				if c.expired {
					_, err := w.answer(dev, id, answer(r, sayso.Allow))
					wantErr(t, err, sayso.ErrExpired)
					return
				}
				p := w.ask(t.Context(), push("c2"))
				pass(29 * time.Minute)
				if !p.isWaiting() {
					t.Fatal("it expired early")
				}
				pass(time.Minute)
				_, err := p.result()
				wantErr(t, err, sayso.ErrExpired)
			})
		})
	}
}

func TestDeadline_whileTheClockSteps(t *testing.T) {
	for _, step := range []time.Duration{tenYears, -tenYears} {
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			p := w.ask(t.Context(), push("c1"))
			id := w.onlyOpen().ID
			w.clock.step(step)
			if err := w.b.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			pass(59 * time.Minute)
			if !p.isWaiting() {
				t.Fatalf("%v: it expired early", step)
			}
			w.answerAsOwner(id, sayso.Allow)
			if d, err := p.result(); err != nil || !d.Allowed() {
				t.Errorf("%v: got %+v, %v", step, d, err)
			}
		})
	}
}

func TestLapse(t *testing.T) {
	for name, c := range map[string]struct {
		parked bool
		after  time.Duration
		err    error
	}{
		"delivered, nine minutes":    {false, 9 * time.Minute, nil},
		"delivered, eleven minutes":  {false, 11 * time.Minute, sayso.ErrVoided},
		"nobody has it, 23 hours":    {true, 23 * time.Hour, nil},
		"nobody has it, 25 hours":    {true, 25 * time.Hour, sayso.ErrVoided},
		"nobody has it, ten minutes": {true, 11 * time.Minute, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, within(sayso.Ask, sayso.Deadline{}), func(t *testing.T, w *harness) {
				var id sayso.ID
				if c.parked {
					id = w.park("c1")
				} else {
					w.ask(t.Context(), push("c1"))
					id = w.onlyOpen().ID
				}
				w.answerAsOwner(id, sayso.Allow)
				pass(c.after)
				d, err := w.admit(atOnce("c1"))
				if !errors.Is(err, c.err) || d.Allowed() != (c.err == nil) {
					t.Fatalf("got %+v, %v", d, err)
				}
				if last := w.eventTypes(id)[len(w.eventTypes(id))-1]; c.err != nil && last != sayso.EventVoided {
					t.Errorf("it ended with %s", last)
				}
				if c.err != nil { // and a new call asks anew
					if p := w.ask(t.Context(), push("c2")); !p.isWaiting() {
						t.Error("a void approval was used")
					}
				}
			})
		})
	}
}

func TestLapse_ofAReceipt(t *testing.T) {
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		d := w.allowed(push("c1"))
		pass(11 * time.Minute)
		for range 2 {
			wantErr(t, w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("c1").Call), sayso.ErrVoided)
		}
		w.expectEvents(d.Request, sayso.EventResolved, sayso.EventVoided)
	})
}

func TestLapse_sweep(t *testing.T) {
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		d, late := w.allowed(push("c1")), 11*time.Minute
		pass(late)
		fresh := w.allowed(push("c2"))
		if err := w.b.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.expectEvents(d.Request, sayso.EventResolved, sayso.EventVoided)
		w.expectEvents(fresh.Request, sayso.EventResolved)
	})
}

// An approval does not survive a clock in doubt.
func TestLapse_acrossBoots(t *testing.T) {
	for step, err := range map[time.Duration]error{0: nil, tenYears: sayso.ErrVoided, -tenYears: sayso.ErrVoided} {
		bubble(t, within(sayso.Ask, sayso.Deadline{}), func(t *testing.T, w *harness) {
			id := w.park("c1")
			w.answerAsOwner(id, sayso.Allow)
			pass(time.Minute)
			w.clock.step(step)
			w.clock.reboot("boot-2")
			w.restart()
			d, got := w.admit(atOnce("c1"))
			if !errors.Is(got, err) || d.Allowed() != (err == nil) {
				t.Errorf("%v: got %+v, %v", step, d, got)
			}
		})
	}
}

func TestRun_sweepsUntilItIsTold(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		id := w.park("c1")
		done := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { done <- w.b.Run(ctx) }()
		pass(time.Hour + 5*time.Second)
		w.expectEvents(id, sayso.EventParked, sayso.EventExpired)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// However many are open, none is forgotten: a sweep looks at all of them, and
// those of Run at some after the other.
func TestSweep_ofMany(t *testing.T) {
	const many = 1100
	for name, sweep := range map[string]func(*testing.T, *harness){
		"once": func(t *testing.T, w *harness) {
			if err := w.b.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		},
		"again and again": func(t *testing.T, w *harness) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := w.b.Run(ctx); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				for n := range many {
					if _, err := w.admit(in("s1", n)); !errors.Is(err, sayso.ErrPending) {
						t.Fatal(err)
					}
				}
				pass(time.Hour)
				sweep(t, w)
				if got := w.count(sayso.EventExpired); got != many {
					t.Errorf("%d of %d expired", got, many)
				}
			}, func(w *harness) { w.opts.MaxOpen, w.opts.MaxAsks = 2*many, 2*many })
		})
	}
}
