package broker_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

const dryRun = `{"command":"git push --dry-run"}`

// noForce is a policy that asks about everything and denies --force.
func noForce() *rules {
	return &rules{version: "v1", judge: func(c sayso.Call) sayso.Verdict {
		if strings.Contains(string(c.Args), "--force") {
			return ruled(rule(sayso.Ask), rule(sayso.Deny))
		}
		return ruled(rule(sayso.Ask))
	}}
}

func editable(a sayso.Admission) sayso.Admission {
	a.CanEdit = true
	return a
}

func edited(r sayso.Request, args string) sayso.Answer {
	a := answer(r, sayso.Allow)
	a.Args = sayso.Args(args)
	return a
}

func digest(t *testing.T, c sayso.Call) sayso.Digest {
	t.Helper()
	d, err := c.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func withArgs(c sayso.Call, args string) sayso.Call {
	c.Args = sayso.Args(args)
	return c
}

func TestEdit_theEditedCallRuns(t *testing.T) {
	bubble(t, noForce(), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), editable(push("c1")))
		r := w.onlyOpen()
		if !r.CanEdit {
			t.Error("editing is not offered")
		}
		if _, err := w.answer(dev, r.ID, edited(r, dryRun)); err != nil {
			t.Fatal(err)
		}
		d, err := p.result()
		original, want := push("c1").Call, digest(t, withArgs(push("c1").Call, dryRun))
		if err != nil || !d.Allowed() || string(d.Args) != dryRun || d.Digest != want || d.Receipt.Digest != want {
			t.Fatalf("got %+v, %v", d, err)
		}
		answered, resolved := w.lastPayload(sayso.EventAnswered), w.lastPayload(sayso.EventResolved)
		for _, dig := range []string{r.Digest.String(), want.String()} {
			if !strings.Contains(answered, dig) {
				t.Errorf("answered does not name %s: %s", dig, answered)
			}
		}
		if !strings.Contains(resolved, `"edited":"`+want.String()) {
			t.Errorf("resolved does not name the edited call: %s", resolved)
		}
		g := w.b.Gate(agent)
		wantErr(t, g.Redeem(t.Context(), d.Receipt, original), sayso.ErrMismatch)
		wantErr(t, g.Redeem(t.Context(), sayso.Receipt{Request: r.ID, Digest: r.Digest}, original), sayso.ErrMismatch)
		if err := g.Redeem(t.Context(), d.Receipt, withArgs(original, dryRun)); err != nil {
			t.Errorf("the edited call: %v", err)
		}
	})
}

func TestEdit_policyDeniesIt(t *testing.T) {
	bubble(t, noForce(), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), editable(push("c1")))
		r := w.onlyOpen()
		d, err := w.answer(dev, r.ID, edited(r, `{"command":"git push --force"}`))
		wantErr(t, err, sayso.ErrNotAllowed)
		if d.Allowed() || !p.isWaiting() {
			t.Errorf("got %+v", d)
		}
		w.expectEvents(r.ID)
	})
}

func TestEdit_theRetryOfTheOriginalReceivesIt(t *testing.T) {
	bubble(t, noForce(), func(t *testing.T, w *harness) {
		_, err := w.admit(editable(patient("c1", time.Second)))
		wantErr(t, err, sayso.ErrPending)
		r := w.onlyOpen()
		if _, err := w.answer(dev, r.ID, edited(r, dryRun)); err != nil {
			t.Fatal(err)
		}
		if d := w.allowed(editable(atOnce("c2"))); d.Request != r.ID || string(d.Args) != dryRun || !d.Redeemed {
			t.Errorf("got %+v", d)
		}
	})
}

func TestEdit_whereTheHostCannot(t *testing.T) {
	bubble(t, noForce(), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), push("c1"))
		r := w.onlyOpen()
		if r.CanEdit {
			t.Error("editing is offered")
		}
		_, err := w.answer(dev, r.ID, edited(r, dryRun))
		wantErr(t, err, sayso.ErrInvalid)
		if !p.isWaiting() {
			t.Error("it was decided")
		}
	})
	// The first asker could edit, the one that takes the request up cannot.
	bubble(t, noForce(), func(t *testing.T, w *harness) {
		w.admit(editable(patient("c1", time.Second)))
		r := w.onlyOpen()
		if _, err := w.answer(dev, r.ID, edited(r, dryRun)); err != nil {
			t.Fatal(err)
		}
		d, err := w.admit(atOnce("c2"))
		wantErr(t, err, sayso.ErrMismatch)
		if d.Allowed() || d.Redeemed {
			t.Errorf("the original would run on the approval of another: %+v", d)
		}
	})
}

func TestEdit_secretsStayHidden(t *testing.T) {
	bubble(t, noForce(), func(t *testing.T, w *harness) {
		a := editable(push("c1"))
		a.Call.Args = sayso.Args(`{"command":"deploy","token":"canary-old-value-1"}`)
		p := w.ask(t.Context(), a)
		r := w.onlyOpen()
		args := `{"command":"deploy","token":"canary-new-value-2"}`
		ans := edited(r, args)
		ans.Note = "was canary-old-value-1, is canary-new-value-2"
		if _, err := w.answer(dev, r.ID, ans); err != nil {
			t.Fatal(err)
		}
		if d, err := p.result(); err != nil || string(d.Args) != args {
			t.Errorf("the call gets %s, %v", d.Args, err)
		}
		w.expectHidden(t, r.ID, "canary-old-value-1", "canary-new-value-2")
	})
}

// DE2: where an edited path leads is not known to the broker, and neither is what
// an edited command would touch where the policy names folders: such an edit is
// refused, since policy may deny what it names. The same path stays as it was.
func TestDE2_editsThatLeadElsewhere(t *testing.T) {
	call := func(tool, args string) sayso.Admission {
		a := editable(patient("c1", time.Second))
		a.Call.Tool, a.Call.Host, a.Call.Args = tool, "", sayso.Args(args)
		a.Facts.Operands = []sayso.PathFact{{Arg: "path", Path: "ok", Resolved: "/ws/ok", State: sayso.PathFile}}
		return a
	}
	for name, c := range map[string]struct {
		ask    sayso.Admission
		edited string
		roots  []string
		ok     bool
	}{
		"another path":                       {call("file-write", `{"path":"ok","content":"a"}`), `{"path":"/etc/x","content":"a"}`, nil, false},
		"no path":                            {call("file-write", `{"path":"ok","content":"a"}`), `{"content":"a"}`, nil, false},
		"the same path":                      {call("file-write", `{"path":"ok","content":"a"}`), `{"path":"ok","content":"b"}`, nil, true},
		"a command":                          {call("bash", `{"command":"a"}`), `{"command":"b"}`, nil, true},
		"a command, where folders are named": {call("bash", `{"command":"a"}`), `{"command":"b"}`, []string{"./notes"}, false},
		"a command that is the same":         {call("bash", `{"command":"a"}`), `{"command":"a","timeout":1}`, []string{"./notes"}, true},
		"an address":                         {call("web-fetch", `{"url":"https://a.example"}`), `{"url":"https://b.example"}`, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
				w.admit(c.ask)
				r := w.onlyOpen()
				d, err := w.answer(dev, r.ID, edited(r, c.edited))
				if c.ok && err != nil || !c.ok && !errors.Is(err, sayso.ErrInvalid) {
					t.Fatalf("got %v", err)
				}
				if d.Allowed() != c.ok {
					t.Errorf("decided: %+v", d)
				}
			}, func(w *harness) {
				w.opts.Wanted = func() sayso.FactsWanted { return sayso.FactsWanted{Policy: "v1", Roots: c.roots} }
			})
		})
	}
}
