package broker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/store/memory"
)

func TestNew_needsALogAndAPolicy(t *testing.T) {
	if _, err := broker.New(nil, always(sayso.Ask), nil); !errors.Is(err, sayso.ErrInvalid) {
		t.Errorf("without a log: %v", err)
	}
	if _, err := broker.New(memory.New(nil), nil, nil); !errors.Is(err, sayso.ErrInvalid) {
		t.Errorf("without a policy: %v", err)
	}
}

func TestAdmit_policyDecides(t *testing.T) {
	for _, e := range []sayso.Effect{sayso.Allow, sayso.Deny} {
		for _, immediate := range []bool{true, false} {
			bubble(t, always(e), func(t *testing.T, w *harness) {
				a := push("c1")
				a.Immediate = immediate
				d, err := w.admit(a)
				if err != nil || d.Effect != e || d.Source != sayso.SourcePolicy {
					t.Fatalf("%s: got %+v, %v", e, d, err)
				}
				if d.Rule != "always "+e.String() || d.File != "policy.yaml" || d.Line != 7 {
					t.Errorf("%s: the decision does not say why: %+v", e, d)
				}
				if d.Redeemed != (e == sayso.Allow && immediate) {
					t.Errorf("%s: redeemed is %v", e, d.Redeemed)
				}
				want := []sayso.EventType{sayso.EventResolved}
				if d.Redeemed {
					want = append(want, sayso.EventRedeemed)
				}
				w.expectEvents(d.Request, want...)
			})
		}
	}
}

func TestAdmit_aPolicyAtItsWord(t *testing.T) {
	for _, e := range []sayso.Effect{sayso.Allow, sayso.Deny} {
		bare := &rules{version: "v1", judge: func(sayso.Call) sayso.Verdict { return sayso.Verdict{Match: rule(e)} }}
		bubble(t, bare, func(t *testing.T, w *harness) {
			if d, err := w.admit(push("c1")); err != nil || d.Effect != e {
				t.Errorf("a verdict without matches: got %+v, %v, want %s", d, err, e)
			}
		})
	}
	nothing := &rules{version: "v1", judge: func(sayso.Call) sayso.Verdict { return sayso.Verdict{} }}
	bubble(t, nothing, func(t *testing.T, w *harness) {
		if d, err := w.admit(push("c1")); err != nil || d.Effect != sayso.Deny {
			t.Errorf("the zero verdict: got %+v, %v", d, err)
		}
	})
}

func TestAdmit_waitsForAPerson(t *testing.T) {
	for _, e := range []sayso.Effect{sayso.Allow, sayso.Deny} {
		bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
			p := w.ask(t.Context(), atOnce("c1"))
			r := w.onlyOpen()
			if r.State != sayso.StateOpen || r.Tool != "bash" || r.HostTool != "Bash" || string(r.Preview) != `{"command":"git push"}` {
				t.Errorf("people see %+v", r)
			}
			pass(20 * time.Minute)
			if !p.isWaiting() {
				t.Fatal("it did not wait")
			}
			given := w.answerAsOwner(r.ID, e)
			d, err := p.result()
			if err != nil || d.Effect != e || d.Source != sayso.SourcePerson || d.Who() != "dev" || given.Effect != e {
				t.Errorf("%s: the caller got %+v, %v; the person got %+v", e, d, err, given)
			}
			want := []sayso.EventType{sayso.EventAnswered, sayso.EventResolved}
			if e == sayso.Allow {
				want = append(want, sayso.EventRedeemed)
			}
			w.expectEvents(r.ID, want...)
		})
	}
}

func TestAdmit_aPersonSeesNoReceipt(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		w.ask(t.Context(), push("c1"))
		r := w.onlyOpen()
		if d := w.answerAsOwner(r.ID, sayso.Allow); d.Receipt != (sayso.Receipt{}) {
			t.Error("the answer returned the receipt")
		}
		if d := w.request(r.ID).Decision; d == nil || d.Receipt != (sayso.Receipt{}) {
			t.Errorf("the request shows %+v", d)
		}
	})
}

func TestAdmit_refusesWhatIsNoCall(t *testing.T) {
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		for name, c := range map[string]sayso.Call{
			"no tool":           {Args: sayso.Args(`{}`)},
			"duplicate keys":    {Tool: "bash", Args: sayso.Args(`{"command":"a","command":"b"}`)},
			"no object":         {Tool: "bash", Args: sayso.Args(`[]`)},
			"no JSON":           {Tool: "bash", Args: sayso.Args(`{"command":`)},
			"a control byte":    {Tool: "bash\x1b[2J", Args: sayso.Args(`{}`)},
			"a lone surrogate":  {Tool: "bash", Args: sayso.Args(`{"command":"\ud800"}`)},
			"an unknown kind":   {Tool: "bash", Kind: "spell", Args: sayso.Args(`{}`)},
			"too long a number": {Tool: "bash", Args: sayso.Args(`{"n":1e999}`)},
		} {
			d, err := w.admit(sayso.Admission{Call: c})
			if !errors.Is(err, sayso.ErrInvalid) || d.Allowed() {
				t.Errorf("%s: got %+v, %v", name, d, err)
			}
		}
		if n := len(w.allEvents()); n != 0 {
			t.Errorf("%d events were recorded", n)
		}
	})
}

func TestGate_isForRequesters(t *testing.T) {
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		d := w.allowed(push("c1"))
		for _, who := range []sayso.Actor{dev, admin, viewer, {Principal: agent.Principal, Kind: sayso.PrincipalPerson}, {}} {
			g := w.b.Gate(who)
			_, err := g.Admit(t.Context(), push("c2"))
			wantErr(t, err, sayso.ErrNotAllowed)
			wantErr(t, g.Redeem(t.Context(), d.Receipt, push("c1").Call), sayso.ErrNotAllowed)
			wantErr(t, g.Withdraw(t.Context(), d.Request, ""), sayso.ErrNotAllowed)
			wantErr(t, g.Report(t.Context(), sayso.Outcome{Request: d.Request}), sayso.ErrNotAllowed)
			wantErr(t, g.Begin(t.Context(), "s1", ""), sayso.ErrNotAllowed)
			wantErr(t, g.End(t.Context(), "s1"), sayso.ErrNotAllowed)
		}
		w.expectEvents(d.Request, sayso.EventResolved)
	})
}

func TestAdmit_presentsOnlyToPeople(t *testing.T) {
	shown := 0
	present := func(context.Context) (*sayso.Presentation, error) {
		shown++
		return &sayso.Presentation{Type: sayso.PresentDiff, Content: "-a\n+b\n\x1b[2J", Language: "go"}, nil
	}
	for e, want := range map[sayso.Effect]int{sayso.Allow: 0, sayso.Deny: 0, sayso.Ask: 1} {
		shown = 0
		bubble(t, always(e), func(t *testing.T, w *harness) {
			a := patient("c1", time.Second)
			a.Present = present
			w.admit(a)
			if shown != want {
				t.Errorf("%s: presented %d times, want %d", e, shown, want)
			}
			if e != sayso.Ask {
				return
			}
			full, err := w.b.Inbox(dev).Content(t.Context(), w.onlyOpen().ID)
			if err != nil || full.Presentation == nil || full.Presentation.Type != sayso.PresentDiff {
				t.Fatalf("got %+v, %v", full, err)
			}
			if got := full.Presentation; got.Content != "-a\n+b\n\\x1b[2J" || got.Language != "go" {
				t.Errorf("the person is shown %#v", got)
			}
		})
	}
}

func TestAdmit_wantsThePresentation(t *testing.T) {
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		a := push("c1")
		a.Present = func(context.Context) (*sayso.Presentation, error) { return nil, sayso.ErrPresentationWanted }
		d, err := w.admit(a)
		wantErr(t, err, sayso.ErrPresentationWanted)
		if d.Allowed() || len(w.allEvents()) != 0 {
			t.Errorf("got %+v and %d events, want nothing yet", d, len(w.allEvents()))
		}
	})
}

func TestAdmit_tellsWhoeverListens(t *testing.T) {
	var told []sayso.ID
	listen := func(w *harness) { w.opts.Opened = func(r sayso.Request) { told = append(told, r.ID) } }
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		id := w.park("c1")
		w.park("c1") // taken up, not opened
		if len(told) != 1 || told[0] != id {
			t.Errorf("told of %v, want %s once", told, id)
		}
	}, listen)
	told = nil
	bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
		w.allowed(push("c1"))
		if len(told) != 0 {
			t.Error("told of a request that waits for nobody")
		}
	}, listen)
}
