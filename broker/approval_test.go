package broker_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/store/memory"
)

// given are the ways to an approval that nobody used yet: who allows, the rules
// there are, and how the decision comes about.
var given = map[sayso.Source]struct {
	effect sayso.Effect
	allow  func(*harness) sayso.Decision
}{
	sayso.SourcePerson: {sayso.Ask, func(w *harness) sayso.Decision {
		p := w.ask(w.t.Context(), push("c1"))
		w.answerAsOwner(w.onlyOpen().ID, sayso.Allow)
		d, err := p.result()
		if err != nil {
			w.t.Fatal(err)
		}
		return d
	}},
	sayso.SourceMode: {sayso.Ask, func(w *harness) sayso.Decision {
		w.begin()
		w.setMode(w.b, sayso.ModeApproveAll)
		return w.allowed(push("c1"))
	}},
	sayso.SourceGrant: {sayso.Ask, func(w *harness) sayso.Decision {
		w.remember(atOnce("c0"))
		return w.allowed(push("c1"))
	}},
	sayso.SourcePolicy: {sayso.Allow, func(w *harness) sayso.Decision { return w.allowed(push("c1")) }},
}

func (w *harness) begin() {
	w.t.Helper()
	if err := w.b.Gate(agent).Begin(w.t.Context(), "s1", "claude-code"); err != nil {
		w.t.Fatal(err)
	}
}

// setMode sets a mode for a minute.
func (w *harness) setMode(b *broker.Broker, m sayso.Mode) {
	w.t.Helper()
	if err := b.Inbox(dev).SetMode(w.t.Context(), "s1", m, time.Minute); err != nil {
		w.t.Fatal(err)
	}
}

func (w *harness) setPolicy(b *broker.Broker, e sayso.Effect) {
	w.t.Helper()
	if err := b.Inbox(dev).SetPolicies(w.t.Context(), "s1", map[string]sayso.Effect{"bash": e}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *harness) revokeAll(b *broker.Broker) {
	w.t.Helper()
	for _, g := range w.grants(false) {
		if err := b.Inbox(dev).Revoke(w.t.Context(), g.ID); err != nil {
			w.t.Fatal(err)
		}
	}
}

// lockable is a lock that the test turns.
func lockable() (option func(*harness), locked *atomic.Bool) {
	locked = new(atomic.Bool)
	return func(w *harness) { w.opts.Locked = locked.Load }, locked
}

// turns are what can come between an approval and its use, and why each makes
// the approval void, by who gave it; nobody's does where nothing is said.
var turns = map[string]struct {
	turn func(*harness, *broker.Broker, *atomic.Bool)
	void map[sayso.Source]string
}{
	// DE2: a deny is final, and the session's is one.
	"session deny": {func(w *harness, b *broker.Broker, _ *atomic.Bool) { w.setPolicy(b, sayso.Deny) }, map[sayso.Source]string{
		sayso.SourcePerson: "denied", sayso.SourceMode: "denied", sayso.SourceGrant: "denied", sayso.SourcePolicy: "denied",
	}},
	// The session's ask joins the asks: a person has answered it, a grant covers it,
	// the mode allows it, and policy has not.
	"session ask": {func(w *harness, b *broker.Broker, _ *atomic.Bool) { w.setPolicy(b, sayso.Ask) }, map[sayso.Source]string{
		sayso.SourcePolicy: "session policy changed",
	}},
	// The lock has everything asked, and no grant counts.
	"lock": {func(_ *harness, _ *broker.Broker, locked *atomic.Bool) { locked.Store(true) }, map[sayso.Source]string{
		sayso.SourcePerson: "locked", sayso.SourceMode: "locked", sayso.SourceGrant: "locked", sayso.SourcePolicy: "locked",
	}},
	// A mode turns asks, and neither what was answered nor what policy allows.
	"strict": {func(w *harness, b *broker.Broker, _ *atomic.Bool) { w.setMode(b, sayso.ModeStrict) }, map[sayso.Source]string{
		sayso.SourceMode: "mode changed",
	}},
	"strict for all": {func(w *harness, b *broker.Broker, _ *atomic.Bool) {
		if err := b.Inbox(admin).SetMode(w.t.Context(), "", sayso.ModeStrict, 0); err != nil {
			w.t.Fatal(err)
		}
	}, map[sayso.Source]string{sayso.SourceMode: "mode changed"}},
	"interactive": {func(w *harness, b *broker.Broker, _ *atomic.Bool) { w.setMode(b, sayso.ModeInteractive) }, map[sayso.Source]string{
		sayso.SourceMode: "mode changed",
	}},
	"approve_all": {func(w *harness, b *broker.Broker, _ *atomic.Bool) { w.setMode(b, sayso.ModeApproveAll) }, nil},
	"mode ended": {func(w *harness, b *broker.Broker, _ *atomic.Bool) {
		w.setMode(b, sayso.ModeApproveAll)
		pass(2 * time.Minute)
	}, map[sayso.Source]string{sayso.SourceMode: "mode changed"}},
	// GR4: a grant can be revoked, and then covers nothing.
	"revoked": {func(w *harness, b *broker.Broker, _ *atomic.Bool) { w.revokeAll(b) }, map[sayso.Source]string{
		sayso.SourceGrant: "revoked",
	}},
	// GR4: session grants die with the session.
	"session ended": {func(w *harness, b *broker.Broker, _ *atomic.Bool) {
		if err := b.Gate(agent).End(w.t.Context(), "s1"); err != nil {
			w.t.Fatal(err)
		}
	}, map[sayso.Source]string{sayso.SourceGrant: "session ended"}},
}

// uses are the ways to use an approval. Each returns the error, and whether the
// approval itself was used.
var uses = map[string]func(*harness, sayso.Decision) (error, bool){
	"redeem": func(w *harness, d sayso.Decision) (error, bool) {
		err := w.b.Gate(agent).Redeem(w.t.Context(), d.Receipt, push("c1").Call)
		return err, err == nil
	},
	"delivery": func(w *harness, d sayso.Decision) (error, bool) { // the caller that has it asks once more
		got, err := w.admit(patient("c1", time.Second))
		return err, got.Allowed() && got.Request == d.Request
	},
	"take-up": func(w *harness, d sayso.Decision) (error, bool) { // after its caller died
		w.restart()
		a := patient("c2", time.Second)
		a.Immediate = true
		got, err := w.admit(a)
		return err, got.Allowed() && got.Request == d.Request
	},
}

// What was allowed and not used is settled anew by what holds when it is: that it
// was allowed once is no answer to what somebody said since.
func TestStands(t *testing.T) {
	for source, given := range given {
		for turned, turn := range turns {
			for used, use := range uses {
				t.Run(fmt.Sprintf("%s/%s/%s", source, turned, used), func(t *testing.T) {
					option, locked := lockable()
					bubble(t, always(given.effect), func(t *testing.T, w *harness) {
						d := given.allow(w)
						if d.Source != source || d.Redeemed {
							t.Fatalf("the approval is %+v", d)
						}
						turn.turn(w, w.b, locked)
						err, ran := use(w, d)
						w.used(d.Request, used, turn.void[source], err, ran)
					}, option)
				})
			}
		}
	}
}

// used compares what became of an approval with why it should be void.
func (w *harness) used(id sayso.ID, how, why string, err error, ran bool) {
	w.t.Helper()
	life := w.eventTypes(id)
	switch last := life[len(life)-1]; {
	case why == "":
		if err != nil || !ran || how != "delivery" && last != sayso.EventRedeemed {
			w.t.Errorf("it was not used: %v, %v", err, life)
		}
		return
	case ran, last != sayso.EventVoided:
		w.t.Fatalf("it was used: %v, %v", ran, life)
	}
	if got := w.lastPayload(sayso.EventVoided); got != fmt.Sprintf(`{"reason":%q}`, why) {
		w.t.Errorf("it is void for %s, want %q", got, why)
	}
	if how != "take-up" && (!errors.Is(err, sayso.ErrVoided) || !strings.Contains(err.Error(), why)) {
		w.t.Errorf("got %v, want that it is void: %s", err, why)
	}
}

// What was said in another process holds here too, where it is not known yet.
func TestStands_saidElsewhere(t *testing.T) {
	for source, given := range given {
		for turned, turn := range turns {
			for _, used := range []string{"redeem", "immediate"} {
				t.Run(fmt.Sprintf("%s/%s/%s", source, turned, used), func(t *testing.T) {
					option, locked := lockable()
					bubble(t, always(given.effect), func(t *testing.T, w *harness) {
						d := given.allow(w)
						other, err := broker.New(w.log, w.rules, &w.opts)
						if err != nil {
							t.Fatal(err)
						}
						defer other.Close()
						turn.turn(w, other, locked)
						ran := false
						if used == "redeem" {
							err, ran = uses["redeem"](w, d)
						} else {
							got, failed := w.admit(atOnce("c1"))
							err, ran = failed, got.Redeemed
						}
						w.used(d.Request, used, turn.void[source], err, ran)
					}, option)
				})
			}
		}
	}
}

// A call whose approval is void by now is judged as a new one.
func TestStands_theCallIsJudgedAnew(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		id := w.park("c1")
		w.answerAsOwner(id, sayso.Allow)
		w.setPolicy(w.b, sayso.Deny)
		d, err := w.admit(atOnce("c2"))
		if err != nil || d.Effect != sayso.Deny || d.Request == id || d.Cause != sayso.CauseSession {
			t.Errorf("got %+v, %v", d, err)
		}
		w.expectEvents(id, sayso.EventParked, sayso.EventAnswered, sayso.EventResolved, sayso.EventVoided)
		w.setPolicy(w.b, sayso.Allow) // void is void
		if d := w.allowed(atOnce("c3")); d.Request == id || d.Source != sayso.SourcePolicy {
			t.Errorf("got %+v", d)
		}
	})
}

// A yes that is given under the lock is what the lock asks for.
func TestStands_aYesUnderTheLock(t *testing.T) {
	for name, before := range map[string]bool{"asked before it": false, "asked under it": true} {
		option, locked := lockable()
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			locked.Store(before)
			p := w.ask(t.Context(), push("c1"))
			locked.Store(true)
			w.answerAsOwner(w.onlyOpen().ID, sayso.Allow)
			d, err := p.result()
			if err != nil || !d.Allowed() {
				t.Fatalf("%s: got %+v, %v", name, d, err)
			}
			w.restart()
			d = w.allowed(push("c2"))
			if err := w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("c2").Call); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}, option)
	}
}

// What the session allowed is not allowed by policy once the session does not.
func TestStands_whatTheSessionAllowed(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.begin()
		w.setPolicy(w.b, sayso.Allow)
		first, second := w.allowed(push("c1")), w.allowed(push("c2"))
		redeem := func(d sayso.Decision) error {
			return w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("").Call)
		}
		if err := redeem(first); err != nil {
			t.Error(err)
		}
		if err := w.b.Inbox(dev).SetPolicies(t.Context(), "s1", nil); err != nil {
			t.Fatal(err)
		}
		wantErr(t, redeem(second), sayso.ErrVoided)
	})
}

// The last use of a grant is a use.
func TestStands_theLastUseOfAGrant(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.remember(atOnce("c0"), func(a *sayso.Answer) { a.Uses = 1 })
		d := w.allowed(push("c1"))
		if err := w.b.Sweep(t.Context()); err != nil { // which records that it is used up
			t.Fatal(err)
		}
		if err := w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("c1").Call); err != nil {
			t.Error(err)
		}
	})
}

// What a strict caller is allowed does not depend on the mode of the session.
func TestStands_forAStrictCaller(t *testing.T) {
	p := &rules{version: "v1", judge: func(sayso.Call) sayso.Verdict {
		return sayso.Verdict{Match: rule(sayso.Ask), Default: rule(sayso.Ask)}
	}}
	bubble(t, p, func(t *testing.T, w *harness) {
		a := push("c1")
		a.Strict, a.Asking, a.Ask = true, true, &sayso.ToolAsk{}
		gate := w.b.Gate(program)
		d, err := gate.Admit(t.Context(), a)
		if err != nil || !d.Allowed() || d.Source != sayso.SourceMode {
			t.Fatalf("got %+v, %v", d, err)
		}
		if err := gate.Redeem(t.Context(), d.Receipt, a.Call); err != nil {
			t.Error(err)
		}
	})
}

// Who asks again what policy denies by now, while the same call waits for people
// who could not allow it any more, is told of the denial.
func TestTakeUp_whatPolicyDeniesByNow(t *testing.T) {
	for name, deny := range map[string]func(*harness){
		"policy":      func(w *harness) { w.rules.set("v2", func(sayso.Call) sayso.Verdict { return ruled(rule(sayso.Deny)) }) },
		"the session": func(w *harness) { w.setPolicy(w.b, sayso.Deny) },
	} {
		for _, id := range []string{"c1", "c2", ""} {
			t.Run(name+"/"+id, func(t *testing.T) {
				bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
					waits := w.park("c1")
					deny(w)
					d, err := w.admit(patient(id, time.Second))
					if err != nil || d.Effect != sayso.Deny || d.Source != sayso.SourcePolicy || d.Request != waits {
						t.Errorf("got %+v, %v", d, err)
					}
					w.expectEvents(waits, sayso.EventParked, sayso.EventTaken, sayso.EventResolved)
				})
			})
		}
	}
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) { // which turns asks, and this was asked
		waits := w.park("c1")
		w.setMode(w.b, sayso.ModeStrict)
		_, err := w.admit(patient("c2", time.Second))
		wantErr(t, err, sayso.ErrPending)
		w.answerAsOwner(waits, sayso.Allow)
		w.allowed(atOnce("c3"))
	})
}

// Of the use of an approval and what speaks against it, said at once in another
// process, one is first in the log: nothing is used behind what makes it void.
func TestStands_nothingIsUsedBehindADeny(t *testing.T) {
	for name, c := range map[string]struct {
		effect sayso.Effect
		mode   sayso.Mode
		yes    bool // somebody remembers a yes first
		say    func(in sayso.Inbox, session string, grant sayso.ID) (stream string, err error)
	}{
		"a deny": {effect: sayso.Allow, say: func(in sayso.Inbox, session string, _ sayso.ID) (string, error) {
			return sayso.SessionStream(session), in.SetPolicies(t.Context(), session, map[string]sayso.Effect{"bash": sayso.Deny})
		}},
		"another mode for all": {effect: sayso.Ask, mode: sayso.ModeApproveAll, say: func(in sayso.Inbox, _ string, _ sayso.ID) (string, error) {
			return sayso.BrokerStream, in.SetMode(t.Context(), "", sayso.ModeStrict, 0)
		}},
		"a revocation": {effect: sayso.Ask, yes: true, say: func(in sayso.Inbox, _ string, grant sayso.ID) (string, error) {
			return sayso.GrantStream(grant), in.Revoke(t.Context(), grant)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 100 {
				log := memory.New(nil)
				defer log.Close()
				p := always(c.effect)
				var brokers [2]*broker.Broker
				for i := range brokers {
					b, err := broker.New(log, p, nil)
					if err != nil {
						t.Fatal(err)
					}
					defer b.Close()
					brokers[i] = b
				}
				gate, in := brokers[0].Gate(agent), brokers[1].Inbox(admin)
				if c.mode != "" {
					if err := in.SetMode(t.Context(), "", c.mode, time.Hour); err != nil {
						t.Fatal(err)
					}
				}
				var grant sayso.ID
				if c.yes {
					grant = yes(t, gate, in)
				}
				d, err := gate.Admit(t.Context(), push("c1"))
				if err != nil || !d.Allowed() {
					t.Fatal(d, err)
				}
				var said sync.WaitGroup
				var stream string
				said.Go(func() {
					if stream, err = c.say(in, "s1", grant); err != nil {
						t.Error(err)
					}
				})
				redeemed := gate.Redeem(t.Context(), d.Receipt, push("c1").Call)
				said.Wait()
				use, word := newest(t, log, sayso.RequestStream(d.Request)), newest(t, log, stream)
				if used := use.Type == sayso.EventRedeemed; used != (redeemed == nil) || used && use.Seq > word.Seq {
					t.Fatalf("%s came at %d, %s at %d: %v", use.Type, use.Seq, word.Type, word.Seq, redeemed)
				}
			}
		})
	}
}

// yes has a person remember a yes to the call, which is not taken up.
func yes(t *testing.T, gate sayso.Gate, in sayso.Inbox) sayso.ID {
	t.Helper()
	_, err := gate.Admit(t.Context(), patient("c0", time.Nanosecond))
	var pending *sayso.PendingError
	if !errors.As(err, &pending) {
		t.Fatal(err)
	}
	r, err := in.Request(t.Context(), string(pending.Ticket))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Answer(t.Context(), r.ID, remembered(r)); err != nil {
		t.Fatal(err)
	}
	if d, err := gate.Admit(t.Context(), atOnce("c0")); err != nil || !d.Redeemed {
		t.Fatal(d, err)
	}
	grants, err := in.Grants(t.Context(), "s1", false)
	if err != nil || len(grants) != 1 {
		t.Fatal(grants, err)
	}
	return grants[0].ID
}

// newest is the last event of a stream.
func newest(t *testing.T, log sayso.Log, stream string) sayso.Event {
	t.Helper()
	events, err := log.Stream(t.Context(), stream, 0)
	if err != nil || len(events) == 0 {
		t.Fatal(events, err)
	}
	return events[len(events)-1]
}
