// Package wire holds what the server and its clients must agree on: the bodies
// of the HTTP API, the frames of the WebSocket, the table of errors, and how
// far apart two releases may be.
//
// The error table is read in both directions. [ProblemOf] turns an error into
// what goes over the wire, [Problem.Err] turns it back, and errors.Is and
// errors.As work on the result as on the original. What the table does not know
// is "internal error" outside; its text stays with the server.
package wire

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Content types of bodies.
const (
	JSON        = "application/json"
	ProblemJSON = "application/problem+json" // RFC 9457
)

// Code is the stable name of one way to fail. Programs branch on it, never on
// titles or details.
type Code string

// The codes. Those of [sayso] errors have the same meaning as the error.
const (
	CodeInvalid            Code = "invalid"
	CodeMalformed          Code = "malformed" // no strict JSON at all
	CodeNotFound           Code = "not-found"
	CodeNotAllowed         Code = "not-allowed"
	CodeConflict           Code = "conflict"
	CodeDecided            Code = "decided"
	CodeMismatch           Code = "mismatch"
	CodeSpent              Code = "spent"
	CodeVoided             Code = "voided"
	CodeExpired            Code = "expired"
	CodeWithdrawn          Code = "withdrawn"
	CodePending            Code = "pending"
	CodeTooMany            Code = "too-many"
	CodePresentationWanted Code = "presentation-wanted"
	CodeFactsWanted        Code = "facts-wanted"
	CodeContentWanted      Code = "content-wanted" // a page allows what it was not shown
	CodeUnavailable        Code = "unavailable"
	CodeUnauthenticated    Code = "unauthenticated"
	CodeForbidden          Code = "forbidden" // refused before anybody looked at it: host, origin, site
	CodeMethod             Code = "method-not-allowed"
	CodeTooLarge           Code = "too-large"
	CodeNotJSON            Code = "not-json"
	CodeSkew               Code = "version-skew"
	CodeInternal           Code = "internal"
)

// The errors of the transport itself. They are handed to callers wrapped in
// one of the root package's errors, see the table.
var (
	ErrUnauthenticated = errors.New("no valid token")
	ErrForbidden       = errors.New("request refused")
	ErrPlain           = fmt.Errorf("%w: plain HTTP from elsewhere", ErrForbidden)
	ErrMethod          = errors.New("method not allowed")
	ErrTooLarge        = errors.New("body too large")
	ErrNotJSON         = errors.New("content type must be application/json")
	ErrSkew            = errors.New("releases too far apart")
	ErrContentWanted   = errors.New("the content was not served to this page")
)

// row is one line of the error table.
type row struct {
	code   Code
	status int
	err    error // what it is here
	also   error // what it also is on the other side; nil for nothing
	says   bool  // its text may leave the server: it is ours and quotes no input
	title  string
}

// table maps errors to statuses and codes, one line each. The first line that
// matches counts.
var table = []row{
	{CodePending, http.StatusAccepted, sayso.ErrPending, nil, false, "not decided yet"},
	{CodeDecided, http.StatusConflict, sayso.ErrDecided, nil, false, "already decided"},
	{CodePresentationWanted, http.StatusPreconditionRequired, sayso.ErrPresentationWanted, nil, false, "a person will be asked: send what they are to be shown"},
	{CodeFactsWanted, http.StatusPreconditionRequired, sayso.ErrFactsWanted, nil, false, "the policy names folders: gather the facts for it, and ask again"},
	{CodeContentWanted, http.StatusPreconditionRequired, ErrContentWanted, sayso.ErrNotAllowed, false, "a page allows only what it was served in full: get the content first"},
	{CodeNotFound, http.StatusNotFound, sayso.ErrNotFound, nil, false, "not found"},
	{CodeMismatch, http.StatusPreconditionFailed, sayso.ErrMismatch, nil, false, "the digest is not that of the request or the call"},
	{CodeSpent, http.StatusGone, sayso.ErrSpent, nil, false, "already redeemed"},
	{CodeVoided, http.StatusGone, sayso.ErrVoided, nil, false, "the approval is void"},
	{CodeExpired, http.StatusGone, sayso.ErrExpired, nil, false, "expired before anybody answered"},
	{CodeWithdrawn, http.StatusGone, sayso.ErrWithdrawn, nil, false, "withdrawn by the requester"},
	{CodeTooMany, http.StatusTooManyRequests, sayso.ErrTooMany, nil, true, "too many requests"},
	{CodeTooLarge, http.StatusRequestEntityTooLarge, ErrTooLarge, sayso.ErrInvalid, false, "the body is too large"},
	{CodeNotJSON, http.StatusUnsupportedMediaType, ErrNotJSON, sayso.ErrInvalid, false, "the content type must be application/json, and a GET has no body"},
	{CodeUnauthenticated, http.StatusUnauthorized, ErrUnauthenticated, sayso.ErrNotAllowed, false, "no valid token: send Authorization: Bearer"},
	{CodeForbidden, http.StatusForbidden, ErrPlain, sayso.ErrNotAllowed, false, "refused: from another machine this server is reached by https alone, and a proxy before it must be named (sayso serve --proxy)"},
	{CodeForbidden, http.StatusForbidden, ErrForbidden, sayso.ErrNotAllowed, false, "refused: wrong host, origin or site"},
	{CodeMethod, http.StatusMethodNotAllowed, ErrMethod, sayso.ErrInvalid, false, "method not allowed"},
	{CodeSkew, http.StatusBadRequest, ErrSkew, sayso.ErrUnavailable, true, "the releases of client and server are too far apart"},
	{CodeNotAllowed, http.StatusForbidden, sayso.ErrNotAllowed, nil, false, "not allowed: this principal may not do that"},
	{CodeConflict, http.StatusConflict, sayso.ErrConflict, nil, false, "conflict: the call id was used for another call, or the id means several requests"},
	{CodeUnavailable, http.StatusServiceUnavailable, sayso.ErrUnavailable, nil, false, "the answer could not be found out"},
	{CodeInvalid, http.StatusUnprocessableEntity, sayso.ErrInvalid, nil, true, "invalid input"},
}

// internal is what everything else is.
var internal = row{CodeInternal, http.StatusInternalServerError, nil, sayso.ErrUnavailable, false, "internal error"}

// Problem is the body of an error, RFC 9457 with members of our own.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   Code   `json:"code"`
	Detail string `json:"detail,omitempty"`
	// Ticket is the request that waits, or the reserved admission that wants a
	// presentation.
	Ticket   sayso.ID   `json:"ticket,omitempty"`
	Deadline *time.Time `json:"deadline,omitempty"`
	Stop     bool       `json:"stop,omitzero"` // stop and report instead of asking again
	// Decision is the one that stands: who, what and when.
	Decision *sayso.Decision `json:"decision,omitempty"`
	// Wanted is what the facts are to be about.
	Wanted *sayso.FactsWanted `json:"wanted,omitempty"`
}

// ProblemOf is the line of the table for err. known is false for an error that
// the table does not have, which belongs in a log.
func ProblemOf(err error) (p Problem, known bool) {
	r := lookup(err)
	p = Problem{Type: "urn:sayso:error:" + string(r.code), Title: r.title, Status: r.status, Code: r.code}
	var syntax *jcs.SyntaxError
	var pending *sayso.PendingError
	var decided *sayso.DecidedError
	var wanted *WantedError
	var facts *sayso.FactsWantedError
	switch {
	case errors.As(err, &pending):
		p.Ticket, p.Stop = pending.Ticket, pending.Stop
		if !pending.Deadline.IsZero() {
			p.Deadline = new(pending.Deadline.UTC())
		}
	case errors.As(err, &decided):
		p.Decision = decided.Decision.Public()
	case errors.As(err, &wanted):
		p.Ticket = wanted.Ticket
	case errors.As(err, &facts):
		p.Wanted = new(facts.Wanted)
	case r.code == CodeInvalid && errors.As(err, &syntax):
		p.malformed(syntax)
	case r.says:
		p.Detail = err.Error()
	}
	return p, r.code != CodeInternal
}

// malformed tells text that is no strict JSON from JSON that is not what it
// should be.
func (p *Problem) malformed(e *jcs.SyntaxError) {
	p.Detail = "invalid input: " + e.Error()
	switch e.Reason {
	case jcs.UnknownMember, jcs.WrongType, jcs.NotObject:
		if cause := e.Unwrap(); errors.Is(cause, sayso.ErrInvalid) {
			p.Detail += ": " + cause.Error() // a word of ours, which quotes nothing
		}
	default:
		p.Code, p.Type = CodeMalformed, "urn:sayso:error:"+string(CodeMalformed)
		p.Status, p.Title = http.StatusBadRequest, "the body is not strict JSON"
	}
}

func lookup(err error) row {
	for _, r := range table {
		if errors.Is(err, r.err) {
			return r
		}
	}
	return internal
}

// WantedError is [sayso.ErrPresentationWanted] with the ticket under which the
// server keeps the admission for a minute.
type WantedError struct{ Ticket sayso.ID }

func (e *WantedError) Error() string { return sayso.ErrPresentationWanted.Error() }

// Unwrap makes errors.Is(err, sayso.ErrPresentationWanted) hold.
func (e *WantedError) Unwrap() error { return sayso.ErrPresentationWanted }

// RemoteError is an error of the table as it arrives.
type RemoteError struct {
	Code   Code
	Status int
	text   string
	is     []error
}

func (e *RemoteError) Error() string { return e.text }

// Unwrap names the errors that it is.
func (e *RemoteError) Unwrap() []error { return e.is }

// Err turns a problem back into the error that it was made from. It is never
// nil, and a code that nobody knows is [sayso.ErrUnavailable].
func (p *Problem) Err() error {
	switch p.Code {
	case CodePending:
		e := &sayso.PendingError{Ticket: p.Ticket, Stop: p.Stop}
		if p.Deadline != nil {
			e.Deadline = *p.Deadline
		}
		return e
	case CodeDecided:
		if p.Decision != nil {
			return &sayso.DecidedError{Decision: *p.Decision}
		}
	case CodePresentationWanted:
		return &WantedError{p.Ticket}
	case CodeFactsWanted:
		if p.Wanted != nil {
			return &sayso.FactsWantedError{Wanted: *p.Wanted}
		}
	}
	return p.remote()
}

func (p *Problem) remote() error {
	e := &RemoteError{Code: p.Code, Status: p.Status, text: p.Detail, is: []error{sayso.ErrUnavailable}}
	if e.text == "" {
		e.text = p.Title
	}
	if p.Code == CodeMalformed {
		e.is = []error{sayso.ErrInvalid}
		return e
	}
	for _, r := range table {
		if r.code != p.Code {
			continue
		}
		e.is = []error{r.err}
		if r.also != nil {
			e.is = append(e.is, r.also)
		}
		if p.Detail == "" && r.also == nil {
			e.text = r.err.Error()
		}
	}
	return e
}

// Codes lists the codes that a server may answer with, with their statuses.
func Codes() map[Code]int {
	m := map[Code]int{CodeMalformed: http.StatusBadRequest, CodeInternal: http.StatusInternalServerError}
	for _, r := range table {
		m[r.code] = r.status
	}
	return m
}
