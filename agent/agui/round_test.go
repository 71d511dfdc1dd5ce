package agui_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/agui"
	"github.com/sayso-dev/sayso/internal/sse"
	"github.com/sayso-dev/sayso/saysotest"
)

// agent is a server of AG-UI whose tools are guarded by a gate of its own.
type agent struct {
	t    *testing.T
	gate sayso.Gate
	// inbox is that of whoever sent the run, as the server knows them.
	inbox sayso.Inbox
	calls []sayso.Call

	mu   sync.Mutex // guards what follows
	open map[string][]sayso.Request
	ran  []string
}

func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := sse.NewWriter(w, http.NewResponseController(w).Flush)
	send := func(event []byte) {
		if err := out.Event("", "", event); err != nil {
			a.t.Error(err)
		}
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		a.t.Error(err)
	}
	if err := a.run(r.Context(), text, send); err != nil {
		send(agui.Failed(err))
	}
}

// run is one run: it begins with the answers to what the last one waits for, and ends
// with what it waits for itself.
func (a *agent) run(ctx context.Context, text []byte, send func([]byte)) error {
	in, err := agui.ReadInput(text)
	if err != nil {
		return err
	}
	send(fmt.Appendf(nil, `{"type":"RUN_STARTED","threadId":%q,"runId":%q}`, in.ThreadID, in.RunID))
	a.mu.Lock()
	defer a.mu.Unlock()
	again := a.open[in.ThreadID] != nil
	replies, err := agui.Answers(a.open[in.ThreadID], in.Resume, time.Now())
	if err != nil {
		return err
	}
	for _, reply := range replies {
		if reply.Cancelled {
			err = a.gate.Withdraw(ctx, reply.Request, "abandoned in the application")
		} else {
			_, err = a.inbox.Answer(ctx, reply.Request, reply.Answer)
		}
		if err != nil {
			return err
		}
	}
	delete(a.open, in.ThreadID)
	var waits []agui.Interrupt
	for _, c := range a.calls {
		c.Session = in.ThreadID
		if !again {
			send(fmt.Appendf(nil, `{"type":"TOOL_CALL_START","toolCallId":%q,"toolCallName":%q}`, c.CallID, c.Tool))
			send(fmt.Appendf(nil, `{"type":"TOOL_CALL_ARGS","toolCallId":%q,"delta":%q}`, c.CallID, c.Args))
			send(fmt.Appendf(nil, `{"type":"TOOL_CALL_END","toolCallId":%q}`, c.CallID))
		}
		d, err := a.gate.Admit(ctx, sayso.Admission{Call: c, Patience: time.Nanosecond, Immediate: true, CanEdit: true})
		var pending *sayso.PendingError
		switch {
		case errors.As(err, &pending):
			r, err := a.inbox.Request(ctx, string(pending.Ticket))
			if err != nil {
				return err
			}
			a.open[in.ThreadID] = append(a.open[in.ThreadID], r)
			waits = append(waits, agui.Of(r))
			continue
		case err == nil && d.Allowed():
			args := c.Args
			if len(d.Args) > 0 {
				args = d.Args
			}
			a.ran = append(a.ran, c.Tool+" "+string(args))
		}
		send(fmt.Appendf(nil, `{"type":"TOOL_CALL_RESULT","messageId":"m","role":"tool","toolCallId":%q,"content":%q}`, c.CallID, sayso.Told(d, err)))
	}
	if waits == nil {
		send(fmt.Appendf(nil, `{"type":"RUN_FINISHED","threadId":%q,"runId":%q,"outcome":{"type":"success"}}`, in.ThreadID, in.RunID))
		return nil
	}
	send([]byte(`{"type":"STATE_SNAPSHOT","snapshot":{}}`))
	send([]byte(`{"type":"MESSAGES_SNAPSHOT","messages":[]}`))
	end, err := agui.Finished(in.ThreadID, in.RunID, waits)
	if err == nil {
		send(end)
	}
	return err
}

// application is the other end: what its agent is interrupted for is put to a gate.
type application struct {
	t     *testing.T
	gate  sayso.Gate
	url   string
	heard agui.Heard
	last  string // the last event
}

// post sends a run, and returns what it waits for.
func (p *application) post(body string) []agui.Interrupt {
	p.t.Helper()
	resp, err := http.Post(p.url, "application/json", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	var waits []agui.Interrupt
	for in := sse.NewReader(resp.Body, 1<<20); ; {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			return waits
		}
		if err == nil {
			p.last = string(e.Data)
			err = p.heard.Hear(bytes.Clone(e.Data))
		}
		if err == nil && waits == nil {
			waits, err = agui.ReadFinished(e.Data)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

// ask puts an interrupt to the gate.
func (p *application) ask(i agui.Interrupt) agui.Entry {
	p.t.Helper()
	a, err := p.heard.Admission(i, agui.Place{Thread: "t1", Agent: "mailer"}, time.Now())
	if err != nil {
		return agui.Resume(i, sayso.Decision{}, err)
	}
	d, err := p.gate.Admit(p.t.Context(), a)
	return agui.Resume(i, d, err)
}

// A whole round: an agent's gate asks, its runs end with interrupts, the application
// puts them to its own gate, and what its person says runs or does not.
func TestRound(t *testing.T) {
	theirs := saysotest.New(t)
	theirs.Leave("*")
	a := &agent{
		t: t, gate: theirs.Gate(), inbox: theirs.InboxOf(sayso.Actor{Principal: "person", Kind: sayso.PrincipalPerson, Channel: agui.Channel}),
		open: map[string][]sayso.Request{}, calls: []sayso.Call{
			{Tool: "deploy", CallID: "tc-1", Args: sayso.Args(`{"to":"staging"}`)}, {Tool: "drop", CallID: "tc-2", Args: sayso.Args(`{"table":"users"}`)},
			{Tool: "mail", CallID: "tc-3", Args: sayso.Args(`{"text":"hi"}`)},
		},
	}
	server := httptest.NewServer(a)
	defer server.Close()
	ours := saysotest.New(t)
	ours.Answer(func(r sayso.Request) sayso.Answer {
		switch r.Tool {
		case "deploy":
			return sayso.Answer{Effect: sayso.Allow}
		case "mail":
			return sayso.Answer{Effect: sayso.Allow, Args: sayso.Args(`{"text":"hello"}`)}
		}
		return sayso.Answer{Effect: sayso.Deny, Note: "never"}
	})
	p := &application{t: t, gate: ours.Gate(), url: server.URL}

	waits := p.post(`{"threadId":"t1","runId":"r1","messages":[]}`)
	if len(waits) != 3 || len(a.ran) != 0 {
		t.Fatalf("%d interrupts, and %v ran", len(waits), a.ran)
	}
	if again := p.post(`{"threadId":"t1","runId":"r2","messages":[]}`); again != nil || !strings.Contains(p.last, "RESUME_INCOMPLETE") {
		t.Errorf("a run without the answers: %s", p.last)
	}
	var resume []string
	for _, i := range waits {
		e := p.ask(i)
		resume = append(resume, fmt.Sprintf(`{"interruptId":%q,"status":%q,"payload":%s}`, e.InterruptID, e.Status, e.Payload))
	}
	if again := p.post(`{"threadId":"t1","runId":"r3","resume":[` + resume[0] + `]}`); again != nil || !strings.Contains(p.last, "RESUME_INCOMPLETE") || len(a.ran) != 0 {
		t.Errorf("one answer of three: %s, and %v ran", p.last, a.ran)
	}
	if again := p.post(`{"threadId":"t1","runId":"r4","resume":[` + strings.Join(resume, ",") + `]}`); again != nil || !strings.Contains(p.last, `"success"`) {
		t.Fatalf("answered, and %s", p.last)
	}
	if got := strings.Join(a.ran, ", "); got != `deploy {"to":"staging"}, mail {"text":"hello"}` {
		t.Errorf("what ran: %s", got)
	}
	for _, e := range theirs.Events(sayso.EventAnswered) {
		if e.Actor.Channel != agui.Channel {
			t.Errorf("answered through %q", e.Actor.Channel)
		}
	}
	if n := len(theirs.Events(sayso.EventAnswered)); n != 3 {
		t.Errorf("%d answers in the log of the agent, want 3", n)
	}
}
