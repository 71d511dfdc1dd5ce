package tool_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/tool"
)

// fake is a gate that does what it is told, and writes down what it is asked.
type fake struct {
	mu       sync.Mutex // guards what follows
	decide   func(sayso.Admission) (sayso.Decision, error)
	redeem   func(sayso.Receipt, sayso.Call) error
	log      []string
	admitted []sayso.Admission
	redeemed []sayso.Call
	outcomes []sayso.Outcome
}

// yes is the decision that allows an admission.
func yes(a sayso.Admission) (sayso.Decision, error) {
	digest, err := a.Call.Digest()
	return sayso.Decision{
		Effect: sayso.Allow, State: sayso.StateAllowed, Request: "01m7wyf0nnpx5134avv40bmx4g", Digest: digest,
		Receipt: sayso.Receipt{Request: "01m7wyf0nnpx5134avv40bmx4g", Digest: digest},
	}, err
}

func (f *fake) note(s string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, s)
}

func (f *fake) Admit(_ context.Context, a sayso.Admission) (sayso.Decision, error) {
	f.note("admit " + a.Call.Tool)
	f.mu.Lock()
	f.admitted = append(f.admitted, a)
	f.mu.Unlock()
	if f.decide == nil {
		return yes(a)
	}
	return f.decide(a)
}

func (f *fake) Redeem(_ context.Context, r sayso.Receipt, c sayso.Call) error {
	f.note("redeem " + c.Tool)
	f.mu.Lock()
	f.redeemed = append(f.redeemed, c)
	f.mu.Unlock()
	if digest, err := c.Digest(); err != nil || digest != r.Digest {
		return sayso.ErrMismatch
	}
	if f.redeem == nil {
		return nil
	}
	return f.redeem(r, c)
}

func (f *fake) Report(ctx context.Context, o sayso.Outcome) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.note("report")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.outcomes = append(f.outcomes, o)
	return nil
}

func (f *fake) Withdraw(ctx context.Context, _ sayso.ID, _ string) error {
	f.note("withdraw")
	return ctx.Err()
}
func (f *fake) Begin(context.Context, string, string) error { return nil }
func (f *fake) End(context.Context, string) error           { return nil }

func (f *fake) did(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, f.log); diff != "" {
		t.Errorf("at the gate (-want +got):\n%s", diff)
	}
}

var errBroken = errors.New("broken")

func aCall() sayso.Call {
	return sayso.Call{Tool: "deploy", Args: sayso.Args(`{"to":"staging"}`), Session: "s", CallID: "c1"}
}

// TestRun_order: admitted, redeemed against the call that runs, run, reported.
func TestRun_order(t *testing.T) {
	g := &fake{}
	out, err := tool.Run(t.Context(), g, sayso.Admission{Call: aCall(), Immediate: true}, func(_ context.Context, c sayso.Call) (string, error) {
		g.note("run " + string(c.Args))
		return "done", nil
	})
	if out != "done" || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
	g.did(t, "admit deploy", "redeem deploy", `run {"to":"staging"}`, "report")
	if a := g.admitted[0]; a.Immediate || !a.CanEdit || !a.Asking || a.Ask == nil || !a.Ask.Required || a.Ask.Description != `deploy(to="staging")` {
		t.Errorf("admitted %+v, asking %+v", a, a.Ask)
	}
	if o := g.outcomes[0]; o.Failed || o.Interrupt || o.Output.IsZero() || o.Request == "" || string(o.Args) != `{"to":"staging"}` {
		t.Errorf("reported %+v", o)
	}
}

// TestRun_stopped: whatever goes wrong at the gate, nothing runs.
func TestRun_stopped(t *testing.T) {
	mismatched := func(a sayso.Admission) (sayso.Decision, error) {
		a.Call.Args = sayso.Args(`{"to":"production"}`)
		return yes(a)
	}
	for _, tt := range []struct {
		name   string
		decide func(sayso.Admission) (sayso.Decision, error)
		redeem error
		want   error
		says   string
		log    []string
	}{
		{"an error", func(sayso.Admission) (sayso.Decision, error) { return sayso.Decision{}, errBroken }, nil, errBroken, "Could not find out", nil},
		{"an error with an allow", func(a sayso.Admission) (sayso.Decision, error) { d, _ := yes(a); return d, errBroken }, nil, errBroken, "Could not find out", nil},
		{"the zero decision", func(sayso.Admission) (sayso.Decision, error) { return sayso.Decision{}, nil }, nil, sayso.ErrNotAllowed, "Denied", nil},
		{"an allow that is not allowed", func(sayso.Admission) (sayso.Decision, error) { return sayso.Decision{Effect: sayso.Allow}, nil }, nil, sayso.ErrNotAllowed, "", nil},
		{"pending", func(sayso.Admission) (sayso.Decision, error) {
			return sayso.Decision{}, &sayso.PendingError{Ticket: "01m7wyf0nnpx5134avv40bmx4g"}
		}, nil, sayso.ErrPending, "Not decided yet", nil},
		{"expired", func(sayso.Admission) (sayso.Decision, error) { return sayso.Decision{}, sayso.ErrExpired }, nil, sayso.ErrExpired, "Expired", nil},
		{"a decision about another call", mismatched, nil, sayso.ErrMismatch, "Changed", []string{"withdraw"}},
		{"spent", nil, sayso.ErrSpent, sayso.ErrSpent, "Already used", []string{"redeem deploy"}},
		{"voided", nil, sayso.ErrVoided, sayso.ErrVoided, "No longer valid", []string{"redeem deploy"}},
		{"redeeming fails", nil, errBroken, errBroken, "Could not find out", []string{"redeem deploy"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &fake{decide: tt.decide, redeem: func(sayso.Receipt, sayso.Call) error { return tt.redeem }}
			out, err := tool.Run(t.Context(), g, sayso.Admission{Call: aCall()}, func(context.Context, sayso.Call) (string, error) {
				t.Error("it ran")
				return "ran", nil
			})
			var stopped *tool.StoppedError
			if out != "" || !errors.As(err, &stopped) || !errors.Is(err, tt.want) || !strings.HasPrefix(err.Error(), tt.says) {
				t.Errorf("got %q, %v; want %v, saying %q", out, err, tt.want, tt.says)
			}
			g.did(t, append([]string{"admit deploy"}, tt.log...)...)
		})
	}
}

func TestRun_noGate(t *testing.T) {
	_, err := tool.Run(t.Context(), nil, sayso.Admission{Call: aCall()}, func(context.Context, sayso.Call) (string, error) {
		t.Error("it ran")
		return "", nil
	})
	if !errors.Is(err, sayso.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

// TestRun_panic: a run that does not return is reported as failed, and its panic
// is the caller's.
func TestRun_panic(t *testing.T) {
	g := &fake{}
	func() {
		defer func() {
			if p := recover(); p != errBroken {
				t.Errorf("recovered %v", p)
			}
		}()
		_, _ = tool.Run(t.Context(), g, sayso.Admission{Call: aCall()}, func(context.Context, sayso.Call) (string, error) { panic(errBroken) })
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = tool.Run(t.Context(), g, sayso.Admission{Call: aCall()}, func(context.Context, sayso.Call) (string, error) {
			runtime.Goexit()
			return "", nil
		})
	}()
	<-done
	g.did(t, "admit deploy", "redeem deploy", "report", "admit deploy", "redeem deploy", "report")
	for _, o := range g.outcomes {
		if !o.Failed || !o.Output.IsZero() {
			t.Errorf("reported %+v", o)
		}
	}
}

// TestRun_cancelled: a run that is cut short is reported although its context
// has ended, and a call whose caller has gone does not run.
func TestRun_cancelled(t *testing.T) {
	g := &fake{}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := tool.Run(ctx, g, sayso.Admission{Call: aCall()}, func(ctx context.Context, _ sayso.Call) (string, error) {
		cancel()
		return "", ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if len(g.outcomes) != 1 || !g.outcomes[0].Failed || !g.outcomes[0].Interrupt {
		t.Errorf("reported %+v", g.outcomes)
	}
	_, err = tool.Run(ctx, g, sayso.Admission{Call: aCall()}, func(context.Context, sayso.Call) (string, error) {
		t.Error("it ran")
		return "", nil
	})
	if !errors.Is(err, context.Canceled) || len(g.outcomes) != 2 || !g.outcomes[1].Interrupt {
		t.Errorf("got %v, reported %+v", err, g.outcomes)
	}
}

// TestRun_edited: what a person wrote is what is redeemed and what runs.
func TestRun_edited(t *testing.T) {
	b := saysotest.New(t)
	b.Answer(func(sayso.Request) sayso.Answer {
		return sayso.Answer{Effect: sayso.Allow, Args: sayso.Args(`{"to":"nowhere"}`)}
	})
	ran := ""
	_, err := tool.Run(t.Context(), b.Gate(), sayso.Admission{Call: aCall()}, func(_ context.Context, c sayso.Call) (string, error) {
		ran = string(c.Args)
		return "", nil
	})
	if err != nil || ran != `{"to":"nowhere"}` {
		t.Errorf("ran %s, %v", ran, err)
	}
	if n := len(b.Events(sayso.EventRedeemed, sayso.EventFinished)); n != 2 {
		t.Errorf("%d events of redeeming and finishing", n)
	}
}

// TestRun_changed: files that a command names are pinned from asking to running.
func TestRun_changed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "run.sh", "echo good\n")
	b := saysotest.New(t)
	b.Answer(func(sayso.Request) sayso.Answer {
		write(t, dir, "run.sh", "echo evil\n")
		return sayso.Answer{Effect: sayso.Allow}
	})
	call := sayso.Call{Tool: "bash", Args: sayso.Args(`{"command":"bash run.sh"}`), Cwd: dir, Session: "s"}
	_, err := tool.Run(t.Context(), b.Gate(), sayso.Admission{Call: call}, func(context.Context, sayso.Call) (string, error) {
		t.Error("it ran")
		return "", nil
	})
	if !errors.Is(err, sayso.ErrMismatch) {
		t.Errorf("got %v", err)
	}
	if types := eventTypes(b); slices.Contains(types, sayso.EventRedeemed) || !slices.Contains(types, sayso.EventVoided) {
		t.Errorf("the log has %v", types)
	}
}

func eventTypes(b *saysotest.Broker) (types []sayso.EventType) {
	for _, e := range b.Events() {
		types = append(types, e.Type)
	}
	return types
}
