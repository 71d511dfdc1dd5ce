package broker_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
)

func TestRedeem_once(t *testing.T) {
	for _, e := range []sayso.Effect{sayso.Allow, sayso.Ask} {
		bubble(t, always(e), func(t *testing.T, w *harness) {
			p := w.ask(t.Context(), push("c1"))
			if e == sayso.Ask {
				w.answerAsOwner(w.onlyOpen().ID, sayso.Allow)
			}
			d, err := p.result()
			if err != nil || !d.Allowed() || d.Redeemed {
				t.Fatal(d, err)
			}
			g := w.b.Gate(agent)
			if err := g.Redeem(t.Context(), d.Receipt, push("").Call); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				wantErr(t, g.Redeem(t.Context(), d.Receipt, push("").Call), sayso.ErrSpent)
			}
			if got := w.request(d.Request).Outcome; got != "unknown" {
				t.Errorf("the outcome is %q", got)
			}
		})
	}
}

func TestRQ5_ofManyOneWins(t *testing.T) {
	w := newHarness(t, always(sayso.Allow))
	for range 50 {
		d := w.allowed(push(""))
		var wg sync.WaitGroup
		var mu sync.Mutex
		won, spent := 0, 0
		for range 8 {
			wg.Go(func() {
				err := w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("").Call)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					won++
				case errors.Is(err, sayso.ErrSpent):
					spent++
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won != 1 || spent != 7 {
			t.Fatalf("%d won and %d were told it was spent", won, spent)
		}
	}
}

func TestRQ5_onlyTheCallThatWasApproved(t *testing.T) {
	call := push("c1").Call
	call.Args = sayso.Args(`{"command":"git push","timeout":1}`)
	for name, c := range map[string]struct {
		change func(*sayso.Call)
		err    error
	}{
		"arguments":          {func(c *sayso.Call) { c.Args = sayso.Args(`{"command":"git push","timeout":2}`) }, sayso.ErrMismatch},
		"one more argument":  {func(c *sayso.Call) { c.Args = sayso.Args(`{"command":"git push","timeout":1,"x":null}`) }, sayso.ErrMismatch},
		"directory":          {func(c *sayso.Call) { c.Cwd = "/tmp" }, sayso.ErrMismatch},
		"session":            {func(c *sayso.Call) { c.Session = "s2" }, sayso.ErrMismatch},
		"definition":         {func(c *sayso.Call) { c.DefinitionDigest = "sha256:other" }, sayso.ErrMismatch},
		"server":             {func(c *sayso.Call) { c.Server = "mcp" }, sayso.ErrMismatch},
		"tool":               {func(c *sayso.Call) { c.Tool = "Read" }, sayso.ErrMismatch},
		"no arguments":       {func(c *sayso.Call) { c.Args = nil }, nil},
		"order of members":   {func(c *sayso.Call) { c.Args = sayso.Args(`{"timeout":1,"command":"git push"}`) }, nil},
		"blanks and numbers": {func(c *sayso.Call) { c.Args = sayso.Args(`{ "command":"git pu\u0073h", "timeout":1.0 }`) }, nil},
		"words about it":     {func(c *sayso.Call) { c.Description, c.CallID, c.Tags = "other", "c9", []string{"t"} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
				d := w.allowed(sayso.Admission{Call: call})
				changed := call
				c.change(&changed)
				g := w.b.Gate(agent)
				err := g.Redeem(t.Context(), d.Receipt, changed)
				if name == "no arguments" {
					if err == nil {
						t.Error("it was redeemed")
					}
					return
				}
				wantErr(t, err, c.err)
				if c.err != nil { // and nothing was spent
					if err := g.Redeem(t.Context(), d.Receipt, call); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

func TestRQ1_whatIsNoReceipt(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		g := w.b.Gate(agent)
		redeem := func(id sayso.ID) error {
			return g.Redeem(t.Context(), sayso.Receipt{Request: id, Digest: digest(t, push("").Call)}, push("").Call)
		}
		p := w.ask(t.Context(), push("c1"))
		id := w.onlyOpen().ID
		wantErr(t, redeem(id), sayso.ErrPending)
		w.answerAsOwner(id, sayso.Deny)
		p.result()
		wantErr(t, redeem(id), sayso.ErrNotAllowed)
		wantErr(t, redeem(sayso.NewID(time.Now(), [16]byte{})), sayso.ErrNotFound)
		wantErr(t, redeem(""), sayso.ErrNotFound)

		w.ask(t.Context(), push("c2"))
		id = w.onlyOpen().ID
		if err := g.Withdraw(t.Context(), id, "changed its mind"); err != nil {
			t.Fatal(err)
		}
		wantErr(t, redeem(id), sayso.ErrWithdrawn)

		w.ask(t.Context(), push("c3"))
		id = w.onlyOpen().ID
		w.answerAsOwner(id, sayso.Allow)
		wantErr(t, w.b.Gate(program).Redeem(t.Context(), sayso.Receipt{Request: id, Digest: digest(t, push("").Call)}, push("").Call), sayso.ErrNotAllowed)
		wantErr(t, g.Redeem(t.Context(), sayso.Receipt{Request: id}, push("").Call), sayso.ErrMismatch)
		if err := redeem(id); err != nil {
			t.Error(err)
		}
	})
}

func TestRedeem_underAnotherPolicy(t *testing.T) {
	for _, immediate := range []bool{false, true} {
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			id := w.park("c1")
			w.answerAsOwner(id, sayso.Allow)
			w.rules.set("v2", nil)
			a := push("c2")
			a.Immediate = immediate
			d, err := w.admit(a)
			wantErr(t, err, sayso.ErrVoided)
			if d.Allowed() || d.Redeemed {
				t.Errorf("got %+v", d)
			}
			w.expectEvents(id, sayso.EventParked, sayso.EventAnswered, sayso.EventResolved, sayso.EventTaken, sayso.EventVoided)
		})
	}
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		d := w.allowed(push("c1"))
		w.rules.set("v2", nil)
		wantErr(t, w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("").Call), sayso.ErrVoided)
		w.rules.set("v1", nil) // void is void
		wantErr(t, w.b.Gate(agent).Redeem(t.Context(), d.Receipt, push("").Call), sayso.ErrVoided)
		w.expectEvents(d.Request, sayso.EventResolved, sayso.EventVoided)
	})
}

func TestWithdraw(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		g := w.b.Gate(agent)
		p := w.ask(t.Context(), push("c1"))
		r := w.onlyOpen()
		wantErr(t, w.b.Gate(program).Withdraw(t.Context(), r.ID, ""), sayso.ErrNotAllowed)
		wantErr(t, g.Withdraw(t.Context(), r.ID, strings.Repeat("x", 4001)), sayso.ErrInvalid)
		for range 2 {
			if err := g.Withdraw(t.Context(), r.ID, "the user said stop"); err != nil {
				t.Fatal(err)
			}
		}
		d, err := p.result()
		wantErr(t, err, sayso.ErrWithdrawn)
		if d.Allowed() || d.Reason != "the user said stop" {
			t.Errorf("got %+v", d)
		}
		w.expectEvents(r.ID, sayso.EventWithdrawn)
		_, err = w.answer(dev, r.ID, answer(r, sayso.Allow))
		wantErr(t, err, sayso.ErrWithdrawn)
		if got := strings.Join(w.refusals(), ","); got != "dev: withdrawn" {
			t.Errorf("recorded %s", got)
		}
	})
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) { // late
		g := w.b.Gate(agent)
		p := w.ask(t.Context(), push("c1"))
		id := w.onlyOpen().ID
		w.answerAsOwner(id, sayso.Allow)
		d, _ := p.result()
		for range 2 {
			if err := g.Withdraw(t.Context(), id, "too late"); err != nil {
				t.Fatal(err)
			}
		}
		wantErr(t, g.Redeem(t.Context(), d.Receipt, push("").Call), sayso.ErrVoided)
		w.expectEvents(id, sayso.EventAnswered, sayso.EventResolved, sayso.EventVoided)
	})
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) { // after it ran
		d := w.allowed(atOnce("c1"))
		wantErr(t, w.b.Gate(agent).Withdraw(t.Context(), d.Request, ""), sayso.ErrSpent)
		w.expectEvents(d.Request, sayso.EventResolved, sayso.EventRedeemed)
	})
	bubble(t, always(sayso.Deny), func(t *testing.T, w *harness) { // of a no
		d, _ := w.admit(push("c1"))
		wantErr(t, w.b.Gate(agent).Withdraw(t.Context(), d.Request, ""), sayso.ErrDecided)
	})
}

func TestReport(t *testing.T) {
	status := 3
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		g := w.b.Gate(agent)
		d := w.allowed(atOnce("c1"))
		failed := sayso.Outcome{Session: "s1", CallID: "c1", Failed: true, ExitStatus: &status, Took: time.Second}
		for range 2 {
			if err := g.Report(t.Context(), failed); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.Report(t.Context(), sayso.Outcome{Request: d.Request}); err != nil {
			t.Error(err)
		}
		w.expectEvents(d.Request, sayso.EventResolved, sayso.EventRedeemed, sayso.EventFinished)
		if got := w.request(d.Request).Outcome; got != "failed" {
			t.Errorf("the outcome is %q", got)
		}
		if got := w.lastPayload(sayso.EventFinished); !strings.Contains(got, `"exit_status":3`) {
			t.Errorf("recorded %s", got)
		}
	})
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		g := w.b.Gate(agent)
		d := w.allowed(push("c1"))
		wantErr(t, g.Report(t.Context(), sayso.Outcome{Request: d.Request}), sayso.ErrInvalid) // it did not run
		wantErr(t, g.Report(t.Context(), sayso.Outcome{Session: "s1", CallID: "c9"}), sayso.ErrNotFound)
		wantErr(t, w.b.Gate(program).Report(t.Context(), sayso.Outcome{Request: d.Request}), sayso.ErrNotAllowed)
		if err := g.Redeem(t.Context(), d.Receipt, push("").Call); err != nil {
			t.Fatal(err)
		}
		if err := g.Report(t.Context(), sayso.Outcome{Request: d.Request}); err != nil {
			t.Fatal(err)
		}
		if got := w.request(d.Request).Outcome; got != "finished" {
			t.Errorf("the outcome is %q", got)
		}
	})
	// Another process, which was told of the call as well, comes first: it is reported once.
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		d := w.allowed(atOnce("c1"))
		other, err := broker.New(w.log.Join(), w.rules, &w.opts)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range []*broker.Broker{other, w.b} {
			if err := b.Gate(agent).Report(t.Context(), sayso.Outcome{Request: d.Request, Failed: i == 0}); err != nil {
				t.Errorf("report %d: %v", i, err)
			}
		}
		w.expectEvents(d.Request, sayso.EventResolved, sayso.EventRedeemed, sayso.EventFinished)
		if got := w.request(d.Request).Outcome; got != "failed" {
			t.Errorf("the outcome is %q", got)
		}
	})
	// Whoever made no request, and whoever makes none, reports none that runs.
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		d := w.allowed(atOnce("c1"))
		noRequester := agent
		noRequester.Kind = sayso.PrincipalPerson
		for _, by := range []sayso.Actor{program, noRequester} {
			wantErr(t, w.b.Gate(by).Report(t.Context(), sayso.Outcome{Request: d.Request}), sayso.ErrNotAllowed)
		}
		w.expectEvents(d.Request, sayso.EventResolved, sayso.EventRedeemed)
	})
	// A call that was taken up is reported under the id that it ran with.
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		id := w.park("c1")
		w.answerAsOwner(id, sayso.Allow)
		w.allowed(atOnce("c2"))
		if err := w.b.Gate(agent).Report(t.Context(), sayso.Outcome{Session: "s1", CallID: "c2"}); err != nil {
			t.Error(err)
		}
		if got := w.request(id).Outcome; got != "finished" {
			t.Errorf("the outcome is %q", got)
		}
	})
}
