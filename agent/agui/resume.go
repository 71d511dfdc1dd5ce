package agui

import (
	"errors"
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Entry is what the next run says about one interrupt.
type Entry struct {
	InterruptID string         `json:"interruptId"`
	Status      string         `json:"status"` // resolved, or cancelled
	Payload     sayso.Args     `json:"payload,omitzero"`
	Metadata    map[string]any `json:"metadata,omitempty"`
}

const (
	resolved  = "resolved"
	cancelled = "cancelled"
)

// payload is what a person said.
type payload struct {
	Approved   *bool      `json:"approved"`
	EditedArgs sayso.Args `json:"editedArgs,omitzero"`
	Note       string     `json:"note,omitempty"`
}

// Input is what is read of the input of a run.
type Input struct {
	ThreadID string  `json:"threadId"`
	RunID    string  `json:"runId"`
	Resume   []Entry `json:"resume"`
}

// ReadInput reads the input of a run.
func ReadInput(text []byte) (Input, error) {
	var in Input
	if err := jcs.UnmarshalLenient(text, &in); err != nil {
		return Input{}, fmt.Errorf("%w: the input of the run: %w", sayso.ErrInvalid, err)
	}
	return in, nil
}

// Reply is what becomes of one request. Where it was cancelled nobody answered: the
// request is to be withdrawn.
type Reply struct {
	Request   sayso.ID
	Cancelled bool
	Answer    sayso.Answer
}

// The ways in which answers cannot be taken, for the code of a RUN_ERROR.
var (
	errUnknown = errors.New("it answers an interrupt that is not open on this thread")
	errTwice   = errors.New("it answers an interrupt twice")
	errMissing = errors.New("it leaves an interrupt unanswered, and all that are open must be answered at once")
)

// code names an error for a program.
func code(err error) string {
	switch {
	case errors.Is(err, sayso.ErrExpired):
		return "INTERRUPT_EXPIRED"
	case errors.Is(err, errMissing):
		return "RESUME_INCOMPLETE"
	case errors.Is(err, errUnknown), errors.Is(err, errTwice):
		return "RESUME_UNKNOWN"
	case errors.Is(err, sayso.ErrInvalid):
		return "RESUME_INVALID"
	}
	return "RUN_FAILED"
}

// Answers are what the next run says about the requests that the last one was
// interrupted for, as they were shown then: an answer is about that content, whatever
// the request is now. All are answered, each once and in time, or it is an error and no
// answer counts. The same entries give the same answers.
func Answers(open []sayso.Request, entries []Entry, now time.Time) ([]Reply, error) {
	by := map[string]*sayso.Request{}
	for i := range open {
		by[string(open[i].ID)] = &open[i]
	}
	var all []Reply
	answered := map[string]bool{}
	for _, e := range entries {
		r := by[e.InterruptID]
		var err error
		var reply Reply
		switch {
		case r == nil:
			err = errUnknown
		case answered[e.InterruptID]:
			err = errTwice
		default:
			reply, err = e.reply(r, now)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: resume: %w", sayso.ErrInvalid, err)
		}
		answered[e.InterruptID] = true
		all = append(all, reply)
	}
	if len(answered) != len(by) {
		return nil, fmt.Errorf("%w: resume: %w", sayso.ErrInvalid, errMissing)
	}
	return all, nil
}

// reply is what an entry says about its request.
func (e Entry) reply(r *sayso.Request, now time.Time) (Reply, error) {
	if r.Deadline != nil && !now.Before(*r.Deadline) {
		return Reply{}, fmt.Errorf("request %s: %w", r.ShortID, sayso.ErrExpired)
	}
	switch e.Status {
	case cancelled:
		return Reply{Request: r.ID, Cancelled: true}, nil
	case resolved:
	default:
		return Reply{}, errors.New("its status is neither resolved nor cancelled")
	}
	var p payload
	if err := jcs.Unmarshal(e.Payload, &p); err != nil {
		return Reply{}, fmt.Errorf("payload: %w", err)
	}
	a := sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Deny, Scope: sayso.ScopeOnce, Note: p.Note}
	switch {
	case p.Approved == nil:
		return Reply{}, errors.New("payload: approved is missing")
	case len(p.EditedArgs) > 0 && !r.CanEdit:
		return Reply{}, errors.New("payload: the arguments of this call cannot be edited")
	case !*p.Approved:
		return Reply{Request: r.ID, Answer: a}, nil
	case len(p.EditedArgs) > 0:
		args, err := jcs.Object(p.EditedArgs)
		if err != nil {
			return Reply{}, fmt.Errorf("payload: editedArgs: %w", err)
		}
		a.Args = args
	}
	a.Effect = sayso.Allow
	return Reply{Request: r.ID, Answer: a}, nil
}

// Resume is what the next run says about an interrupt that the gate was asked about.
// Everything but a decision that allows, without an error, is a no; a request that was
// withdrawn, and an interrupt that takes no yes or no, are abandoned.
func Resume(i Interrupt, d sayso.Decision, err error) Entry {
	e := Entry{InterruptID: i.ID, Status: resolved}
	edits, takes := i.takes()
	if !takes || errors.Is(err, sayso.ErrWithdrawn) {
		e.Status = cancelled
		return e
	}
	yes := err == nil && d.Allowed() && (len(d.Args) == 0 || edits)
	if len(i.ResponseSchema) == 0 && i.Reason == reasonConfirmation {
		e.Payload = sayso.Args(fmt.Sprint(yes))
		return e
	}
	p := payload{Approved: &yes}
	if yes {
		p.EditedArgs = d.Args
	}
	text, bad := jcs.Marshal(p)
	if bad != nil { // edited arguments that are no JSON
		text = []byte(`{"approved":false}`)
	}
	e.Payload = text
	return e
}

// takes reports whether an interrupt can be answered with a yes or a no, and whether a
// yes may come with other arguments.
func (i Interrupt) takes() (edits, ok bool) {
	if len(i.ResponseSchema) == 0 {
		return false, i.Reason == reasonToolCall || i.Reason == reasonConfirmation
	}
	var s struct {
		Type       string `json:"type"`
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if jcs.UnmarshalLenient(i.ResponseSchema, &s) != nil || s.Type != "object" || s.Properties["approved"].Type != "boolean" {
		return false, false
	}
	for _, name := range s.Required {
		if name != "approved" {
			return false, false
		}
	}
	return s.Properties["editedArgs"].Type == "object", true
}
