package sayso

import (
	"slices"
	"time"
)

// Row is what a projection keeps of one request, so that it can be found
// without reading the log. Rows are made from events alone and can be dropped
// and made again.
type Row struct {
	ID      ID
	Session string
	Run     string
	Group   string
	CallID  string
	Host    string
	Tool    string
	Server  string
	Kind    Kind
	Asker   string
	Holder  string // the lease of whoever waits
	Digest  Digest // zero once erased
	Created Moment
	After   time.Duration // until the deadline; zero for none
	State   State
	Source  Source // what it was decided by
	Asked   bool   // a person was asked
	Spent   bool   // nothing more can come of it: used, void, or its no was delivered
	Decided time.Time
	First   Seq
	Last    Seq
}

// RowOf begins the row of a request with its first event.
func RowOf(e *Event) (Row, error) {
	p, s, err := read[Requested, RequestedShown](e)
	if err != nil {
		return Row{}, err
	}
	return Row{
		ID: e.RequestID, Session: e.SessionID, Run: e.RunID, Group: p.GroupID, CallID: e.CallID, Host: p.Host,
		Tool: p.Tool, Server: p.Server, Kind: p.Kind, Asker: e.Actor.Principal, Holder: p.Holder, Digest: s.Digest,
		Created: e.At, After: nanoseconds(p.DeadlineNS), State: StateOpen, Asked: true, First: e.Seq, Last: e.Seq,
	}, nil
}

// Unread is the request of a row that cannot be read, for lists: people see that it
// is there and why there is no more of it. It fits no answer, and allows nothing.
func (w *Row) Unread(why error) Request {
	r := Request{
		Version: 1, ID: w.ID, ShortID: w.ID.Short(), SessionID: w.Session, RunID: w.Run, CallID: w.CallID, GroupID: w.Group, Host: w.Host,
		Caller: w.Asker, Tool: w.Tool, HostTool: w.Tool, Server: w.Server, Kind: w.Kind, Risk: RiskDestructive, Danger: []Danger{},
		Description: "cannot be read: " + why.Error(), Said: map[string]string{}, Cause: CauseNotUnderstood, Preview: Args("{}"),
		Redactions: []Redaction{}, Warnings: []Warning{}, Ignores: []string{}, Covers: []CoverOffer{}, State: w.State,
		CreatedAt: w.ID.Time().UTC(), Unread: why.Error(), Life: Life{First: w.First, Last: w.Last},
	}
	if !w.State.Open() {
		r.Decision = &Decision{State: w.State, Request: w.ID, Source: w.Source, By: []Actor{}, At: w.Decided}
	}
	return r
}

// Apply changes the row by a later event of the same stream.
func (w *Row) Apply(e *Event) error {
	w.Last = e.Seq
	switch e.Type {
	case EventResolved:
		p, err := readPayload[Resolved](e)
		if err != nil {
			return err
		}
		w.Source, w.Asked = p.Source, p.Source == SourcePerson || p.Source == SourceDeadline
		w.Spent = p.Effect != Allow && w.State != StateParked
		w.close(e, StateDenied)
		if p.Effect == Allow {
			w.State = StateAllowed
		}
	case EventExpired:
		w.close(e, StateExpired)
		w.Spent = true
	case EventWithdrawn:
		w.close(e, StateWithdrawn)
		w.Spent = true
	case EventParked:
		w.Holder = ""
		if w.State.Open() {
			w.State = StateParked
		}
	case EventTaken:
		return w.taken(e)
	case EventRedeemed, EventVoided:
		w.Spent = true
	case EventContentErased:
		w.Digest = Digest{}
	}
	return nil
}

func (w *Row) taken(e *Event) error {
	p, err := readPayload[Taken](e)
	if err != nil {
		return err
	}
	w.Holder = p.Holder
	if w.State.Open() {
		w.State = StateOpen
	}
	w.Spent = w.Spent || w.State == StateDenied
	return nil
}

func (w *Row) close(e *Event, state State) { w.State, w.Decided = state, e.At.Wall }

// RowQuery selects rows. Zero members select everything.
type RowQuery struct {
	Session  string
	Sessions []string // any of them
	Group    string
	CallID   string // that a request began with, not those that took it up
	Digest   Digest
	Tool     string
	Host     string
	States   []State
	Asked    bool // only those that a person was asked about
	Unspent  bool // only those that are not spent, see [Row]
	Since    time.Time
	Until    time.Time
	Before   Seq  // only requests that began before, for the next page
	Oldest   bool // oldest first; newest first otherwise
	Limit    int  // zero for 100
}

// OnlyOpen reports whether q selects requests that wait for an answer, and no
// others.
func (q RowQuery) OnlyOpen() bool {
	return len(q.States) > 0 && !slices.ContainsFunc(q.States, func(s State) bool { return !s.Open() })
}
