package acprelay

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/acp"
	"github.com/sayso-dev/sayso/internal/drive"
)

// maxAsks is of how many questions about one call it is recorded how the call ended.
const maxAsks = 64

// asked is what was asked about one call.
type asked struct {
	n   int      // how often
	ids []string // ours, the oldest first
}

// errDuplicateID is a request whose answer could not be told from that to another.
var errDuplicateID = errors.New("its id is that of another request that waits")

// handlePermissionRequest puts a request for permission to the gate. An error ends the relay.
func (r *Relay) handlePermissionRequest(ctx context.Context, m *acp.Message) error {
	if r.o.Off() {
		return r.editor.Send(m.Line)
	}
	p, err := m.Permission()
	if err != nil {
		return r.refuse(&held{reply: p.Reply}, err)
	}
	h := &held{key: p.Key(), session: p.Session, reply: p.Reply, cancelled: p.Cancelled()}
	told := r.told.Of(p.Session, p.Tool.ID)
	h.size = len(m.Line) + told.Size() // the call holds both
	r.mu.Lock()
	c, err := r.hold(h, func() (sayso.Call, error) { return p.Call(told, r.place(p.Session, r.nextID(&p))) })
	if err != nil {
		r.mu.Unlock()
		return r.refuse(h, err)
	}
	if h.editorRequest = r.newEditorRequest(&p, &told, m.Line, &c); h.editorRequest != nil {
		h.editorRequest.timer = time.AfterFunc(editorDelay, func() { r.askEditor(ctx, h) })
	}
	r.mu.Unlock()
	h.desk.Ask(ctx, drive.Question{
		Key: h.key, Call: c,
		Present: func(sayso.Facts) *sayso.Presentation { shown := acp.Present(c); return &shown },
		Answer:  func(d sayso.Decision, err error) error { return r.answer(h, d, err) },
	})
	return nil
}

// maxHeld is how many requests wait for the gate at once.
const maxHeld = 1024

// maxHeldBytes is how many bytes of them. Less in tests.
var maxHeldBytes = 256 << 20

// errFull is a request for which there is no room.
var errFull = fmt.Errorf("%w: more of what the agent asked waits here than is kept", sayso.ErrTooMany)

// hold keeps a request until the gate has answered, and is the call that it is about. The
// caller holds the lock.
func (r *Relay) hold(h *held, make func() (sayso.Call, error)) (sayso.Call, error) {
	_, runs := r.runs.get(h.key)
	switch {
	case r.held[h.key] != nil || runs:
		return sayso.Call{}, errDuplicateID
	case r.editorGone:
		return sayso.Call{}, errEditorGone
	case len(r.held) >= maxHeld || r.heldBytes+h.size > maxHeldBytes:
		return sayso.Call{}, errFull
	}
	c, err := make()
	if err != nil {
		return c, err
	}
	h.desk = r.desk(r.workspace(h.session))
	h.run = run{desk: h.desk, session: c.Session, call: c.CallID, agents: h.session, method: c.Tool}
	r.heldBytes += h.size
	r.held[h.key] = h
	r.seenSessions.put(c.Session, true)
	return c, nil
}

// release takes a request off what is held. The caller holds the lock.
func (r *Relay) release(h *held) {
	if r.held[h.key] == h {
		delete(r.held, h.key)
		r.heldBytes -= h.size
	}
}

// refuse says no to a request that was not asked about.
func (r *Relay) refuse(h *held, why error) error {
	switch {
	case errors.Is(why, errDuplicateID): // no answer could be told from that to the other
		r.noteSkipped("the agent", errDuplicateID)
		return nil
	case errors.Is(why, errEditorGone):
		_ = r.agent.Send(h.cancelled) // it was told to end, and may not hear it
		return nil
	}
	r.o.Note("refused, and nobody was asked: " + why.Error())
	return r.agent.Send(h.reply(sayso.Decision{}, why))
}

// answer tells the agent what was decided, or has the editor do what was allowed. What
// a request for permission is answered has no place for the reason, so it goes where a
// person finds it.
func (r *Relay) answer(h *held, d sayso.Decision, err error) error {
	does := h.pass != nil && err == nil && d.Allowed()
	r.mu.Lock()
	r.release(h)
	if does && r.editorGone {
		does, err = false, errEditorGone
	}
	if does {
		r.runs.put(h.key, h.run)
	}
	r.mu.Unlock()
	r.endEditorRequest(h, true)
	if text := sayso.Told(d, err); text != "" {
		r.o.Note(text)
	}
	if does {
		return r.editor.Send(h.pass)
	}
	if sent := r.agent.Send(h.reply(d, err)); sent != nil {
		return sent
	}
	if h.pass != nil && err != nil && d.Allowed() {
		return err // it does not run
	}
	return nil
}

// errEditorGone is the reason where nobody is there who could do it.
var errEditorGone = fmt.Errorf("%w: the editor is gone", sayso.ErrUnavailable)

// nextID is what a question about a call is called here. Of one call an agent may ask
// more than once, and each is a question of its own. The caller holds the lock.
func (r *Relay) nextID(p *acp.Permission) string {
	key := acp.CallKey(p.Session, p.Tool.ID)
	about, _ := r.asked.get(key)
	id := acp.Plain(p.Tool.ID)
	if about.n++; about.n > 1 {
		id += "#" + strconv.Itoa(about.n)
	}
	about.ids = append(about.ids[max(0, len(about.ids)-maxAsks+1):], id)
	r.asked.put(key, about)
	return id
}

// place is where a call is made. The caller holds the lock.
func (r *Relay) place(session, id string) acp.Place {
	cwd, _ := r.sessions.get(acp.SessionName(session))
	at := acp.Place{Cwd: cwd, CallID: id, Agent: r.peer, Caller: acp.Host}
	name := r.o.Name
	if name == "" {
		name = r.peer.Name
	}
	if name != "" {
		at.Caller += "/" + acp.Plain(name)
	}
	return at
}

// workspace is the root of the project in a session. The caller holds the lock.
func (r *Relay) workspace(session string) string {
	if r.o.Workspace != "" {
		return r.o.Workspace
	}
	cwd, _ := r.sessions.get(acp.SessionName(session))
	return cwd
}

// desk asks the gate for the sessions in one project. The caller holds the lock.
func (r *Relay) desk(workspace string) *drive.Desk {
	d := r.desks[workspace]
	if d == nil {
		f := r.o.Facts
		f.Workspace = workspace
		d = drive.NewDesk(drive.Options{Gate: r.o.Gate, Inbox: r.o.Inbox, Facts: f, Wanted: r.o.Wanted, Patience: r.o.Patience, Plain: r.o.Plain})
		r.desks[workspace] = d
	}
	return d
}

// cancelHeld takes back what the agent asked and nobody answered, and tells it so, and the
// editor if it was not the editor that ended it.
func (r *Relay) cancelHeld(which func(*held) bool, elsewhere bool, why string) {
	r.mu.Lock()
	var gone []*held
	for key, h := range r.held {
		if which(h) && h.desk.Withdraw(key, why) {
			r.release(h)
			gone = append(gone, h)
		}
	}
	r.mu.Unlock()
	for _, h := range gone {
		r.endEditorRequest(h, elsewhere)
		_ = r.agent.Send(h.cancelled) // an agent that is gone needs none
	}
}

// cancelRequest takes back what the agent itself does not want answered any more, and
// reports whether it waited here: the editor knows it by another id, if at all.
func (r *Relay) cancelRequest(m *acp.Message) bool {
	key := acp.Key(m.Cancelled())
	if !r.isHeld(key) {
		return false
	}
	r.cancelHeld(func(h *held) bool { return h.key == key }, true, "the agent took it back")
	return true
}
