package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/redact"
)

// Message is the body of a webhook, in the shape of Standard Webhooks.
type Message struct {
	Type      string    `json:"type"` // of the event, or notice.dead, notice.test
	Timestamp time.Time `json:"timestamp"`
	Data      Data      `json:"data"`
}

// Data is what a message tells. How much of it is there, the detail says.
type Data struct {
	Seq      sayso.Seq `json:"seq,omitzero"`
	Link     string    `json:"link,omitempty"`
	Request  *Request  `json:"request,omitempty"`
	Decision *Decision `json:"decision,omitempty"`
	Mode     *Mode     `json:"mode,omitempty"`
	Notice   *Lost     `json:"notice,omitempty"`
}

// Request is what a message tells of a request.
type Request struct {
	ID        sayso.ID    `json:"id"`
	ShortID   string      `json:"short_id"`
	State     sayso.State `json:"state"` // when it was sent
	CreatedAt time.Time   `json:"created_at"`
	Deadline  *time.Time  `json:"deadline"` // null for none

	// From here on with title.
	Agent  string         `json:"agent,omitempty"` // the host, or without one the principal that asks
	Host   string         `json:"host,omitempty"`
	Tool   string         `json:"tool,omitempty"`
	Server string         `json:"server,omitempty"`
	Kind   sayso.Kind     `json:"kind,omitempty"`
	Risk   sayso.Risk     `json:"risk,omitempty"`
	Danger []sayso.Danger `json:"danger,omitempty"`
	Title  string         `json:"title,omitempty"` // what the policy calls it
	Rule   string         `json:"rule,omitempty"`

	// From here on with preview.
	SessionID   string            `json:"session_id,omitempty"`
	Caller      string            `json:"caller,omitempty"`
	Cwd         string            `json:"cwd,omitempty"`
	Description string            `json:"description,omitempty"`
	Said        map[string]string `json:"said,omitempty"` // the agent's words
	Preview     sayso.Args        `json:"preview,omitzero"`
}

// Decision is what a message tells of a decision.
type Decision struct {
	Effect sayso.Effect `json:"effect"`
	Source sayso.Source `json:"source"`
	By     []string     `json:"by,omitempty"`   // with title
	Note   string       `json:"note,omitempty"` // with preview
}

// Mode is what a message tells of the mode.
type Mode struct {
	Session string       `json:"session,omitempty"` // with preview; empty for all
	All     bool         `json:"all"`
	Mode    sayso.Mode   `json:"mode,omitempty"`
	Switch  sayso.Switch `json:"switch,omitempty"`
	ForS    float64      `json:"for_s,omitzero"` // zero for no end
}

// Lost is what a message tells of notices that were given up.
type Lost struct {
	ID     sayso.ID `json:"id"` // of the newest
	Target string   `json:"target"`
	Error  string   `json:"error"` // of the newest
	Count  int      `json:"count"` // how many, since that was told the last time
}

// errMoot says that there is nothing to tell any more.
var errMoot = errors.New("nothing is to be told any more")

// kind says what a target is told of an event; empty for nothing.
func (o *Outbox) kind(ctx context.Context, t *Target, e *sayso.Event) (Kind, error) {
	switch e.Type {
	case sayso.EventRequested:
		if t.wants(Opened) {
			return o.opened(ctx, e)
		}
	case sayso.EventResolved:
		var p sayso.Resolved
		if err := jcs.UnmarshalLenient(e.Payload, &p); err != nil {
			return "", err
		}
		switch {
		case p.Source == sayso.SourcePerson && t.wants(Decided):
			return Decided, nil
		case p.Source == sayso.SourceDeadline && t.wants(Expired):
			return Expired, nil
		}
	case sayso.EventExpired:
		return only(t, Expired), nil
	case sayso.EventWithdrawn:
		return only(t, Withdrawn), nil
	case sayso.EventModeChanged:
		return only(t, ModeSet), nil
	}
	return "", nil
}

func only(t *Target, k Kind) Kind {
	if !t.wants(k) {
		return ""
	}
	return k
}

// asked is what was found out last about whether people were asked, so that a
// request is read once for all targets.
type asked [256]struct {
	mu    sync.Mutex // guards what follows
	event sayso.ID
	kind  Kind
}

// opened tells whether people were asked about a request.
func (o *Outbox) opened(ctx context.Context, e *sayso.Event) (Kind, error) {
	at := &o.asked[e.Seq%sayso.Seq(len(o.asked))]
	at.mu.Lock() // whoever else wants this one waits until it is known
	defer at.mu.Unlock()
	if at.event == e.ID {
		return at.kind, nil
	}
	kind, err := o.lived(ctx, e)
	if err == nil {
		at.event, at.kind = e.ID, kind
	}
	return kind, err
}

// lived reads whether people were asked about a request: what policy, a grant or
// the mode decides was resolved in the commit that requested it.
func (o *Outbox) lived(ctx context.Context, e *sayso.Event) (Kind, error) {
	life, err := o.o.Inbox.Life(ctx, e.RequestID)
	if err != nil {
		return "", err
	}
	for i := range life {
		var p sayso.Resolved
		if life[i].Type != sayso.EventResolved {
			continue
		}
		if err := jcs.UnmarshalLenient(life[i].Payload, &p); err != nil {
			return "", err
		}
		if p.Source != sayso.SourcePerson && p.Source != sayso.SourceDeadline {
			return "", nil
		}
	}
	return Opened, nil
}

// event reads the event of a letter again.
func (o *Outbox) event(ctx context.Context, l *Letter) (*sayso.Event, error) {
	for e, err := range o.o.Inbox.Follow(ctx, l.Seq-1, sayso.EventQuery{}) {
		if err != nil {
			return nil, err
		}
		if e.ID != l.Event {
			break // the log was restored from a backup
		}
		return &e, nil
	}
	return nil, errMoot
}

// compose writes what a target is told by a letter. Everything in it that is not
// a word of ours has passed the redactor.
func (o *Outbox) compose(ctx context.Context, t *Target, l *Letter, e *sayso.Event) (Message, error) {
	m := Message{Timestamp: l.Made.UTC()}
	switch l.Kind {
	case Tested:
		m.Type = "notice.test"
		return m, nil
	case Dead:
		m.Type, m.Data.Notice = "notice.dead", l.Lost
		return m, nil
	}
	var err error
	if e == nil {
		if e, err = o.event(ctx, l); err != nil {
			return m, err
		}
	}
	m.Type, m.Timestamp, m.Data.Seq = string(e.Type), e.At.Wall.UTC(), e.Seq
	clean := cleaner{o.o.Redactor(), t.Detail}
	switch {
	case l.Kind == ModeSet:
		m.Data.Mode, err = clean.mode(e)
		return m, err
	case l.Kind == Decided:
		if m.Data.Decision, err = clean.decision(e); err != nil {
			return m, err
		}
	}
	r, err := o.o.Inbox.Request(ctx, string(e.RequestID))
	if err != nil {
		return m, err
	}
	m.Data.Link = o.o.Link(r.ID)
	m.Data.Request, err = clean.request(&r)
	return m, err
}

// cleaner makes what may be told, of one detail.
type cleaner struct {
	redactor *redact.Redactor
	detail   Detail
}

func (c cleaner) text(s string) string {
	s, _ = c.redactor.Text(s)
	return s
}

func (c cleaner) request(r *sayso.Request) (*Request, error) {
	out := &Request{ID: r.ID, ShortID: r.ShortID, State: r.State, CreatedAt: r.CreatedAt, Deadline: r.Deadline}
	if c.detail != Title && c.detail != Preview {
		return out, nil
	}
	out.Host, out.Tool, out.Server, out.Rule = c.text(r.Host), c.text(r.Tool), c.text(r.Server), c.text(r.Rule)
	out.Agent = c.text(cmp.Or(r.Host, r.Life.Asker.Principal))
	out.Kind, out.Risk, out.Danger = r.Kind, r.Risk, r.Danger
	if r.Titled {
		out.Title = c.text(r.Description)
	}
	if c.detail != Preview {
		return out, nil
	}
	texts := map[string]string{"session": r.SessionID, "caller": r.Caller, "cwd": r.Cwd, "description": r.Description}
	for k, v := range r.Said {
		texts["said/"+k] = v
	}
	hidden, err := c.redactor.Call(r.Preview, texts)
	if err != nil {
		return nil, fmt.Errorf("hiding what must not be told of %s: %w", r.ShortID, err)
	}
	out.SessionID, out.Caller, out.Cwd, out.Description = hidden.Texts["session"], hidden.Texts["caller"], hidden.Texts["cwd"], hidden.Texts["description"]
	out.Preview = hidden.Full
	for k := range r.Said {
		if out.Said == nil {
			out.Said = map[string]string{}
		}
		out.Said[k] = hidden.Texts["said/"+k]
	}
	return out, nil
}

func (c cleaner) decision(e *sayso.Event) (*Decision, error) {
	var p struct {
		sayso.Resolved
		sayso.AnsweredShown
	}
	if err := jcs.UnmarshalLenient(e.Payload, &p); err != nil {
		return nil, err
	}
	d := &Decision{Effect: p.Effect, Source: p.Source}
	if c.detail == Title || c.detail == Preview {
		for _, by := range p.By {
			d.By = append(d.By, c.text(by.Principal))
		}
	}
	if c.detail == Preview {
		d.Note = c.text(p.Note)
	}
	return d, nil
}

func (c cleaner) mode(e *sayso.Event) (*Mode, error) {
	var p sayso.ModeChanged
	if err := jcs.UnmarshalLenient(e.Payload, &p); err != nil {
		return nil, err
	}
	m := &Mode{All: e.SessionID == "", Mode: p.Mode, Switch: p.Switch, ForS: time.Duration(p.ForNS).Seconds()}
	if c.detail == Preview {
		m.Session = c.text(e.SessionID)
	}
	return m, nil
}
