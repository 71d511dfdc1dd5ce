package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sayso-dev/sayso"
)

// current is what a client of 2026-07-28 says with each request.
const current = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// resultWith is a call of the tool echo by such a client, with more members.
func resultWith(id int, text, more string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,"name":"echo","arguments":{"text":%q}%s}}`, id, current, text, more)
}

// inputRequiredResult is a result by which a server wants something of the client first.
func inputRequiredResult(id int, state string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{}}},"requestState":%q}}`, id, state)
}

// retryWith is what a client puts into the call that it makes again.
func retryWith(state string) string {
	return fmt.Sprintf(`,"inputResponses":{"a":{"action":"accept","content":{}}},"requestState":%q`, state)
}

// startRound has a call run until its server wants something of the client.
func (w *harness) startRound(id int, text, state string) sayso.Request {
	w.t.Helper()
	w.client.send(resultWith(id, text, ""))
	r := w.requests(1)[0]
	w.answer(r, sayso.Allow)
	w.server.expect(resultWith(id, text, ""))
	w.server.send(inputRequiredResult(id, state))
	w.client.expect(inputRequiredResult(id, state))
	return r
}

// A call that was allowed and that the client makes again, since the server wanted
// something first, is not asked about again. It ends once.
func TestRound_resumes(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	r := w.startRound(1, "a", "s1")
	w.client.send(resultWith(2, "a", retryWith("s1")))
	w.server.expect(resultWith(2, "a", retryWith("s1")))
	w.server.send(inputRequiredResult(2, "s2"))
	w.client.expect(inputRequiredResult(2, "s2"))
	w.client.send(resultWith(3, "a", retryWith("s2")))
	w.server.expect(resultWith(3, "a", retryWith("s2")))
	const end = `{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[]}}`
	w.server.send(end)
	w.client.expect(end)
	if e := w.waitForEvent(sayso.EventFinished); e.RequestID != r.ID || strings.Contains(string(e.Payload), "interrupt") {
		t.Errorf("finished: %s %s", e.RequestID, e.Payload)
	}
	w.requests(0)
}

// What is not that very call, with that very state, for the first time, is asked
// about.
func TestRound_asksAboutTheRest(t *testing.T) {
	for name, again := range map[string]func(w *harness) string{
		"other arguments":   func(*harness) string { return resultWith(2, "b", retryWith("s1")) },
		"another state":     func(*harness) string { return resultWith(2, "a", retryWith("s0")) },
		"no state":          func(*harness) string { return resultWith(2, "a", `,"inputResponses":{}`) },
		"the state twice":   func(w *harness) string { w.nextRound("s1"); return resultWith(2, "a", retryWith("s1")) },
		"another tool":      func(*harness) string { return strings.Replace(resultWith(2, "a", retryWith("s1")), "echo", "other", 1) },
		"after another use": func(w *harness) string { w.unrun("s1"); return resultWith(2, "a", retryWith("s1")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, rules{})
			w.listTools(echoTool + `,` + strings.Replace(echoTool, "echo", "other", 1))
			w.startRound(1, "a", "s1")
			w.client.send(again(w))
			w.requests(1)
		})
	}
}

// nextRound makes the call again with a state, and has it run.
func (w *harness) nextRound(state string) {
	w.client.send(resultWith(7, "a", retryWith(state)))
	w.server.expect(resultWith(7, "a", retryWith(state)))
}

// unrun makes another call with a state, which is cancelled.
func (w *harness) unrun(state string) {
	w.client.send(resultWith(7, "b", retryWith(state)))
	w.requests(1)
	w.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	w.waitForEvent(sayso.EventWithdrawn)
}

// A client that does not come back in time is asked about, and the record has it
// that the first run did not end. Nor is more than so much remembered.
func TestRound_ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{})
		w.listTools(echoTool)
		r := w.startRound(1, "a", "s1")
		time.Sleep(10*time.Minute + time.Second) // of the bubble
		w.client.send(resultWith(2, "a", retryWith("s1")))
		if again := w.requests(1)[0]; again.ID == r.ID {
			t.Error("it is the same request")
		}
		if e := w.waitForEvent(sayso.EventFinished); e.RequestID != r.ID || !strings.Contains(string(e.Payload), `"interrupt":true`) {
			t.Errorf("finished: %s %s", e.RequestID, e.Payload)
		}
	})
	w := open(t, rules{"echo": sayso.Allow})
	w.listTools(echoTool)
	for i := range 300 {
		w.client.send(resultWith(i, "a", ""))
		w.server.expect(resultWith(i, "a", ""))
		w.server.send(inputRequiredResult(i, fmt.Sprint("s", i)))
		w.client.receive()
	}
	w.waitForEvent(sayso.EventFinished) // of the first
	if n := w.relay.Rounds(); n != 256 {
		t.Errorf("%d calls are remembered", n)
	}
}

// A tool whose definition changed meanwhile does not go on.
func TestRound_definitionChanged(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	w.startRound(1, "a", "s1")
	w.listTools(strings.Replace(echoTool, "says", "sings", 1))
	w.client.send(resultWith(2, "a", retryWith("s1")))
	if text := w.refusalOf(w.client.receive(), "2"); !strings.HasPrefix(text, "Refused: the definition") {
		t.Error(text)
	}
}

// What a person put in the place of the arguments goes on as that.
func TestRound_edited(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	w.client.send(resultWith(1, "a", ""))
	w.answer(w.requests(1)[0], sayso.Allow, func(a *sayso.Answer) { a.Args = sayso.Args(`{"text":"b"}`) })
	w.server.expect(resultWith(1, "b", ""))
	w.server.send(inputRequiredResult(1, "s1"))
	w.client.receive()
	w.client.send(resultWith(2, "a", retryWith("s1")))
	w.server.expect(resultWith(2, "b", retryWith("s1")))
}

// A server that wants the client's model to write something is asked about in
// each round.
func TestRound_sampling(t *testing.T) {
	w := open(t, rules{"echo": sayso.Allow})
	w.listTools(echoTool)
	for i := range 2 {
		state := fmt.Sprint("s", i)
		w.client.send(resultWith(i, "a", retryWith(fmt.Sprint("s", i-1))))
		w.server.receive()
		line := strings.Replace(inputRequiredResult(i, state), "elicitation/create", "sampling/createMessage", 1)
		w.server.send(line)
		w.answer(w.requests(1)[0], sayso.Allow)
		w.client.expect(line)
	}
	if n := w.relay.Rounds(); n != 1 {
		t.Errorf("%d calls are remembered", n)
	}
}

// Two calls that the server gave one state are one that goes on and one that did
// not come to an end, as far as anybody knows.
func TestRound_oneStateTwice(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	first, second := w.startRound(1, "a", "s"), w.startRound(2, "b", "s")
	if e := w.waitForEvent(sayso.EventFinished); e.RequestID != first.ID || !strings.Contains(string(e.Payload), `"interrupt":true`) {
		t.Errorf("finished: %s, not %s: %s", e.RequestID, first.ID, e.Payload)
	}
	w.client.send(resultWith(3, "b", retryWith("s")))
	w.server.expect(resultWith(3, "b", retryWith("s")))
	w.client.send(resultWith(4, "a", retryWith("s")))
	if again := w.requests(1)[0]; again.ID == first.ID || again.ID == second.ID {
		t.Error("it went on")
	}
}

// A round that ends with the relay is on the record as one that did not end.
func TestRound_relayEnds(t *testing.T) {
	w := open(t, rules{})
	w.listTools(echoTool)
	r := w.startRound(1, "a", "s1")
	w.stop()
	if e := w.waitForEvent(sayso.EventFinished); e.RequestID != r.ID || !strings.Contains(string(e.Payload), `"interrupt":true`) {
		t.Errorf("finished: %s", e.Payload)
	}
	w.start()
}
