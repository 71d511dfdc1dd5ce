package acprelay_test

import (
	"context"
	"fmt"
	"slices"
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

func (l lets) Judge(_ context.Context, c sayso.Call, _ sayso.Facts) sayso.Verdict {
	m := sayso.Match{Effect: sayso.Ask, Cause: sayso.CauseRule, Rule: "a rule", Elicit: bool(l)}
	v := sayso.Verdict{Match: m, Matches: []sayso.Match{m}}
	if strings.Contains(string(c.Args), "sudo") {
		v.Danger = []sayso.Danger{sayso.DangerPrivilege}
	}
	return v
}

// openWithEditor is a relay whose editor is asked as well, where the policy lets it be.
func openWithEditor(t *testing.T, policy lets) (*harness, *broker.Broker) {
	t.Helper()
	b, err := broker.New(memory.New(nil), policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	w := newHarness(t, nil, func(o *acprelay.Options) { o.Gate, o.Actor, o.Editor = b.Gate(asker), asker, b })
	return w.newSession("/"), b
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

// The options of a card, and how the agent's own are written.
const (
	ours   = `[{"optionId":"sayso-allow","kind":"allow_once","name":"Allow this call once"},{"optionId":"sayso-deny","kind":"reject_once","name":"Deny this call"}]`
	theirs = `[{"optionId":"a1","kind":"allow_once","name":"Yes"},{"optionId":"a2","kind":"allow_always","name":"Always"},{"optionId":"r1","kind":"reject_once","name":"No"}]`
)

// editorRequest is the next question that the editor is asked, which must be the agent's own but
// for its id and its options, and its id.
func (w *harness) editorRequest(line string) (id string) {
	w.t.Helper()
	got := w.editor.next()
	id, _, _ = strings.Cut(strings.TrimPrefix(got, `{"jsonrpc":"2.0","id":`), ",")
	if !strings.HasPrefix(id, `"sayso-`) {
		w.t.Errorf("the editor is asked by the id %s", id)
	}
	want := strings.Replace(strings.Replace(line, `"id":3`, `"id":`+id, 1), theirs, ours, 1)
	if got != want {
		w.t.Errorf("the editor was asked %s, want %s", got, want)
	}
	return id
}

// Each answer at the editor, and what becomes of the question.
func TestEditor(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		after  time.Duration
		agent  string // the option that it hears; empty where the question stays open
		record string
	}{
		"allowed":           {said("ID", "sayso-allow"), time.Minute, "a1", "approval.answered elicitation"},
		"denied":            {said("ID", "sayso-deny"), time.Minute, "r1", "approval.answered elicitation"},
		"always":            {said("ID", "a2"), time.Minute, "", ""},
		"the agent's yes":   {said("ID", "a1"), time.Minute, "", ""},
		"the agent's id":    {said("3", "sayso-allow"), time.Minute, "", ""},
		"cancelled":         {said("ID", ""), time.Minute, "", ""},
		"an error":          {`{"jsonrpc":"2.0","id":ID,"error":{"code":-1,"message":"x"}}`, time.Minute, "", ""},
		"nothing":           {`{"jsonrpc":"2.0","id":ID,"result":null}`, time.Minute, "", ""},
		"allowed at once":   {said("ID", "sayso-allow"), time.Millisecond, "", "answer.refused elicitation"},
		"denied at once":    {said("ID", "sayso-deny"), time.Millisecond, "", "answer.refused elicitation"},
		"an outcome of its": {`{"jsonrpc":"2.0","id":ID,"result":{"outcome":{"outcome":"allowed","optionId":"sayso-allow"}}}`, time.Minute, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, b := openWithEditor(t, true)
				w.agent.send(ask("3", "c1", "make"))
				id := w.editorRequest(ask("3", "c1", "make"))
				time.Sleep(tt.after) // of the bubble: the person reads
				w.editor.send(strings.Replace(tt.answer, "ID", id, 1))
				if tt.agent != "" {
					if got := w.agent.next(); got != said("3", tt.agent) {
						t.Errorf("the agent heard %s", got)
					}
				} else {
					synctest.Wait()
					w.answer(b, sayso.Deny)
					if tt.agent == "" && strings.Contains(tt.answer, `"id":3`) {
						w.expectCancelled(id) // it was not answered
					}
					if got := w.agent.next(); got != said("3", "r1") {
						t.Errorf("denied elsewhere, and the agent heard %s", got)
					}
				}
				w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"after"}`)
				w.expectForwarded(w.editor, w.agent, `{"jsonrpc":"2.0","method":"after"}`)
				got := events(t, b, sayso.EventAnswered, sayso.EventAnswerRefused)
				if tt.record != "" && got[0] != tt.record || tt.record == "" && (len(got) != 1 || got[0] != "approval.answered terminal") {
					t.Errorf("on the record: %q, want %q", got, tt.record)
				}
			})
		})
	}
}

// answer answers the one open request at a terminal.
func (w *harness) answer(b *broker.Broker, e sayso.Effect) {
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
		w, b := openWithEditor(t, true)
		w.agent.send(ask("3", "c1", "make"))
		id := w.editorRequest(ask("3", "c1", "make"))
		time.Sleep(time.Minute) // of the bubble
		w.answer(b, sayso.Deny)
		w.expectCancelled(id)
		if got := w.agent.next(); got != said("3", "r1") {
			t.Errorf("the agent heard %s", got)
		}
		w.editor.send(said(id, "sayso-allow"))
		w.editor.send(said(id, "sayso-allow"))
		w.expectForwarded(w.editor, w.agent, `{"jsonrpc":"2.0","method":"after"}`)
		synctest.Wait()
		if got := events(t, b, sayso.EventAnswered, sayso.EventAnswerRefused); strings.Join(got, ", ") != "approval.answered terminal, answer.refused elicitation" {
			t.Errorf("on the record: %q", got)
		}
	})
}

// An editor that does not read does not keep the agent from what was decided elsewhere,
// nor does the call run on its word.
func TestEditor_doesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, b := openWithEditor(t, true)
		w.agent.send(ask("3", "c1", "make"))
		time.Sleep(time.Minute) // of the bubble: the question is being written
		w.answer(b, sayso.Deny)
		if got := w.agent.next(); got != said("3", "r1") {
			t.Errorf("the agent heard %s", got)
		}
		w.expectCancelled(w.editorRequest(ask("3", "c1", "make"))) // in their order
		w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"after"}`)
	})
}

// expectCancelled is that the editor is told to forget a question.
func (w *harness) expectCancelled(id string) {
	w.t.Helper()
	if got := w.editor.next(); got != `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":`+id+`}}` {
		w.t.Errorf("taken back: %s", got)
	}
}

// An agent that asks again by an id that it used does not get the answer to what was
// asked before, however that ended; nor does one that knows an id of ours.
func TestEditor_sameID(t *testing.T) {
	for name, elsewhere := range map[string]bool{"taken back": false, "denied elsewhere": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, b := openWithEditor(t, true)
				w.agent.send(ask("3", "c1", "make"))
				first := w.editorRequest(ask("3", "c1", "make"))
				time.Sleep(time.Minute) // of the bubble: the person reads
				if elsewhere {
					w.answer(b, sayso.Deny)
					w.expectCancelled(first)
					_ = w.agent.next()
				} else {
					w.agent.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}`)
					w.expectCancelled(first)
					if got := w.agent.next(); got != said("3", "") {
						t.Errorf("it took back, and heard %s", got)
					}
				}
				w.agent.send(ask("3", "c2", "make deploy"))
				second := w.editorRequest(ask("3", "c2", "make deploy"))
				if first == second {
					t.Errorf("both are %s to the editor", first)
				}
				time.Sleep(time.Minute)                         // of the bubble
				w.editor.send(said(first, "sayso-allow"))       // on the first card
				w.editor.send(said("3", "sayso-allow"))         // by the agent's id
				w.editor.send(said(`"sayso-x"`, "sayso-allow")) // passes: it is none of ours
				if got := w.agent.next(); got != said(`"sayso-x"`, "sayso-allow") {
					t.Errorf("the agent heard %s", got)
				}
				w.agent.send(strings.Replace(ask("3", "c3", "make deploy"), `"id":3`, `"id":`+second, 1))
				w.agent.send(`{"jsonrpc":"2.0","id":` + second + `,"method":"fs/read_text_file","params":{}}`)
				w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"after"}`)
				synctest.Wait()
				for _, e := range events(t, b, sayso.EventAnswered) {
					if e != "approval.answered terminal" {
						t.Errorf("on the record: %s", e)
					}
				}
				w.editor.send(said(second, "sayso-allow"))
				if got := w.agent.next(); got != said("3", "a1") {
					t.Errorf("allowed, and the agent heard %s", got)
				}
				synctest.Wait()
				w.editor.send(said(second, "sayso-allow")) // once more, and it stays here
				w.expectForwarded(w.editor, w.agent, `{"jsonrpc":"2.0","method":"after"}`)
			})
		})
	}
}

// What an agent calls its options does not reach the editor.
func TestEditor_lyingOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := openWithEditor(t, true)
		w.agent.send(strings.Replace(ask("3", "c1", "make"), theirs,
			`[{"optionId":"sayso-deny","kind":"allow_once","name":"Deny","_meta":{"label":"Deny"}},{"optionId":"sayso-allow","kind":"reject_once","name":"Allow"}]`, 1))
		id := w.editorRequest(ask("3", "c1", "make"))
		time.Sleep(time.Minute) // of the bubble: the person reads
		w.editor.send(said(id, "sayso-deny"))
		if got := w.agent.next(); got != said("3", "sayso-allow") { // which is its own way to say no
			t.Errorf("the agent heard %s", got)
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
		w := newHarness(t, nil, func(o *acprelay.Options) { o.Gate, o.Actor, o.Editor = b.Gate(asker), asker, s }).newSession("/")
		w.agent.send(ask("3", "c1", "make"))
		<-s.looked
		w.answer(b, sayso.Allow)
		if got := w.agent.next(); got != said("3", "a1") {
			t.Errorf("the agent heard %s", got)
		}
		close(s.goOn)
		synctest.Wait()
		w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"after"}`)
	})
}

// Where no rule lets it, the editor is not asked, and what it says all the same counts
// for nothing; nor is it asked what has no way to say no, what an
// eye could miss something in, and what is dangerous.
func TestEditor_notAsked(t *testing.T) {
	for name, line := range map[string]string{
		"no rule": ask("3", "c1", "make"), "no way to say no": strings.Replace(ask("3", "c1", "make"), "reject_once", "reject_always", 1),
		"hidden in the command": ask("3", "c1", "make \u202etset\u202c; x"), "hidden in the title": strings.Replace(ask("3", "c1", "make"), "harmless", "harm\u200bless", 1),
		"hidden elsewhere":               strings.Replace(ask("3", "c1", "make"), `"options"`, `"_meta":{"text":"\u202ekam"},"options"`, 1),
		"hidden in what was told before": strings.Replace(ask("3", "c1", "make"), `"rawInput":{"command":"make"}`, `"rawInput":null`, 1),
		"dangerous":                      ask("3", "c1", "sudo make"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, b := openWithEditor(t, lets(name != "no rule"))
				if name == "hidden in what was told before" {
					w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c1",`+
						`"title":"harmless","kind":"execute","rawInput":{"command":"make","cwd":"/a\u202e/b"}}}}`)
				}
				w.agent.send(line)
				time.Sleep(time.Minute) // of the bubble
				w.editor.send(said("3", "a1"))
				w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"after"}`)
				w.expectForwarded(w.editor, w.agent, `{"jsonrpc":"2.0","method":"after"}`)
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
		w, _ := openWithEditor(t, true)
		w.agent.send(ask("3", "c1", "make"))
		id := w.editorRequest(ask("3", "c1", "make"))
		time.Sleep(time.Minute) // of the bubble
		w.expectForwarded(w.editor, w.agent, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
		if got := w.agent.next(); got != said("3", "") {
			t.Errorf("the agent heard %s", got)
		}
		w.editor.send(said(id, ""))
		w.expectForwarded(w.editor, w.agent, `{"jsonrpc":"2.0","method":"after"}`)
	})
}

// What a person saw is what they answer: a card of a call that the agent has look otherwise
// meanwhile is taken back, and what is said to it does not count. How far the call got
// changes nothing.
func TestEditor_redrawn(t *testing.T) {
	for name, tt := range map[string]struct {
		update string
		early  bool // before the editor was asked
		stays  bool
	}{
		"another title":         {update: `"title":"lists files"`},
		"another input":         {update: `"rawInput":{"command":"ls"}`},
		"another kind":          {update: `"kind":"read"`},
		"a change":              {update: `"content":[{"type":"diff","path":"/a","newText":"x"}]`},
		"a text":                {update: `"content":[{"type":"content","content":{"type":"text","text":"harmless"}}]`},
		"places":                {update: `"locations":[{"path":"/tmp"}]`},
		"before it is asked":    {update: `"title":"lists files"`, early: true},
		"the same once more":    {update: `"title":"harmless","kind":"execute","rawInput":{"command":"make"}`, stays: true},
		"its state":             {update: `"status":"in_progress"`, stays: true},
		"that of another call":  {update: `"toolCallId":"c2","title":"lists files"`, stays: true},
		"before, and unchanged": {update: `"status":"in_progress"`, early: true, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, b := openWithEditor(t, true)
				call := `"toolCallId":"c1",`
				if strings.Contains(tt.update, "toolCallId") {
					call = ""
				}
				update := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update",` + call + tt.update + `}}}`
				line := ask("3", "c1", "make")
				w.agent.send(line)
				id := ""
				if tt.early {
					w.expectForwarded(w.agent, w.editor, update)
				} else {
					id = w.editorRequest(line)
					w.agent.send(update)
				}
				switch {
				case tt.early && tt.stays:
					id = w.editorRequest(line)
				case tt.early:
					time.Sleep(time.Minute) // of the bubble: it is not asked
				case tt.stays:
					if got := w.editor.next(); got != update {
						t.Errorf("%s", got)
					}
				default:
					both := []string{w.editor.next(), w.editor.next()} // in either order
					back := `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":` + id + `}}`
					if !slices.Contains(both, update) || !slices.Contains(both, back) {
						t.Errorf("%q", both)
					}
				}
				if id != "" {
					time.Sleep(time.Minute) // of the bubble: the person reads
					w.editor.send(said(id, "sayso-allow"))
				}
				if tt.stays {
					if got := w.agent.next(); got != said("3", "a1") {
						t.Errorf("the agent heard %s", got)
					}
					return
				}
				synctest.Wait()
				w.answer(b, sayso.Deny)
				if got := w.agent.next(); got != said("3", "r1") {
					t.Errorf("the agent heard %s", got)
				}
				if got := events(t, b, sayso.EventAnswered); len(got) != 1 || got[0] != "approval.answered terminal" {
					t.Errorf("on the record: %q", got)
				}
				if !tt.early && !strings.Contains(w.notesText(), "the editor is not asked any more") {
					t.Errorf("noted: %s", w.notesText())
				}
			})
		})
	}
}
