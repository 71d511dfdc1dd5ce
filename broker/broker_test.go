package broker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/store/memory"
)

// rules is a policy made of a function, under a version that tests change.
type rules struct {
	version string
	judge   func(sayso.Call) sayso.Match
	then    sayso.Deadline
}

func (p *rules) Version() string { return p.version }

func (p *rules) Judge(_ context.Context, c sayso.Call, _ sayso.Facts) sayso.Verdict {
	m := p.judge(c)
	return sayso.Verdict{Match: m, Matches: []sayso.Match{m}, Default: m, Policy: p.version, Deadline: p.then,
		Risk: c.EffectiveKind().Risk()}
}

func always(e sayso.Effect) *rules {
	return &rules{version: "v1", judge: func(sayso.Call) sayso.Match {
		return sayso.Match{Effect: e, Cause: sayso.CauseRule, Rule: "always " + e.String(), File: "policy.yaml", Line: 7}
	}}
}

var (
	agent = sayso.Actor{Principal: "claude-code", Kind: sayso.PrincipalAgent, Channel: "hook", Owner: "dev"}
	dev   = sayso.Actor{Principal: "dev", Kind: sayso.PrincipalPerson, Channel: "terminal"}
)

func bash(id, command string) sayso.Call {
	return sayso.Call{Tool: "Bash", Host: "claude-code", Args: sayso.Args(fmt.Sprintf(`{"command":%q}`, command)),
		Cwd: "/home/dev/app", Session: "s1", CallID: id}
}

func start(t *testing.T, p sayso.Policy, o *broker.Options) (*broker.Broker, sayso.Log) {
	t.Helper()
	log := memory.New(nil)
	t.Cleanup(func() { log.Close() })
	b, err := broker.New(log, p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b, log
}

// types lists the events of a request.
func types(t *testing.T, b *broker.Broker, id sayso.ID) (got []sayso.EventType) {
	t.Helper()
	events, err := b.Inbox(dev).Life(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		got = append(got, e.Type)
	}
	return got
}

// firstOpen waits for a request to be open.
func firstOpen(t *testing.T, b *broker.Broker) sayso.Request {
	t.Helper()
	for e, err := range b.Inbox(dev).Follow(t.Context(), 0, sayso.EventQuery{Types: []sayso.EventType{sayso.EventRequested}}) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.Inbox(dev).Request(t.Context(), string(e.RequestID))
		if err != nil {
			t.Fatal(err)
		}
		if r.State.Open() {
			return r
		}
	}
	t.Fatal("nothing opened")
	return sayso.Request{}
}

func answer(r sayso.Request, e sayso.Effect) sayso.Answer {
	return sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: e}
}

type result struct {
	d   sayso.Decision
	err error
}

func admit(ctx context.Context, b *broker.Broker, a sayso.Admission) <-chan result {
	done := make(chan result, 1)
	go func() { // ends with Admit
		d, err := b.Gate(agent).Admit(ctx, a)
		done <- result{d, err}
	}()
	return done
}

func TestAdmit_policyDecides(t *testing.T) {
	for _, e := range []sayso.Effect{sayso.Allow, sayso.Deny} {
		b, _ := start(t, always(e), nil)
		d, err := b.Gate(agent).Admit(t.Context(), sayso.Admission{Call: bash("c1", "ls"), Immediate: true})
		if err != nil || d.Effect != e || d.Rule != "always "+e.String() || d.Redeemed != (e == sayso.Allow) {
			t.Errorf("%s: got %+v, %v", e, d, err)
		}
		t.Log(types(t, b, d.Request))
	}
}

func TestAdmit_waitsForAPerson(t *testing.T) {
	for _, e := range []sayso.Effect{sayso.Allow, sayso.Deny} {
		b, _ := start(t, always(sayso.Ask), nil)
		done := admit(t.Context(), b, sayso.Admission{Call: bash("c1", "git push"), Immediate: true})
		r := firstOpen(t, b)
		given, err := b.Inbox(dev).Answer(t.Context(), r.ID, answer(r, e))
		if err != nil {
			t.Fatal(err)
		}
		got := <-done
		if got.err != nil || got.d.Effect != e || given.Effect != e || got.d.Who() != "dev" {
			t.Errorf("%s: agent got %+v, %v; person got %+v", e, got.d, got.err, given)
		}
		t.Log(types(t, b, r.ID))
	}
}

func TestAdmit_patienceEndsAndTheCallIsTakenUp(t *testing.T) {
	b, _ := start(t, always(sayso.Ask), nil)
	_, err := b.Gate(agent).Admit(t.Context(), sayso.Admission{Call: bash("c1", "git push"), Patience: time.Millisecond})
	var pending *sayso.PendingError
	if !errors.As(err, &pending) {
		t.Fatalf("got %v", err)
	}
	r := firstOpen(t, b)
	if r.State != sayso.StateParked || r.ID != pending.Ticket {
		t.Fatalf("got %s %s", r.State, r.ID)
	}
	if _, err := b.Inbox(dev).Answer(t.Context(), r.ID, answer(r, sayso.Allow)); err != nil {
		t.Fatal(err)
	}
	d, err := b.Gate(agent).Admit(t.Context(), sayso.Admission{Call: bash("c2", "git push"), Immediate: true})
	if err != nil || !d.Allowed() || !d.Redeemed || d.Request != r.ID {
		t.Fatalf("got %+v, %v", d, err)
	}
	if _, err := b.Gate(agent).Admit(t.Context(), sayso.Admission{Call: bash("c2", "git push"), Immediate: true}); !errors.Is(err, sayso.ErrSpent) {
		t.Fatalf("a second run got %v", err)
	}
	t.Log(types(t, b, r.ID))
}
