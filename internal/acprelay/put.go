package acprelay

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/acp"
)

// Elicits puts a question to the person at the editor as well, where policy permits
// it. The engine of this machine has the words.
type Elicits interface {
	// Elicitable waits until a call is in the log, and is its request if it may be
	// answered so.
	Elicitable(ctx context.Context, by sayso.Actor, session, callID string) (sayso.Request, sayso.RequestedFull, error)
	// Elicited records what that person answered, so long after being asked.
	Elicited(ctx context.Context, by sayso.Actor, r sayso.Request, effect sayso.Effect, note string, took time.Duration) (sayso.Decision, error)
}

// unasked is how long a call waits before it is looked whether the editor can be asked:
// most are decided by then, and need no person.
const unasked = 100 * time.Millisecond

// maxLate is of how many questions it is remembered that the editor did not answer.
const maxLate = 256

// put is a question that may be put to the editor as well.
type put struct {
	acp.Permission
	line          []byte // as the editor is asked
	session, call string
	timer         *time.Timer

	mu      sync.Mutex // guards what follows
	over    bool       // it was decided, or taken back
	sent    bool
	said    bool // the editor answered
	request sayso.Request
	at      time.Time // when it was sent
}

// wasPut reports whether the editor was asked.
func (p *put) wasPut() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}

// puts is the question to the editor, nil if it is not to be asked. It names the ways to
// answer once alone, and everything else as the agent does.
func (r *Relay) puts(p *acp.Permission, line []byte, c *sayso.Call) *put {
	if r.o.Editor == nil {
		return nil
	}
	shown, ok := p.Once(line)
	if !ok {
		return nil
	}
	return &put{Permission: *p, line: slices.Clip(shown), session: c.Session, call: c.CallID}
}

// putTo asks the editor, if policy permits that it is.
func (r *Relay) putTo(ctx context.Context, h *held) {
	p := h.put
	if !r.waits(h.Key()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // it is in the log by then, or never
	defer cancel()
	request, _, err := r.o.Editor.Elicitable(ctx, r.o.Actor, p.session, p.call)
	if err != nil {
		return // people are asked elsewhere
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.request, p.sent, p.at = request, true, time.Now()
	_ = r.editor.Send(p.line) // an editor that is gone ends the relay
}

// over ends a question to the editor. One that was decided elsewhere is taken back, and
// what is still said there comes too late; an editor that cancelled the turn answers
// what it was asked by itself.
func (r *Relay) over(h *held, elsewhere bool) {
	p := h.put
	if p == nil {
		return
	}
	p.timer.Stop()
	p.mu.Lock()
	p.over = true
	open := p.sent && !p.said
	p.mu.Unlock()
	if !open {
		return
	}
	r.mu.Lock()
	if len(r.late) >= maxLate {
		clear(r.late) // what is said to those reaches the agent, which does not wait for it
	}
	r.late[h.Key()] = p
	r.mu.Unlock()
	if elsewhere {
		_ = r.editor.Send(p.TakeBack()) // an editor that is gone ends the relay
	}
}

// editorSaid takes an answer of the editor to a request for permission, and reports
// whether it is one. What it was not asked is left out, and the agent hears what stands
// in the log alone.
func (r *Relay) editorSaid(ctx context.Context, m *acp.Message) bool {
	key := m.Key()
	r.mu.Lock()
	h, p := r.held[key], r.late[key]
	delete(r.late, key)
	r.mu.Unlock()
	if h != nil {
		p = h.put
	}
	if h == nil && p == nil {
		return false
	}
	if !p.wasPut() || !p.first() {
		r.drown("the editor", errors.New("it answers a request for permission that it was not asked"))
		return true
	}
	effect, ok := p.Said(m)
	if !ok {
		return true // no answer: people are asked elsewhere
	}
	r.telling.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if _, err := r.o.Editor.Elicited(ctx, r.o.Actor, p.request, effect, "", time.Since(p.at)); err != nil {
			r.o.Note("the answer of the editor does not count: " + r.o.Plain(err).Error())
		}
	})
	return true
}

// first reports whether the editor had not answered before.
func (p *put) first() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.said
	p.said = true
	return !before
}
