package acprelay

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/acp"
)

// unasked is how long a call waits before it is looked whether the editor can be asked:
// most are decided by then, and need no person.
const unasked = 100 * time.Millisecond

// maxLate is of how many questions it is remembered that the editor did not answer.
const maxLate = 256

// put is a question that may be put to the editor as well.
type put struct {
	acp.Card
	session, call string
	about         string       // the agent's name for the call
	shown         acp.ToolCall // what the editor shows of it
	timer         *time.Timer
	written       chan struct{} // closed when the editor has it; only where it was sent

	mu      sync.Mutex // guards what follows
	over    bool       // it was decided, or taken back
	changed bool       // the agent has it look otherwise than it was asked
	sent    bool
	said    bool // the editor answered
	request sayso.Request
	at      time.Time // when it was sent
}

// puts is the question to the editor, nil if it is not to be asked. Its id is ours: the
// agent's may come again, and an answer to the first question would then be one to the
// second. The caller holds the lock.
func (r *Relay) puts(p *acp.Permission, told *acp.ToolCall, line []byte, c *sayso.Call) *put {
	if r.o.Editor == nil {
		return nil
	}
	card, ok := p.Card(r.mark+rand.Text(), line)
	if !ok {
		return nil
	}
	q := &put{Card: card, session: c.Session, call: c.CallID, about: p.Tool.ID, shown: p.Shown(told), written: make(chan struct{})}
	r.cards[acp.Key(card.ID)] = q
	return q
}

// newMark is what the ids begin with of the questions that one relay puts to its
// editor.
func newMark() string { return "sayso-" + rand.Text() + "-" }

// marked reports whether an id is one of ours, also of a question that is long over.
func (r *Relay) marked(key string) bool { return strings.HasPrefix(key, `"`+r.mark) }

// putTo asks the editor, if policy permits that it is.
func (r *Relay) putTo(ctx context.Context, h *held) {
	p := h.put
	if !r.waits(h.key) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // it is in the log by then, or never
	defer cancel()
	request, _, err := r.o.Editor.Elicitable(ctx, r.o.Actor, p.session, p.call)
	if err != nil || len(request.Warnings)+len(request.Danger) > 0 {
		return // people are asked elsewhere, where they are warned
	}
	if p.send(request) {
		defer close(p.written)
		_ = r.editor.Send(p.Line) // an editor that is gone ends the relay
	}
}

// send reports whether the question is still to be asked, as a request. It is sent
// without the lock: an editor that does not read keeps nobody's decision from the agent.
func (p *put) send(request sayso.Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return false
	}
	p.request, p.sent, p.at = request, true, time.Now()
	return true
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
	before := p.over
	p.over = true
	open := p.sent && !p.said
	p.mu.Unlock()
	if before {
		return
	}
	r.leave(p, open)
	if open && elsewhere {
		go func() { // ends when the editor reads, or is gone; the agent does not wait for it
			<-p.written
			_ = r.editor.Send(p.TakeBack()) // an editor that is gone ends the relay
		}()
	}
}

// redraw takes the questions about a call back from the editor if the agent has it look
// otherwise now: what a person saw is what they answer. People are still asked elsewhere,
// where nothing changes of what was asked.
func (r *Relay) redraw(m *acp.Message, session, call string) {
	var off []*held
	r.mu.Lock()
	for _, h := range r.held {
		if h.put != nil && h.session == session && h.put.about == call && m.Redraws(&h.put.shown) {
			off = append(off, h)
		}
	}
	r.mu.Unlock()
	for _, h := range off {
		if h.put.change() {
			r.o.Note("the agent shows a call otherwise than it asked about it, so that the editor is not asked any more; it waits in sayso watch")
		}
		r.over(h, true)
	}
}

// change has what is said of the question not count, and reports whether it did before.
func (p *put) change() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.changed && !p.said
	p.changed = true
	return first
}

// leave forgets a question that is over, unless the editor may still answer it: what it
// says then is on the record as said too late.
func (r *Relay) leave(p *put, open bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := acp.Key(p.ID)
	if !open {
		delete(r.cards, key)
		return
	}
	r.late = append(r.late, key)
	if len(r.late) > maxLate {
		delete(r.cards, r.late[0]) // what is said to that one is left out
		r.late = r.late[1:]
	}
}

// editorSaid takes an answer of the editor to a request for permission, and reports
// whether it is one. What it was not asked is left out, and the agent hears what stands
// in the log alone: also where the editor answers by the id of a request that waits here.
func (r *Relay) editorSaid(ctx context.Context, m *acp.Message) bool {
	key := m.Key()
	r.mu.Lock()
	p, waits := r.cards[key], r.held[key] != nil
	r.mu.Unlock()
	if p == nil && !waits && !r.marked(key) {
		return false
	}
	if !p.first() {
		r.drown("the editor", errors.New("it answers what it was not asked, or is not asked any more"))
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

// first reports whether this is the one answer to a question that the editor was asked.
func (p *put) first() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.sent || p.said || p.changed {
		return false
	}
	p.said = true
	return true
}
