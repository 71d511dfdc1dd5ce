package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/saysotest"
)

// A yes that the hook has not used yet is not known to whoever comes after it: they
// would ask once more, or refuse what people changed.
func TestHookAnswers_waitUntilTheYesIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := saysotest.New(t, saysotest.ApproveAll())
		hook := sayso.Actor{Principal: claudecode.Host, Kind: sayso.PrincipalAgent, Channel: "hook", Owner: saysotest.Person.Principal}
		gate := b.GateOf(hook)
		call := sayso.Call{Host: claudecode.Host, Tool: "Bash", Session: "s", CallID: "toolu_1", Cwd: "/", Args: sayso.Args(`{"command":"make"}`)}
		answers, got := &hookAnswers{inbox: b.InboxOf(hook)}, make(chan *sayso.Decision, 1)
		go func() { // ends with the bubble
			d, err := answers.of(t.Context(), "s", "toolu_1")
			if err != nil {
				t.Error(err)
			}
			got <- d
		}()
		time.Sleep(hookStarts / 2)
		d, err := gate.Admit(t.Context(), sayso.Admission{Call: call})
		if err != nil || !d.Allowed() {
			t.Fatalf("%+v, %v", d, err)
		}
		synctest.Wait()
		if len(got) > 0 {
			t.Fatalf("told %+v before the hook used it", <-got)
		}
		if err := gate.Redeem(t.Context(), d.Receipt, call); err != nil {
			t.Fatal(err)
		}
		if d := <-got; d == nil || !d.Allowed() {
			t.Errorf("told %+v", d)
		}
	})
}

// A hook that does not ask is waited for once, and one that is gone with its yes not
// for ever.
func TestHookAnswers_doNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := saysotest.New(t, saysotest.ApproveAll())
		hook := sayso.Actor{Principal: claudecode.Host, Kind: sayso.PrincipalAgent, Channel: "hook", Owner: saysotest.Person.Principal}
		answers := &hookAnswers{inbox: b.InboxOf(hook)}
		call := sayso.Call{Host: claudecode.Host, Tool: "Bash", Session: "s", CallID: "toolu_1", Cwd: "/", Args: sayso.Args(`{"command":"make"}`)}
		if _, err := b.GateOf(hook).Admit(t.Context(), sayso.Admission{Call: call}); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			id   string
			took time.Duration
			told bool
		}{{"toolu_1", hookStarts, true}, {"toolu_2", hookStarts, false}, {"toolu_3", 0, false}} {
			from := time.Now()
			d, err := answers.of(t.Context(), "s", step.id)
			if took := time.Since(from); err != nil || (d != nil) != step.told || took != step.took {
				t.Errorf("%s: %+v, %v after %s, want %+v", step.id, d, err, took, step)
			}
		}
	})
}
