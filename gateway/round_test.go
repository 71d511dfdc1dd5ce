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

// says is a call of the tool echo by such a client, with more members.
func says(id int, text, more string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,"name":"echo","arguments":{"text":%q}%s}}`, id, current, text, more)
}

// wants is a result by which a server wants something of the client first.
func wants(id int, state string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{}}},"requestState":%q}}`, id, state)
}

// back is what a client puts into the call that it makes again.
func back(state string) string {
	return fmt.Sprintf(`,"inputResponses":{"a":{"action":"accept","content":{}}},"requestState":%q`, state)
}

// paused has a call run until its server wants something of the client.
func (w *world) paused(id int, text, state string) sayso.Request {
	w.t.Helper()
	w.client.send(says(id, text, ""))
	r := w.asked(1)[0]
	w.answer(r, sayso.Allow)
	w.server.got(says(id, text, ""))
	w.server.send(wants(id, state))
	w.client.got(wants(id, state))
	return r
}

// A call that was allowed and that the client makes again, since the server wanted
// something first, is not asked about again. It ends once.
func TestRound_goesOn(t *testing.T) {
	w := open(t, rules{})
	w.lists(echoTool)
	r := w.paused(1, "a", "s1")
	w.client.send(says(2, "a", back("s1")))
	w.server.got(says(2, "a", back("s1")))
	w.server.send(wants(2, "s2"))
	w.client.got(wants(2, "s2"))
	w.client.send(says(3, "a", back("s2")))
	w.server.got(says(3, "a", back("s2")))
	const end = `{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[]}}`
	w.server.send(end)
	w.client.got(end)
	if e := w.until(sayso.EventFinished); e.RequestID != r.ID || strings.Contains(string(e.Payload), "interrupt") {
		t.Errorf("finished: %s %s", e.RequestID, e.Payload)
	}
	w.asked(0)
}

// What is not that very call, with that very state, for the first time, is asked
// about.
func TestRound_asksAboutTheRest(t *testing.T) {
	for name, again := range map[string]func(w *world) string{
		"other arguments":   func(*world) string { return says(2, "b", back("s1")) },
		"another state":     func(*world) string { return says(2, "a", back("s0")) },
		"no state":          func(*world) string { return says(2, "a", `,"inputResponses":{}`) },
		"the state twice":   func(w *world) string { w.round("s1"); return says(2, "a", back("s1")) },
		"another tool":      func(*world) string { return strings.Replace(says(2, "a", back("s1")), "echo", "other", 1) },
		"after another use": func(w *world) string { w.wasted("s1"); return says(2, "a", back("s1")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, rules{})
			w.lists(echoTool + `,` + strings.Replace(echoTool, "echo", "other", 1))
			w.paused(1, "a", "s1")
			w.client.send(again(w))
			w.asked(1)
		})
	}
}

// round makes the call again with a state, and has it run.
func (w *world) round(state string) {
	w.client.send(says(7, "a", back(state)))
	w.server.got(says(7, "a", back(state)))
}

// wasted makes another call with a state, which is cancelled.
func (w *world) wasted(state string) {
	w.client.send(says(7, "b", back(state)))
	w.asked(1)
	w.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	w.until(sayso.EventWithdrawn)
}

// A client that does not come back in time is asked about, and the record has it
// that the first run did not end. Nor is more than so much remembered.
func TestRound_ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, rules{})
		w.lists(echoTool)
		r := w.paused(1, "a", "s1")
		time.Sleep(10*time.Minute + time.Second) // of the bubble
		w.client.send(says(2, "a", back("s1")))
		if again := w.asked(1)[0]; again.ID == r.ID {
			t.Error("it is the same request")
		}
		if e := w.until(sayso.EventFinished); e.RequestID != r.ID || !strings.Contains(string(e.Payload), `"interrupt":true`) {
			t.Errorf("finished: %s %s", e.RequestID, e.Payload)
		}
	})
	w := open(t, rules{"echo": sayso.Allow})
	w.lists(echoTool)
	for i := range 300 {
		w.client.send(says(i, "a", ""))
		w.server.got(says(i, "a", ""))
		w.server.send(wants(i, fmt.Sprint("s", i)))
		w.client.gets()
	}
	w.until(sayso.EventFinished) // of the first
	if n := w.relay.Rounds(); n != 256 {
		t.Errorf("%d calls are remembered", n)
	}
}

// A tool whose definition changed meanwhile does not go on.
func TestRound_definitionChanged(t *testing.T) {
	w := open(t, rules{})
	w.lists(echoTool)
	w.paused(1, "a", "s1")
	w.lists(strings.Replace(echoTool, "says", "sings", 1))
	w.client.send(says(2, "a", back("s1")))
	if text := w.refused(w.client.gets(), "2"); !strings.HasPrefix(text, "Refused: the definition") {
		t.Error(text)
	}
}

// What a person put in the place of the arguments goes on as that.
func TestRound_edited(t *testing.T) {
	w := open(t, rules{})
	w.lists(echoTool)
	w.client.send(says(1, "a", ""))
	w.answer(w.asked(1)[0], sayso.Allow, func(a *sayso.Answer) { a.Args = sayso.Args(`{"text":"b"}`) })
	w.server.got(says(1, "b", ""))
	w.server.send(wants(1, "s1"))
	w.client.gets()
	w.client.send(says(2, "a", back("s1")))
	w.server.got(says(2, "b", back("s1")))
}

// A server that wants the client's model to write something is asked about in
// each round.
func TestRound_sampling(t *testing.T) {
	w := open(t, rules{"echo": sayso.Allow})
	w.lists(echoTool)
	for i := range 2 {
		state := fmt.Sprint("s", i)
		w.client.send(says(i, "a", back(fmt.Sprint("s", i-1))))
		w.server.gets()
		line := strings.Replace(wants(i, state), "elicitation/create", "sampling/createMessage", 1)
		w.server.send(line)
		w.answer(w.asked(1)[0], sayso.Allow)
		w.client.got(line)
	}
	if n := w.relay.Rounds(); n != 1 {
		t.Errorf("%d calls are remembered", n)
	}
}

// Two calls that the server gave one state are one that goes on and one that did
// not come to an end, as far as anybody knows.
func TestRound_oneStateTwice(t *testing.T) {
	w := open(t, rules{})
	w.lists(echoTool)
	first, second := w.paused(1, "a", "s"), w.paused(2, "b", "s")
	if e := w.until(sayso.EventFinished); e.RequestID != first.ID || !strings.Contains(string(e.Payload), `"interrupt":true`) {
		t.Errorf("finished: %s, not %s: %s", e.RequestID, first.ID, e.Payload)
	}
	w.client.send(says(3, "b", back("s")))
	w.server.got(says(3, "b", back("s")))
	w.client.send(says(4, "a", back("s")))
	if again := w.asked(1)[0]; again.ID == first.ID || again.ID == second.ID {
		t.Error("it went on")
	}
}

// A round that ends with the relay is on the record as one that did not end.
func TestRound_relayEnds(t *testing.T) {
	w := open(t, rules{})
	w.lists(echoTool)
	r := w.paused(1, "a", "s1")
	w.stop()
	if e := w.until(sayso.EventFinished); e.RequestID != r.ID || !strings.Contains(string(e.Payload), `"interrupt":true`) {
		t.Errorf("finished: %s", e.Payload)
	}
	w.start()
}
