package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// elicitation is what a client is asked to show.
type elicitation struct {
	ID     sayso.Args `json:"id"`
	Method string     `json:"method"`
	Params struct {
		Message string     `json:"message"`
		Schema  sayso.Args `json:"requestedSchema"`
	} `json:"params"`
}

func (w *harness) elicitRequest() elicitation {
	w.t.Helper()
	line := w.client.receive()
	var f elicitation
	if err := jcs.UnmarshalLenient([]byte(line), &f); err != nil || f.Method != "elicitation/create" {
		w.t.Fatalf("no form: %s", line)
	}
	return f
}

// initialize has the client begin, with what it can do.
func (w *harness) initialize(can string) {
	w.t.Helper()
	begin := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + can + `,"clientInfo":{"name":"c","version":"1"}}}`
	w.client.send(begin)
	w.server.expect(begin)
}

// A person may answer in the client that made the call, and the server hears
// nothing of it.
func TestElicit_allowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{}, elicitable)
		w.initialize(`{"elicitation":{"form":{},"url":{}}}`)
		w.listTools(echoTool)
		w.client.send(echo("1", "a"))
		f := w.elicitRequest()
		r := w.requests(1)[0]
		for _, part := range []string{"May the tool echo of srv run?", `"text": "a"`, "ticket " + r.ShortID} {
			if !strings.Contains(f.Params.Message, part) {
				t.Errorf("%q is not in %q", part, f.Params.Message)
			}
		}
		time.Sleep(2 * time.Second) // of the bubble: the person reads
		w.client.send(`{"jsonrpc":"2.0","id":` + string(f.ID) + `,"result":{"action":"accept","content":{"decision":"allow"}}}`)
		w.server.expect(echo("1", "a"))
		e := w.waitForEvent(sayso.EventAnswered)
		if e.Actor.Principal != "ada" || e.Actor.Channel != "elicitation" || e.Actor.Kind != sayso.PrincipalPerson {
			t.Errorf("answered by %+v", e.Actor)
		}
	})
}

// Each answer at the client, and what becomes of the question.
func TestElicit_answers(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		after  time.Duration
		text   string // what the model is told; empty where the question stays open
		record sayso.EventType
	}{
		"denied":             {`"result":{"action":"accept","content":{"decision":"deny","note":"not there"}}`, time.Minute, "Denied by ada (ticket %s): not there", sayso.EventAnswered},
		"declined":           {`"result":{"action":"decline"}`, time.Minute, "Denied by ada (ticket %s). Do not", sayso.EventAnswered},
		"closed":             {`"result":{"action":"cancel"}`, time.Minute, "", ""},
		"declined at once":   {`"result":{"action":"decline"}`, time.Millisecond, "", sayso.EventAnswerRefused},
		"accepted at once":   {`"result":{"action":"accept","content":{"decision":"allow"}}`, time.Millisecond, "", sayso.EventAnswerRefused},
		"accepted, no word":  {`"result":{"action":"accept","content":{}}`, time.Minute, "", ""},
		"accepted, a number": {`"result":{"action":"accept","content":{"decision":1}}`, time.Minute, "", ""},
		"another word":       {`"result":{"action":"Accept","content":{"decision":"allow"}}`, time.Minute, "", ""},
		"an error":           {`"error":{"code":-32601,"message":"no"}`, time.Minute, "", ""},
		"nothing":            {`"result":null`, time.Minute, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t, rules{}, elicitable, func(o *gateway.Options) { o.Impatience = time.Hour })
				w.initialize(`{"elicitation":{}}`)
				w.listTools(echoTool)
				w.client.send(echo("1", "a"))
				f := w.elicitRequest()
				r := w.requests(1)[0]
				time.Sleep(tt.after) // of the bubble
				w.client.send(`{"jsonrpc":"2.0","id":` + string(f.ID) + `,` + tt.answer + `}`)
				if tt.record != "" {
					w.waitForEvent(tt.record)
				}
				if tt.text != "" {
					if text := w.refusalOf(w.client.receive(), "1"); !strings.HasPrefix(text, fmt.Sprintf(tt.text, r.ID.Short())) {
						t.Error(text)
					}
					return
				}
				synctest.Wait()                         // until it is read: else the form is taken back, which nobody here reads
				w.answer(w.requests(1)[0], sayso.Allow) // elsewhere
				w.server.expect(echo("1", "a"))
			})
		})
	}
}

// Whoever answers first decides. The form of a question that was answered
// elsewhere is taken back, and what is still said there is recorded.
func TestElicit_answeredElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{}, elicitable)
		w.initialize(`{"elicitation":{}}`)
		w.listTools(echoTool)
		w.client.send(echo("1", "a"))
		f := w.elicitRequest()
		w.answer(w.requests(1)[0], sayso.Deny)
		if got := w.client.receive(); got != `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+string(f.ID)+`}}` {
			t.Error(got)
		}
		w.refusalOf(w.client.receive(), "1")
		time.Sleep(time.Minute) // of the bubble
		w.client.send(`{"jsonrpc":"2.0","id":` + string(f.ID) + `,"result":{"action":"accept","content":{"decision":"allow"}}}`)
		if e := w.waitForEvent(sayso.EventAnswerRefused); !strings.Contains(string(e.Payload), `"why":"decided"`) || e.Actor.Channel != "elicitation" {
			t.Errorf("%s by %+v", e.Payload, e.Actor)
		}
		const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
		w.client.send(ping)
		w.server.expect(ping) // and neither the call nor the answer
	})
}

// A client that did not say that it shows forms is not asked, nor is any where
// policy does not let it, or where all of the question could not be read there.
func TestElicit_notAsked(t *testing.T) {
	for name, tt := range map[string]struct {
		can, text string
		p         rules
	}{
		"no elicitation":   {`{}`, "a", rules{}},
		"addresses alone":  {`{"elicitation":{"url":{}}}`, "a", rules{}},
		"no object":        {`{"elicitation":true}`, "a", rules{}},
		"the rule is mute": {`{"elicitation":{}}`, "a", rules{"mute": sayso.Ask}},
		"too long":         {`{"elicitation":{}}`, strings.Repeat("x", 5000), rules{}},
		"to be warned of":  {`{"elicitation":{}}`, "a\u202eb", rules{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t, tt.p, elicitable)
				w.initialize(tt.can)
				w.listTools(echoTool)
				w.client.send(echo("1", tt.text))
				w.requests(1)
				time.Sleep(10 * time.Second) // of the bubble
				w.answer(w.requests(1)[0], sayso.Deny)
				w.refusalOf(w.client.receive(), "1") // and no form before
			})
		})
	}
}

// elicitResult is the answer to a call that holds the question about it.
type elicitResult struct {
	ID     sayso.Args `json:"id"`
	Result struct {
		Type     string `json:"resultType"`
		Requests struct {
			Sayso elicitation `json:"sayso"`
		} `json:"inputRequests"`
		State string `json:"requestState"`
	} `json:"result"`
}

func (w *harness) elicitResult() elicitResult {
	w.t.Helper()
	line := w.client.receive()
	var a elicitResult
	if err := jcs.UnmarshalLenient([]byte(line), &a); err != nil || a.Result.Type != "input_required" || a.Result.State == "" ||
		a.Result.Requests.Sayso.Method != "elicitation/create" {
		w.t.Fatalf("no question: %v %s", err, line)
	}
	return a
}

// elicitInput is what such a client puts into the call that it makes again.
func elicitInput(state, answer string) string {
	return fmt.Sprintf(`,"inputResponses":{"sayso":%s},"requestState":%q`, answer, state)
}

const accepted = `{"action":"accept","content":{"decision":"allow"}}`

// For a client of 2026-07-28 the question stands in the answer to its call, and the
// server gets the call as it was.
func TestElicit_inResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{}, elicitable)
		w.listTools(echoTool)
		w.client.send(resultWith(1, "a", ""))
		a := w.elicitResult()
		r := w.requests(1)[0]
		if !strings.Contains(a.Result.Requests.Sayso.Params.Message, r.ShortID) {
			t.Errorf("%+v", a)
		}
		time.Sleep(time.Minute) // of the bubble
		w.client.send(resultWith(2, "a", elicitInput(a.Result.State, accepted)))
		w.server.expect(resultWith(2, "a", ""))
		if e := w.waitForEvent(sayso.EventAnswered); e.RequestID != r.ID || e.Actor.Channel != "elicitation" {
			t.Errorf("%+v", e)
		}
		w.server.send(`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}`)
		w.client.receive()
		w.client.send(resultWith(3, "a", elicitInput(a.Result.State, accepted))) // it counts once
		time.Sleep(time.Minute)                                                  // of the bubble
		if b := w.elicitResult(); b.Result.State == a.Result.State || w.requests(1)[0].ID == r.ID {
			t.Error("the answer counted twice")
		}
	})
}

// A state counts for the call that it was made up for, in time, and where a
// person closed the form the question is open elsewhere.
func TestElicit_inResultNotTaken(t *testing.T) {
	for name, tt := range map[string]struct {
		text, answer, state string
		after               time.Duration
		again               bool // it is asked about anew, at the client too
	}{
		"other arguments":  {"b", accepted, "", time.Minute, true},
		"too late":         {"a", accepted, "", 11 * time.Minute, true},
		"a forged state":   {"a", accepted, "sayso-AAAA", time.Minute, true},
		"at once":          {"a", accepted, "", time.Millisecond, false},
		"closed":           {"a", `{"action":"cancel"}`, "", time.Minute, false},
		"another's answer": {"a", `7`, "", time.Minute, false},
		"declined at once": {"a", `{"action":"decline"}`, "", time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t, rules{}, elicitable, func(o *gateway.Options) { o.Impatience = time.Hour })
				w.listTools(echoTool)
				w.client.send(resultWith(1, "a", ""))
				state := w.elicitResult().Result.State
				if tt.state != "" {
					state = tt.state
				}
				time.Sleep(tt.after) // of the bubble
				w.client.send(resultWith(2, tt.text, elicitInput(state, tt.answer)))
				if tt.again {
					w.elicitResult()
					return
				}
				synctest.Wait()
				w.answer(w.requests(1)[0], sayso.Allow) // elsewhere
				w.server.expect(resultWith(2, tt.text, ""))
			})
		})
	}
}

// What was answered elsewhere while the client showed the form stands.
func TestElicit_inResultAnsweredElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{}, elicitable)
		w.listTools(echoTool)
		w.client.send(resultWith(1, "a", ""))
		a := w.elicitResult()
		w.answer(w.requests(1)[0], sayso.Deny)
		time.Sleep(time.Minute) // of the bubble
		w.client.send(resultWith(2, "a", elicitInput(a.Result.State, accepted)))
		if text := w.refusalOf(w.client.receive(), "2"); !strings.HasPrefix(text, "Denied by ada") {
			t.Error(text)
		}
		if e := w.waitForEvent(sayso.EventAnswerRefused); !strings.Contains(string(e.Payload), `"why":"decided"`) {
			t.Errorf("%s", e.Payload)
		}
	})
}

// A client that takes a call back while its person reads takes the question back.
func TestElicit_cancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{}, elicitable)
		w.initialize(`{"elicitation":{}}`)
		w.listTools(echoTool)
		w.client.send(echo("1", "a"))
		f := w.elicitRequest()
		w.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if got := w.client.receive(); !strings.Contains(got, "notifications/cancelled") || !strings.Contains(got, string(f.ID)) {
			t.Error(got)
		}
		w.waitForEvent(sayso.EventWithdrawn)
		time.Sleep(time.Minute) // of the bubble
		w.client.send(`{"jsonrpc":"2.0","id":` + string(f.ID) + `,"result":{"action":"accept","content":{"decision":"allow"}}}`)
		if e := w.waitForEvent(sayso.EventAnswerRefused); !strings.Contains(string(e.Payload), `"why":"withdrawn"`) {
			t.Errorf("%s", e.Payload)
		}
	})
}
