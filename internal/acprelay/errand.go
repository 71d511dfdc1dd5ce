package acprelay

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/acp"
	"github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/internal/facts"
)

// run is something that the editor does for the agent, or is asked about it.
type run struct {
	desk          *drive.Desk
	session, call string // as they are called here
	agents        string // the agent's name for the session
	method        string
	terminal      string // whose command it is asked about
}

// handleErrand puts what the agent has the editor do to the gate. An error ends the relay.
func (r *Relay) handleErrand(ctx context.Context, m *acp.Message) error {
	if r.o.Off() {
		return r.editor.Send(m.Line)
	}
	if !m.Request() {
		r.noteSkipped("the agent", errors.New("it has the editor do something and wants no answer"))
		return nil
	}
	e, err := m.ReadErrand()
	h := &held{key: m.Key(), session: e.Session, reply: e.Reply, cancelled: e.Cancelled(), pass: m.Line, size: len(m.Line)}
	if err != nil {
		return r.refuse(h, err)
	}
	r.mu.Lock()
	c, err := r.hold(h, func() (sayso.Call, error) { return e.Call(r.place(e.Session, "editor-"+rand.Text())) })
	r.mu.Unlock()
	if err != nil {
		return r.refuse(h, err)
	}
	h.desk.Ask(ctx, drive.Question{
		Key: h.key, Call: c,
		Present: func(f sayso.Facts) *sayso.Presentation { shown := e.Present(c, f, facts.Content); return &shown },
		Answer:  func(d sayso.Decision, err error) error { return r.answer(h, d, err) },
	})
	return nil
}

// recordTerminalRequest takes down that the agent asks how a command of its ended.
func (r *Relay) recordTerminalRequest(m *acp.Message) {
	switch m.Method {
	case acp.TerminalExit, acp.TerminalOutput, acp.TerminalRelease:
	default:
		return
	}
	session, id := m.Terminal()
	key := acp.CallKey(session, id)
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Method == acp.TerminalRelease {
		r.terminals.take(key) // how it ended is not said any more
		return
	}
	_, ours := r.terminals.get(key)
	if _, twin := r.runs.get(m.Key()); ours && !twin {
		r.runs.put(m.Key(), run{method: m.Method, terminal: key})
	}
}

// recordEnd takes down what the editor answers of what it was let do, and records how that
// ended.
func (r *Relay) recordEnd(ctx context.Context, m *acp.Message) {
	r.mu.Lock()
	what, ok := r.runs.take(m.Key())
	r.mu.Unlock()
	if !ok {
		return
	}
	switch what.method {
	case acp.TerminalExit, acp.TerminalOutput:
		if o, over := m.Exit(); over {
			r.mu.Lock()
			what, ok = r.terminals.take(what.terminal)
			r.mu.Unlock()
			if ok {
				what.desk.Ended(ctx, what.session, what.call, o)
			}
		}
	case acp.CreateTerminal:
		if _, id := m.Terminal(); !m.Failed() && id != "" {
			r.mu.Lock()
			r.terminals.put(acp.CallKey(what.agents, id), what)
			r.mu.Unlock()
			return
		}
		what.desk.Ended(ctx, what.session, what.call, sayso.Outcome{Failed: true})
	default:
		what.desk.Ended(ctx, what.session, what.call, sayso.Outcome{Failed: m.Failed()})
	}
}
