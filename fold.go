package sayso

import (
	"fmt"
	"slices"
	"time"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// Fold turns the events of a request's stream, from the first on, into the
// request. An event that cannot follow the ones before it is an error: the
// state can no longer be known, and what is not known is not allowed.
func Fold(events []Event) (Request, error) {
	var r Request
	for i := range events {
		if err := r.Apply(&events[i]); err != nil {
			return Request{}, err
		}
	}
	if r.ID == "" {
		return Request{}, fmt.Errorf("%w: no such request", ErrNotFound)
	}
	return r, nil
}

// Apply adds the next event to what r is. On error r is unchanged.
func (r *Request) Apply(e *Event) error {
	before := *r
	if err := r.apply(e); err != nil {
		*r = before
		return fmt.Errorf("event %d (%s) of %s: %w", e.Seq, e.Type, e.Stream, err)
	}
	r.Life.Len++
	r.Life.Bytes += len(e.Payload) + len(e.Content)
	r.Life.Last = e.Seq
	return nil
}

func (r *Request) apply(e *Event) error {
	if e.Pos != r.Life.Len+1 {
		return fmt.Errorf("%w: position %d after %d", ErrConflict, e.Pos, r.Life.Len)
	}
	if (e.Type == EventRequested) != (r.ID == "") {
		return fmt.Errorf("%w: a stream begins with %s and has one", ErrConflict, EventRequested)
	}
	step, ok := steps[e.Type]
	if !ok {
		return fmt.Errorf("%w: no event of a request", ErrInvalid)
	}
	if step.when != nil && !step.when(r) {
		return fmt.Errorf("%w: not in state %s", ErrConflict, r.State)
	}
	return step.do(r, e)
}

// steps is the state machine: when an event may come, and what it changes.
var steps map[EventType]struct {
	when func(*Request) bool
	do   func(*Request, *Event) error
}

func open(r *Request) bool { return r.State.Open() }
func live(r *Request) bool {
	return r.State == StateAllowed && !r.Life.Redeemed && r.Life.Voided == ""
}
func undelivered(r *Request) bool {
	return open(r) || live(r) || (r.Life.parked && r.State == StateDenied)
}

// steps is filled here since its functions refer to the types above it.
func init() {
	steps = map[EventType]struct {
		when func(*Request) bool
		do   func(*Request, *Event) error
	}{
		EventRequested:     {nil, (*Request).requested},
		EventAnswered:      {open, (*Request).answered},
		EventResolved:      {open, (*Request).resolved},
		EventExpired:       {open, closing(StateExpired)},
		EventWithdrawn:     {open, closing(StateWithdrawn)},
		EventParked:        {undelivered, (*Request).parkedBy},
		EventTaken:         {undelivered, (*Request).taken},
		EventRedeemed:      {live, func(r *Request, _ *Event) error { r.Life.Redeemed = true; r.Outcome = "unknown"; return nil }},
		EventVoided:        {live, (*Request).voided},
		EventFinished:      {func(r *Request) bool { return r.Life.Redeemed && !r.Life.Finished }, (*Request).finished},
		EventAnswerRefused: {nil, func(*Request, *Event) error { return nil }},
		EventContentErased: {nil, func(r *Request, _ *Event) error { r.Erased = true; return nil }},
	}
}

func (r *Request) requested(e *Event) error {
	p, s, err := read[Requested, RequestedShown](e)
	if err != nil {
		return err
	}
	call := e.asked()
	var text Args
	if call == nil {
		c, err := e.content()
		if err != nil {
			return err
		}
		text = c.Private
	}
	*r = Request{
		Version: 1, ID: e.RequestID, ShortID: e.RequestID.Short(), SessionID: e.SessionID, RunID: e.RunID,
		CallID: e.CallID, GroupID: p.GroupID, Host: p.Host, Caller: callerOf(e, p, s), Tool: p.Tool, HostTool: p.HostTool,
		Server: p.Server, Kind: p.Kind, ReadOnly: p.Kind.ReadOnly(), Risk: p.Risk, Danger: p.Danger, Cwd: s.Cwd,
		Description: s.Description, Titled: p.Titled, Said: s.Said, Cause: p.Cause, Rule: p.Rule, File: p.File, Line: p.Line,
		Span: p.Span, Preview: s.Preview, Redactions: s.Redactions, Warnings: s.Warnings, Digest: s.Digest,
		Content: s.Content, Fingerprint: s.Fingerprint, Ignores: s.Ignores, Covers: s.Covers, State: StateOpen,
		CreatedAt: truncate(e.At.Wall), Requirement: p.Requirement, CanEdit: p.CanEdit, Erased: e.Content == nil,
		Life: Life{
			First: e.Seq, Asker: e.Actor, Holder: p.Holder, Created: e.At, asked: e.At, After: Deadline{nanoseconds(p.DeadlineNS), p.ThenDeny},
			Policy: p.Policy, Mode: p.Mode, Pins: p.Pins, CanPin: p.CanPin, Elicit: p.Elicit, private: text, call: call, CallIDs: []string{e.CallID},
		},
	}
	if p.DeadlineNS > 0 {
		r.Deadline = new(truncate(e.At.Wall.Add(nanoseconds(p.DeadlineNS))))
		r.RemainingS = new(nanoseconds(p.DeadlineNS).Seconds())
	}
	return nil
}

// callerOf is who calls: as the call says, or as the token says of whoever asked
// from no host.
func callerOf(e *Event, p *Requested, s *RequestedShown) string {
	if s.Caller == "" && p.Host == "" {
		return e.Actor.Principal
	}
	return s.Caller
}

// Asked returns the call as it was asked and the facts gathered with it, and
// [ErrNotFound] if they were erased. What they hold is shared: whoever wants
// another list or map makes one.
func (r *Request) Asked() (RequestedPrivate, error) {
	if r.Life.call != nil {
		return *r.Life.call, nil
	}
	var p RequestedPrivate
	if len(r.Life.private) == 0 {
		return p, fmt.Errorf("%w: the content of %s was erased", ErrNotFound, r.ID.Short())
	}
	return p, jcs.UnmarshalLenient(r.Life.private, &p)
}

func (r *Request) answered(e *Event) error {
	p, s, err := read[Answered, AnsweredShown](e)
	if err != nil {
		return err
	}
	given := Given{By: e.Actor, For: s.Digest, Answer: Answer{
		Digest: s.Digest, Effect: p.Effect, Scope: p.Scope, Cover: p.Cover,
		For: nanoseconds(p.ForNS), Uses: p.Uses, Note: s.Note,
	}}
	if !s.Edited.IsZero() {
		given.For = s.Edited
	}
	r.Life.Answers = append(slices.Clip(r.Life.Answers), given)
	return nil
}

func (r *Request) resolved(e *Event) error {
	p, s, err := read[Resolved, AnsweredShown](e)
	if err != nil {
		return err
	}
	d := Decision{
		Effect: p.Effect, State: StateDenied, Request: r.ID, Source: p.Source, By: p.By, At: truncate(e.At.Wall),
		Note: s.Note, Cause: p.Cause, Rule: p.Rule, File: p.File, Line: p.Line, Reason: p.Reason, Mode: p.Mode,
		Grant: p.Grant, Link: p.Link, Digest: s.Digest,
	}
	if p.Effect == Allow {
		d.State = StateAllowed
		if !s.Edited.IsZero() {
			if err := d.edit(e, s.Edited); err != nil {
				return err
			}
		}
		d.Receipt = Receipt{r.ID, d.Digest}
	}
	r.Life.Policy, r.Life.Locked, r.Life.Linked = p.Policy, p.Locked, p.Link != ""
	r.decide(d, e)
	return nil
}

// edit makes d a decision about the edited call.
func (d *Decision) edit(e *Event, digest Digest) error {
	c, err := e.content()
	if err != nil {
		return err
	}
	var p AnsweredPrivate
	if len(c.Private) > 0 {
		if err := jcs.UnmarshalLenient(c.Private, &p); err != nil {
			return err
		}
	}
	d.Digest, d.Args = digest, p.Args
	return nil
}

func closing(state State) func(*Request, *Event) error {
	return func(r *Request, e *Event) error {
		p, s, err := read[Closed, Closed](e)
		if err != nil {
			return err
		}
		reason := p.Reason
		if s.Reason != "" {
			reason = s.Reason
		}
		r.decide(Decision{State: state, Request: r.ID, At: truncate(e.At.Wall), Reason: reason}, e)
		return nil
	}
}

// decide ends the open states. Whoever waits has the decision from now on.
func (r *Request) decide(d Decision, e *Event) {
	r.Life.parked = r.State == StateParked
	r.State, r.Decision, r.Life.Decided = d.State, &d, e.At
	if !r.Life.parked {
		r.Life.Delivered = e.At
	}
	r.RemainingS = nil
}

func (r *Request) parkedBy(e *Event) error {
	p, err := readPayload[Parked](e)
	if err != nil {
		return err
	}
	if p.Cause == ParkedPatience {
		r.Life.Polls = append(slices.Clip(r.Life.Polls), r.Life.asked)
	}
	r.Life.Holder = ""
	r.Life.parked = true
	if open(r) {
		r.State = StateParked
	} else {
		r.Life.Delivered = Moment{}
	}
	return nil
}

func (r *Request) taken(e *Event) error {
	p, err := readPayload[Taken](e)
	if err != nil {
		return err
	}
	r.Life.Holder, r.Life.asked = p.Holder, e.At
	r.Life.CallIDs = append(slices.Clip(r.Life.CallIDs), p.CallID)
	r.Life.parked = false
	if open(r) {
		r.State = StateOpen
	} else {
		r.Life.Delivered = e.At
	}
	return nil
}

func (r *Request) voided(e *Event) error {
	p, err := readPayload[Closed](e)
	if err != nil {
		return err
	}
	r.Life.Voided = p.Reason
	if r.Life.Voided == "" {
		r.Life.Voided = "void"
	}
	return nil
}

func (r *Request) finished(e *Event) error {
	p, err := readPayload[Finished](e)
	if err != nil {
		return err
	}
	r.Life.Finished, r.Outcome = true, "finished"
	if p.Failed {
		r.Outcome = "failed"
	}
	if p.Changed {
		r.Outcome = "changed"
	}
	return nil
}

// Undelivered reports whether the same call, asked again, gets what this
// request came to instead of a request of its own: it is parked, or was
// decided while nobody waited.
func (r *Request) Undelivered() bool {
	return r.State == StateParked || (r.Life.parked && (live(r) || r.State == StateDenied))
}

// Unspent reports whether an approval may still be redeemed, time apart.
func (r *Request) Unspent() bool { return live(r) }

// At returns the request as it is at now: an open one whose deadline passed is
// shown as expired even before anybody recorded it.
func (r Request) At(now, recorded Moment) Request {
	if !r.State.Open() {
		return r
	}
	left, timed := r.Remaining(now, recorded)
	if !timed {
		return r
	}
	if left <= 0 {
		r.State, r.RemainingS = StateExpired, nil
		return r
	}
	r.RemainingS = new(left.Round(time.Millisecond).Seconds())
	return r
}
