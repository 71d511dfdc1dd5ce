package acprelay_test

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/acprelay"
	"github.com/sayso-dev/sayso/saysotest"
)

// What is no request for permission passes as it is, whatever stands in it.
func TestRelay_verbatim(t *testing.T) {
	w := newHarness(t, saysotest.New(t), nil)
	long := strings.Repeat(`\u00e9 "x" \ud83d `, 60_000)
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":0,"method":"terminal/kill","params":{"path":"/a","_meta":{"x":[1.0,1e2]}},"_ext":null}`,
		` {"id" : "a" , "method":"_custom/thing","params":null} `,
		`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":"\ud83d"}}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"a":1,"a":2}}`,
		`{"jsonrpc":"2.0","method":"x","params":` + strconv.Quote(strings.ReplaceAll(long, `\ud83d`, "")) + `}`,
		`{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}`, `{"id":null,"error":{}}`,
	} {
		w.expectForwarded(w.agent, w.editor, line)
		w.expectForwarded(w.editor, w.agent, line)
	}
}

// The agent is answered by the kind of the options, and the editor sees nothing.
func TestRelay_answers(t *testing.T) {
	b := saysotest.New(t)
	b.Approve("bash:make*")
	b.Deny("bash:rm*", "use make clean")
	w := newHarness(t, b, nil).newSession(t.TempDir())
	w.agent.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c1","kind":"execute","rawInput":{"description":"builds"}}}}`)
	_ = w.editor.next()
	w.agent.send(ask("0", "c1", "make all"))
	if got := w.agent.next(); got != said("0", "a1") {
		t.Errorf("allowed: %s", got)
	}
	w.agent.send(ask(`"x"`, "c2", "rm -r build"))
	if got := w.agent.next(); got != said(`"x"`, "r1") {
		t.Errorf("denied: %s", got)
	}
	if !strings.Contains(w.notesText(), "use make clean") {
		t.Errorf("the note reached nobody: %s", w.notesText())
	}
	asked := b.Asked()
	if len(asked) != 2 || asked[0].Caller != "acp/Pilot" || asked[0].Tool != "bash" || asked[0].Said["title"] != "harmless" || asked[0].Said["description"] != "builds" {
		t.Errorf("asked: %+v", asked)
	}
	w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}}}`)
	w.relay.Close(t.Context())
	if n := len(b.Events(sayso.EventFinished)); n != 1 {
		t.Errorf("%d outcomes, want 1", n)
	}
	if n := len(b.Events(sayso.EventSessionEnded)); n != 1 {
		t.Errorf("%d sessions ended, want 1", n)
	}
}

// An agent may ask about one call more than once, and each is a question.
func TestRelay_asksTwice(t *testing.T) {
	b := saysotest.New(t, saysotest.ApproveAll())
	w := newHarness(t, b, nil).newSession(t.TempDir())
	for i, command := range []string{"ls /", "make", "make"} {
		id := strconv.Itoa(i)
		w.agent.send(ask(id, "c1", command))
		if got := w.agent.next(); got != said(id, "a1") {
			t.Errorf("%s: %s", command, got)
		}
	}
	if n := len(b.Asked()); n != 3 {
		t.Errorf("asked %d times", n)
	}
	w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed"}}}`)
	w.relay.Close(t.Context())
	if n := len(b.Events(sayso.EventFinished)); n != 3 {
		t.Errorf("%d outcomes, want 3", n)
	}
}

// Sessions of one project may call their calls the same: how one ended is not on the
// record of the other.
func TestRelay_twoSessions(t *testing.T) {
	b := saysotest.New(t, saysotest.ApproveAll())
	w := newHarness(t, b, func(o *acprelay.Options) { o.Workspace = t.TempDir() }).newSession("/")
	for id, session := range []string{"s1", "s2"} {
		w.agent.send(strings.Replace(ask(strconv.Itoa(id), "c1", "make "+session), `"s1"`, strconv.Quote(session), 1))
		if got := w.agent.next(); got != said(strconv.Itoa(id), "a1") {
			t.Errorf("%s: %s", session, got)
		}
	}
	for session, status := range map[string]string{"s1": "failed", "s2": "completed"} {
		w.expectForwarded(w.agent, w.editor, fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":%q}}}`, session, status))
	}
	w.relay.Close(t.Context())
	ended := b.Events(sayso.EventFinished)
	if len(ended) != 2 {
		t.Errorf("%d outcomes, want 2", len(ended))
	}
	for _, e := range ended {
		if failed := strings.Contains(string(e.Payload), `"failed":true`); failed != (e.SessionID == "acp-s1") {
			t.Errorf("on the record of %s: %s", e.SessionID, e.Payload)
		}
	}
}

// A turn that the editor cancels cancels what waits in it, and nothing else; a yes
// that comes later is void.
func TestRelay_cancel(t *testing.T) {
	b := saysotest.New(t)
	b.Leave("*")
	w := newHarness(t, b, nil).newSession(t.TempDir())
	w.agent.send(ask("0", "c1", "make"))
	w.agent.send(strings.Replace(ask("1", "c2", "make"), `"s1"`, `"s2"`, 1))
	w.waitForOpen(2)
	w.expectForwarded(w.editor, w.agent, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
	if got := w.agent.next(); got != said("0", "") {
		t.Errorf("cancelled: %s", got)
	}
	open, err := b.Inbox().Requests(t.Context(), sayso.RowQuery{Session: "acp-s2"})
	if err != nil || len(open) != 1 {
		t.Fatalf("asked: %+v, %v", open, err)
	}
	r := open[0]
	if _, err := b.Inbox().Answer(t.Context(), r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow}); err != nil {
		t.Fatal(err)
	}
	if got := w.agent.next(); got != said("1", "a1") {
		t.Errorf("of another session: %s", got)
	}
	w.relay.Close(t.Context())
	if n := len(b.Events(sayso.EventWithdrawn)); n != 1 {
		t.Errorf("%d requests withdrawn, want 1", n)
	}
}

// What the agent takes back itself is over, and the editor does not hear of it.
func TestRelay_agentTakesBack(t *testing.T) {
	b := saysotest.New(t)
	b.Leave("*")
	w := newHarness(t, b, nil).newSession(t.TempDir())
	w.agent.send(ask("5", "c1", "make"))
	w.waitForOpen(1)
	w.agent.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}`)
	if got := w.agent.next(); got != said("5", "") {
		t.Errorf("taken back: %s", got)
	}
	w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":6}}`) // of something else
}

// An editor that is gone answers nothing any more.
func TestRelay_editorGone(t *testing.T) {
	b := saysotest.New(t)
	b.Leave("*")
	w := newHarness(t, b, nil).newSession(t.TempDir())
	for i := range 20 {
		w.agent.send(ask(strconv.Itoa(i), fmt.Sprint("c", i), fmt.Sprint("make ", i)))
	}
	w.waitForOpen(20)
	_ = w.editor.in.Close()
	for range 20 {
		if got := w.agent.next(); !strings.Contains(got, `"cancelled"`) {
			t.Errorf("the editor is gone: %s", got)
		}
	}
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
	w.agent.send(ask("20", "c20", "make 20"))
	if got := w.agent.next(); got != said("20", "") {
		t.Errorf("asked for an editor that is gone: %s", got)
	}
	w.relay.Close(t.Context())
	if n := len(b.Events(sayso.EventRequested)); n != 20 {
		t.Errorf("%d requests, want 20", n)
	}
	if n := len(b.Events(sayso.EventWithdrawn)); n != 20 {
		t.Errorf("%d requests withdrawn, want 20", n)
	}
}

// When the agent is gone, what it asked is parked: it may ask again.
func TestRelay_agentGone(t *testing.T) {
	b := saysotest.New(t)
	b.Leave("*")
	w := newHarness(t, b, nil).newSession(t.TempDir())
	w.agent.send(ask("0", "c1", "make"))
	w.waitForOpen(1)
	_ = w.agent.in.Close()
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
	w.relay.Close(t.Context())
	if withdrawn, allowed := len(b.Events(sayso.EventWithdrawn)), len(b.Events(sayso.EventResolved)); withdrawn+allowed != 0 {
		t.Errorf("%d withdrawn, %d resolved", withdrawn, allowed)
	}
}

// Many at once are each answered once, with their own answer.
func TestRelay_many(t *testing.T) {
	b := saysotest.New(t)
	b.Approve("bash:make*")
	b.Deny("bash:rm*", "no")
	w := newHarness(t, b, nil).newSession(t.TempDir())
	const n = 40
	want := map[string]bool{}
	go func() {
		for i := range n {
			command := "make " + strconv.Itoa(i)
			if i%2 == 1 {
				command = "rm " + strconv.Itoa(i)
			}
			w.agent.send(ask(strconv.Itoa(i), fmt.Sprint("c", i), command))
		}
	}()
	for i := range n {
		want[said(strconv.Itoa(i), []string{"a1", "r1"}[i%2])] = true
	}
	for range n {
		got := w.agent.next()
		if !want[got] {
			t.Errorf("%s: wrong, or a second time", got)
		}
		delete(want, got)
	}
}

// What cannot be read strictly, or answered with one yes, is refused; nobody is asked
// and the editor sees none of it.
func TestRelay_refuses(t *testing.T) {
	good := ask("3", "c1", "make")
	for name, c := range map[string]struct{ line, want string }{
		"no yes":          {strings.Replace(good, "allow_once", "allow_forever", 1), said("3", "r1")},
		"two ways to yes": {strings.Replace(good, "allow_always", "allow_once", 1), said("3", "r1")},
		"one id twice":    {strings.Replace(good, `"a2"`, `"a1"`, 1), said("3", "r1")},
		"no options":      {good[:strings.Index(good, `,"options"`)] + `}}`, said("3", "")},
		"no session":      {strings.Replace(good, `"sessionId":"s1"`, `"sessionId":""`, 1), said("3", "r1")},
		"a key twice":     {strings.Replace(good, `{"command"`, `{"command":"ls","command"`, 1), said("3", "")},
		"no call":         {strings.Replace(good, `"toolCallId":"c1",`, ``, 1), said("3", "r1")},
		"no object":       {`{"jsonrpc":"2.0","id":3,"method":"session/request_permission","params":[]}`, said("3", "")},
	} {
		t.Run(name, func(t *testing.T) {
			b := saysotest.New(t, saysotest.ApproveAll())
			w := newHarness(t, b, nil).newSession(t.TempDir())
			w.agent.send(c.line)
			if got := w.agent.next(); got != c.want {
				t.Errorf("%s", got)
			}
			if len(b.Asked()) != 0 || !strings.Contains(w.notesText(), "nobody was asked") {
				t.Errorf("asked %d, noted %s", len(b.Asked()), w.notesText())
			}
			w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"after"}`)
		})
	}
}

// What is no message, or poses as one that is judged, goes nowhere.
func TestRelay_leavesOut(t *testing.T) {
	b := saysotest.New(t)
	b.Leave("*")
	w := newHarness(t, b, nil).newSession(t.TempDir())
	good := ask("3", "c1", "make")
	for _, line := range []string{
		"npm warn deprecated", `[` + good + `]`, good + good, strings.Replace(good, `"method"`, `"method":"x","method"`, 1),
		strings.Replace(good, "request_permission", "request_Permission", 1), strings.Replace(good, `"method"`, `"Method"`, 1),
		strings.Replace(good, `"id":3,`, ``, 1), strings.Replace(good, `"title"`, "\r\"title\"", 1), `{"id":{},"method":"x"}`, "{\"id\":\"\x80\",\"method\":\"x\"}", `{"id":"\ud800","method":"x"}`,
	} {
		w.agent.send(line)
	}
	w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"after"}`)
	w.agent.send(ask("4", "c1", "make"))
	w.waitForOpen(1)
	w.agent.send(ask("4", "c2", "make")) // whose answer could not be told from the first's
	w.editor.send(said("4", "a1"))       // it was not asked
	w.editor.send(`{"id":4,"result":{},"result":{"outcome":{"outcome":"selected","optionId":"a1"}}}`)
	w.expectForwarded(w.editor, w.agent, `{"jsonrpc":"2.0","method":"after"}`)
	w.expectForwarded(w.agent, w.editor, `{"jsonrpc":"2.0","method":"after"}`)
	if n := len(b.Events(sayso.EventRequested)); n != 1 {
		t.Errorf("asked %d times", n)
	}
	// an answer that cannot be read is told to who waits for it
	w.agent.send(`{"id":9,"result":1,"result":2}`)
	if got := w.editor.next(); !strings.Contains(got, `"id":9,"error"`) {
		t.Errorf("%s", got)
	}
}

// A message that is too long to be looked at ends the relay.
func TestRelay_tooLong(t *testing.T) {
	acprelay.SetMaxMessage(t, 100_000)
	w := newHarness(t, saysotest.New(t), nil)
	go func() { _, _ = io.WriteString(w.agent.in, `{"method":"x","params":"`+strings.Repeat("x", 300_000)) }()
	if err := <-w.ended; !errors.Is(err, sayso.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

// While the gate is switched off the editor is asked, and answers.
func TestRelay_off(t *testing.T) {
	b := saysotest.New(t)
	w := newHarness(t, b, func(o *acprelay.Options) { o.Off = func() bool { return true } }).newSession(t.TempDir())
	w.expectForwarded(w.agent, w.editor, ask("0", "c1", "make"))
	w.expectForwarded(w.editor, w.agent, said("0", "a2"))
	if len(b.Asked()) != 0 {
		t.Error("people were asked")
	}
}
