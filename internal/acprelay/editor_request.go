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

// editorDelay is how long a call waits before it is looked whether the editor can be asked:
// most are decided by then, and need no person.
const editorDelay = 100 * time.Millisecond

// maxLate is of how many questions it is remembered that the editor did not answer.
const maxLate = 256

// editorRequest is a question that may be put to the editor as well.
type editorRequest struct {
	acp.Card
	session, call string
	toolCallID    string       // the agent's name for the call
	shown         acp.ToolCall // what the editor shows of it
	timer         *time.Timer
	written       chan struct{} // closed when the editor has it; only where it was sent

	mu       sync.Mutex // guards what follows
	closed   bool       // it was decided, or taken back
	changed  bool       // the agent has it look otherwise than it was asked
	sent     bool
	answered bool // the editor answered
	request  sayso.Request
	sentAt   time.Time // when it was sent
}

// newEditorRequest is the question to the editor, nil if it is not to be asked. Its id is ours: the
// agent's may come again, and an answer to the first question would then be one to the
// second. The caller holds the lock.
func (r *Relay) newEditorRequest(p *acp.Permission, told *acp.ToolCall, line []byte, c *sayso.Call) *editorRequest {
	if r.o.Editor == nil {
		return nil
	}
	card, ok := p.Card(r.idPrefix+rand.Text(), line)
	if !ok {
		return nil
	}
	q := &editorRequest{Card: card, session: c.Session, call: c.CallID, toolCallID: p.Tool.ID, shown: p.Shown(told), written: make(chan struct{})}
	r.editorRequests[acp.Key(card.ID)] = q
	return q
}

// newIDPrefix is what the ids begin with of the questions that one relay puts to its
// editor.
func newIDPrefix() string { return "sayso-" + rand.Text() + "-" }

// isOwnID reports whether an id is one of ours, also of a question that is long over.
func (r *Relay) isOwnID(key string) bool { return strings.HasPrefix(key, `"`+r.idPrefix) }

// askEditor asks the editor, if policy permits that it is.
func (r *Relay) askEditor(ctx context.Context, h *held) {
	p := h.editorRequest
	if !r.isHeld(h.key) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // it is in the log by then, or never
	defer cancel()
	request, _, err := r.o.Editor.Elicitable(ctx, r.o.Actor, p.session, p.call)
	if err != nil || len(request.Warnings)+len(request.Danger) > 0 {
		return // people are asked elsewhere, where they are warned
	}
	if p.markSent(request) {
		defer close(p.written)
		_ = r.editor.Send(p.Line) // an editor that is gone ends the relay
	}
}

// markSent reports whether the question is still to be asked, as a request. It is sent
// without the lock: an editor that does not read keeps nobody's decision from the agent.
func (p *editorRequest) markSent(request sayso.Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.request, p.sent, p.sentAt = request, true, time.Now()
	return true
}

// endEditorRequest ends a question to the editor. One that was decided elsewhere is taken back, and
// what is still said there comes too late; an editor that cancelled the turn answers
// what it was asked by itself.
func (r *Relay) endEditorRequest(h *held, elsewhere bool) {
	p := h.editorRequest
	if p == nil {
		return
	}
	p.timer.Stop()
	p.mu.Lock()
	before := p.closed
	p.closed = true
	open := p.sent && !p.answered
	p.mu.Unlock()
	if before {
		return
	}
	r.forgetEditorRequest(p, open)
	if open && elsewhere {
		go func() { // ends when the editor reads, or is gone; the agent does not wait for it
			<-p.written
			_ = r.editor.Send(p.TakeBack()) // an editor that is gone ends the relay
		}()
	}
}

// withdrawChanged takes the questions about a call back from the editor if the agent has it look
// otherwise now: what a person saw is what they answer. People are still asked elsewhere,
// where nothing changes of what was asked.
func (r *Relay) withdrawChanged(m *acp.Message, session, call string) {
	var off []*held
	r.mu.Lock()
	for _, h := range r.held {
		if h.editorRequest != nil && h.session == session && h.editorRequest.toolCallID == call && m.Redraws(&h.editorRequest.shown) {
			off = append(off, h)
		}
	}
	r.mu.Unlock()
	for _, h := range off {
		if h.editorRequest.markChanged() {
			r.o.Note("the agent shows a call otherwise than it asked about it, so that the editor is not asked any more; it waits in sayso watch")
		}
		r.endEditorRequest(h, true)
	}
}

// markChanged has what is said of the question not count, and reports whether it did before.
func (p *editorRequest) markChanged() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.changed && !p.answered
	p.changed = true
	return first
}

// forgetEditorRequest forgets a question that is over, unless the editor may still answer it: what it
// says then is on the record as said too late.
func (r *Relay) forgetEditorRequest(p *editorRequest, open bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := acp.Key(p.ID)
	if !open {
		delete(r.editorRequests, key)
		return
	}
	r.late = append(r.late, key)
	if len(r.late) > maxLate {
		delete(r.editorRequests, r.late[0]) // what is said to that one is left out
		r.late = r.late[1:]
	}
}

// handleEditorAnswer takes an answer of the editor to a request for permission, and reports
// whether it is one. What it was not asked is left out, and the agent hears what stands
// in the log alone: also where the editor answers by the id of a request that waits here.
func (r *Relay) handleEditorAnswer(ctx context.Context, m *acp.Message) bool {
	key := m.Key()
	r.mu.Lock()
	p, waits := r.editorRequests[key], r.held[key] != nil
	r.mu.Unlock()
	if p == nil && !waits && !r.isOwnID(key) {
		return false
	}
	if !p.takeAnswer() {
		r.noteSkipped("the editor", errors.New("it answers what it was not asked, or is not asked any more"))
		return true
	}
	effect, ok := p.Said(m)
	if !ok {
		return true // no answer: people are asked elsewhere
	}
	r.answering.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if _, err := r.o.Editor.Elicited(ctx, r.o.Actor, p.request, effect, "", time.Since(p.sentAt)); err != nil {
			r.o.Note("the answer of the editor does not count: " + r.o.Plain(err).Error())
		}
	})
	return true
}

// takeAnswer reports whether this is the one answer to a question that the editor was asked.
func (p *editorRequest) takeAnswer() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.sent || p.answered || p.changed {
		return false
	}
	p.answered = true
	return true
}
