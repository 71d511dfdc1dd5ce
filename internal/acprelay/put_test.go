package acprelay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/internal/acprelay"
	"github.com/sayso-dev/sayso/store/memory"
)

var (
	asker  = sayso.Actor{Principal: "acp", Kind: sayso.PrincipalAgent, Channel: "acp", Owner: "ada"}
	person = sayso.Actor{Principal: "ada", Kind: sayso.PrincipalPerson, Channel: "terminal"}
)

// lets is a policy that asks about everything, and lets the person answer at the editor.
type lets bool

func (lets) Version() string { return "lets" }

func (l lets) Judge(context.Context, sayso.Call, sayso.Facts) sayso.Verdict {
	m := sayso.Match{Effect: sayso.Ask, Cause: sayso.CauseRule, Rule: "a rule", Elicit: bool(l)}
	return sayso.Verdict{Match: m, Matches: []sayso.Match{m}}
}

// beside is a relay whose editor is asked as well, where the policy lets it be.
func beside(t *testing.T, policy lets) (*world, *broker.Broker) {
	t.Helper()
	b, err := broker.New(memory.New(nil), policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	w := newWorld(t, nil, func(o *acprelay.Options) { o.Gate, o.Actor, o.Editor = b.Gate(asker), asker, b })
	return w.begin("/"), b
}

// events are those of the log, of some types.
func events(t *testing.T, b *broker.Broker, types ...sayso.EventType) (all []string) {
	t.Helper()
	head, err := b.Inbox(person).Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e, err := range b.Inbox(sayso.Actor{Principal: "auditor", Kind: sayso.PrincipalAdmin, Channel: "test"}).Follow(ctx, 0, sayso.EventQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range types {
			if e.Type == want {
				all = append(all, fmt.Sprint(e.Type, " ", e.Actor.Channel))
			}
		}
		if e.Seq >= head.Seq {
			break
		}
	}
	return all
}

// once is a question as the editor is asked it: without "always", and else as it was.
func once(line string) string {
	return strings.Replace(line, `{"optionId":"a2","kind":"allow_always","name":"Always"},`, ``, 1)
}

// Each answer at the editor, and what becomes of the question.
func TestEditor(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		after  time.Duration
		agent  string // the option that it hears; empty where the question stays open
		record string
	}{
		"allowed":           {said("3", "a1"), time.Minute, "a1", "approval.answered elicitation"},
		"denied":            {said("3", "r1"), time.Minute, "r1", "approval.answered elicitation"},
		"always":            {said("3", "a2"), time.Minute, "", ""},
		"cancelled":         {said("3", ""), time.Minute, "", ""},
		"an error":          {`{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"x"}}`, time.Minute, "", ""},
		"nothing":           {`{"jsonrpc":"2.0","id":3,"result":null}`, time.Minute, "", ""},
		"allowed at once":   {said("3", "a1"), time.Millisecond, "", "answer.refused elicitation"},
		"denied at once":    {said("3", "r1"), time.Millisecond, "", "answer.refused elicitation"},
		"an outcome of its": {`{"jsonrpc":"2.0","id":3,"result":{"outcome":{"outcome":"allowed","optionId":"a1"}}}`, time.Minute, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, b := beside(t, true)
				w.agent.send(ask("3", "c1", "make"))
				if got := w.editor.next(); got != once(ask("3", "c1", "make")) {
					t.Errorf("the editor was asked %s", got)
				}
				time.Sleep(tt.after) // of the bubble: the person reads
				w.editor.send(tt.answer)
				if tt.agent != "" {
					if got := w.agent.next(); got != said("3", tt.agent) {
						t.Errorf("the agent heard %s", got)
					}
				} else {
					synctest.Wait()
					w.answer(b, sayso.Deny)
					if got := w.agent.next(); got != said("3", "r1") {
						t.Errorf("denied elsewhere, and the agent heard %s", got)
					}
				}
				w.passes(w.agent, w.editor, `{"jsonrpc":"2.0","method":"after"}`)
				w.passes(w.editor, w.agent, `{"jsonrpc":"2.0","method":"after"}`)
				got := events(t, b, sayso.EventAnswered, sayso.EventAnswerRefused)
				if tt.record != "" && got[0] != tt.record || tt.record == "" && (len(got) != 1 || got[0] != "approval.answered terminal") {
					t.Errorf("on the record: %q, want %q", got, tt.record)
				}
			})
		})
	}
}

// answer answers the one open request at a terminal.
func (w *world) answer(b *broker.Broker, e sayso.Effect) {
	w.t.Helper()
	in := b.Inbox(person)
	open, err := in.Requests(w.t.Context(), sayso.RowQuery{States: sayso.OpenStates()})
	if err != nil || len(open) != 1 {
		w.t.Fatalf("%d are open: %v", len(open), err)
	}
	if _, err := in.Answer(w.t.Context(), open[0].ID, sayso.Answer{Digest: open[0].Digest, Content: open[0].Content, Effect: e}); err != nil {
		w.t.Fatal(err)
	}
}

// What was decided elsewhere is taken back in the editor, and what it still says comes
// too late, is on the record and does not reach the agent.
func TestEditor_late(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, b := beside(t, true)
		w.agent.send(ask("3", "c1", "make"))
		_ = w.editor.next()
		time.Sleep(time.Minute) // of the bubble
		w.answer(b, sayso.Deny)
		if got := w.editor.next(); got != `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}` {
			t.Errorf("taken back: %s", got)
		}
		if got := w.agent.next(); got != said("3", "r1") {
			t.Errorf("the agent heard %s", got)
		}
		w.editor.send(said("3", "a1"))
		w.passes(w.editor, w.agent, `{"jsonrpc":"2.0","method":"after"}`)
		synctest.Wait()
		if got := events(t, b, sayso.EventAnswered, sayso.EventAnswerRefused); strings.Join(got, ", ") != "approval.answered terminal, answer.refused elicitation" {
			t.Errorf("on the record: %q", got)
		}
	})
}

// slow is a gate that takes its time to say whether the editor may be asked.
type slow struct {
	*broker.Broker
	looked, goOn chan struct{}
}

func (s slow) Elicitable(ctx context.Context, by sayso.Actor, session, callID string) (sayso.Request, sayso.RequestedFull, error) {
	r, full, err := s.Broker.Elicitable(ctx, by, session, callID)
	close(s.looked)
	<-s.goOn
	return r, full, err
}

// The editor is not asked what was decided while it was found out whether it may be.
func TestEditor_decidedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := broker.New(memory.New(nil), lets(true), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		s := slow{b, make(chan struct{}), make(chan struct{})}
		w := newWorld(t, nil, func(o *acprelay.Options) { o.Gate, o.Actor, o.Editor = b.Gate(asker), asker, s }).begin("/")
		w.agent.send(ask("3", "c1", "make"))
		<-s.looked
		w.answer(b, sayso.Allow)
		if got := w.agent.next(); got != said("3", "a1") {
			t.Errorf("the agent heard %s", got)
		}
		close(s.goOn)
		synctest.Wait()
		w.passes(w.agent, w.editor, `{"jsonrpc":"2.0","method":"after"}`)
	})
}

// Where no rule lets it, the editor is not asked, and what it says all the same counts
// for nothing; nor is it asked what has no way to say no.
func TestEditor_notAsked(t *testing.T) {
	for name, line := range map[string]string{
		"no rule": ask("3", "c1", "make"), "no way to say no": strings.Replace(ask("3", "c1", "make"), "reject_once", "reject_always", 1),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, b := beside(t, lets(name != "no rule"))
				w.agent.send(line)
				time.Sleep(time.Minute) // of the bubble
				w.editor.send(said("3", "a1"))
				w.passes(w.agent, w.editor, `{"jsonrpc":"2.0","method":"after"}`)
				w.passes(w.editor, w.agent, `{"jsonrpc":"2.0","method":"after"}`)
				if got := events(t, b, sayso.EventAnswered, sayso.EventAnswerRefused); len(got) != 0 {
					t.Errorf("on the record: %q", got)
				}
			})
		})
	}
}

// A turn that is cancelled in the editor is over there as well: what it answers to its
// own question is no news to the agent.
func TestEditor_cancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := beside(t, true)
		w.agent.send(ask("3", "c1", "make"))
		_ = w.editor.next()
		time.Sleep(time.Minute) // of the bubble
		w.passes(w.editor, w.agent, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
		if got := w.agent.next(); got != said("3", "") {
			t.Errorf("the agent heard %s", got)
		}
		w.editor.send(said("3", ""))
		w.passes(w.editor, w.agent, `{"jsonrpc":"2.0","method":"after"}`)
	})
}
