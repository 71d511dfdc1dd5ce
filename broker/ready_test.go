package broker_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

// switchable is a policy whose readiness the test sets, also while calls wait.
func switchable() (option func(*harness), set func(error)) {
	var mu sync.Mutex
	var now error
	option = func(w *harness) {
		w.opts.Ready = func() error {
			mu.Lock()
			defer mu.Unlock()
			return now
		}
	}
	set = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		now = err
	}
	return option, set
}

// A policy that cannot be read for a moment is not another policy: nothing is
// admitted and nothing redeemed meanwhile, and what was allowed and remembered
// before stands afterwards.
func TestReady_whatWasAllowedStands(t *testing.T) {
	broken := errors.New("the policy cannot be read")
	ready, set := switchable()
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), push("c1"))
		remembered := answer(w.onlyOpen(), sayso.Allow)
		remembered.Scope = sayso.ScopeSession
		if _, err := w.answer(dev, w.onlyOpen().ID, remembered); err != nil {
			t.Fatal(err)
		}
		d, err := p.result()
		if err != nil {
			t.Fatal(err)
		}
		set(broken)
		w.rules.set("broken", nil)
		if err := w.b.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("c1").Call); !errors.Is(err, broken) {
			t.Errorf("redeemed: %v", err)
		}
		if d, err := w.b.Gate(agent).Admit(t.Context(), push("c2")); d.Allowed() || !errors.Is(err, broken) {
			t.Errorf("admitted: %+v, %v", d, err)
		}
		pass(time.Second)
		set(nil)
		w.rules.set("v1", nil)
		if err := w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("c1").Call); err != nil {
			t.Errorf("the approval is gone: %v", err)
		}
		if d, err := w.b.Gate(agent).Admit(t.Context(), push("c3")); err != nil || !d.Allowed() || d.Source != sayso.SourceGrant {
			t.Errorf("the grant is gone: %+v, %v", d, err)
		}
	}, ready)
}

// An answer that is given while the policy cannot be read is not delivered as a
// yes, and the approval is not made void by that.
func TestReady_isAskedBeforeAYesIsDelivered(t *testing.T) {
	broken := errors.New("the policy cannot be read")
	ready, set := switchable()
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		a := push("c1")
		a.Immediate = true
		p := w.ask(t.Context(), a)
		r := w.onlyOpen()
		set(broken)
		if _, err := w.b.Inbox(dev).Answer(t.Context(), r.ID, answer(r, sayso.Allow)); err != nil {
			t.Fatal(err)
		}
		w.rules.set("broken", nil)
		if d, err := p.result(); d.Allowed() || !errors.Is(err, broken) {
			t.Errorf("delivered: %+v, %v", d, err)
		}
		set(nil)
		w.rules.set("v1", nil)
		if d, err := w.b.Gate(agent).Admit(t.Context(), a); err != nil || !d.Allowed() {
			t.Errorf("the approval is gone: %+v, %v", d, err)
		}
	}, ready)
}
