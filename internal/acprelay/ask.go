package acprelay

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/acp"
	"github.com/sayso-dev/sayso/internal/drive"
)

// maxAsked is of how many calls at once it is remembered what was asked about them.
const maxAsked = 4096

// errTwin is a request whose answer could not be told from that to another.
var errTwin = errors.New("its id is that of another request for permission")

// ask puts a request for permission to the gate. An error ends the relay.
func (r *Relay) ask(ctx context.Context, m *acp.Message) error {
	if r.o.Off() {
		return r.editor.Send(m.Line)
	}
	p, err := m.Permission()
	if err != nil {
		return r.refuse(p, err)
	}
	if r.waits(p.Key()) {
		r.drown("the agent", errTwin)
		return nil
	}
	told := r.told.Of(p.Session, p.Tool.ID)
	r.mu.Lock()
	if r.gone {
		r.mu.Unlock()
		_ = r.agent.Send(p.Cancelled()) // it was told to end, and may not hear it
		return nil
	}
	c, err := p.Call(told, r.place(&p))
	if err != nil {
		r.mu.Unlock()
		return r.refuse(p, err)
	}
	h := &held{Permission: p, desk: r.desk(r.workspace(p.Session)), put: r.puts(&p, m.Line, &c)}
	if h.put != nil {
		h.put.timer = time.AfterFunc(unasked, func() { r.putTo(ctx, h) })
	}
	r.held[p.Key()], r.met[c.Session] = h, true
	r.mu.Unlock()
	h.desk.Ask(ctx, drive.Question{
		Key: p.Key(), Call: c,
		Present: func(sayso.Facts) *sayso.Presentation { shown := acp.Present(c); return &shown },
		Answer:  func(d sayso.Decision, err error) error { return r.answer(h, d, err) },
	})
	return nil
}

// refuse says no to a request that was not asked about.
func (r *Relay) refuse(p acp.Permission, why error) error {
	r.o.Note("refused, and nobody was asked: " + why.Error())
	return r.agent.Send(p.Reply(sayso.Decision{}, why))
}

// answer tells the agent what was decided. The protocol has no place for the reason,
// so it goes where a person finds it.
func (r *Relay) answer(h *held, d sayso.Decision, err error) error {
	r.mu.Lock()
	delete(r.held, h.Key())
	r.mu.Unlock()
	r.over(h, true)
	if text := sayso.Told(d, err); text != "" {
		r.o.Note(text)
	}
	return r.agent.Send(h.Reply(d, err))
}

// place is where a call is made. Of one call an agent may ask more than once, and
// each is a question of its own. The caller holds the lock.
func (r *Relay) place(p *acp.Permission) acp.Place {
	key := callKey(p.Session, p.Tool.ID)
	id := acp.Plain(p.Tool.ID)
	if n := len(r.asked[key]); n > 0 {
		id += "#" + strconv.Itoa(n+1)
	}
	if len(r.asked) >= maxAsked {
		clear(r.asked) // how those ended is then not known
	}
	r.asked[key] = append(r.asked[key], id)
	at := acp.Place{Cwd: r.sessions[p.Session], CallID: id, Agent: r.peer, Caller: acp.Host}
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
	return r.sessions[session]
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

// cancel takes back what the agent asked and nobody answered, and tells it so, and the
// editor if it was not the editor that ended it.
func (r *Relay) cancel(which func(*held) bool, elsewhere bool, why string) {
	r.mu.Lock()
	var gone []*held
	for key, h := range r.held {
		if which(h) && h.desk.Withdraw(key, why) {
			delete(r.held, key)
			gone = append(gone, h)
		}
	}
	r.mu.Unlock()
	for _, h := range gone {
		r.over(h, elsewhere)
		_ = r.agent.Send(h.Cancelled()) // an agent that is gone needs none
	}
}

// cancelled takes back what the agent itself does not want answered any more, and
// reports whether it waited here: the editor knows it by another id, if at all.
func (r *Relay) cancelled(m *acp.Message) bool {
	key := acp.Key(m.Cancelled())
	if !r.waits(key) {
		return false
	}
	r.cancel(func(h *held) bool { return h.Key() == key }, true, "the agent took it back")
	return true
}
