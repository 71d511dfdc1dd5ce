package wire

import (
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
)

// AnswerBody is the body of POST /v1/requests/{id}/answer.
type AnswerBody struct {
	Digest  sayso.Digest  `json:"digest,omitzero"`
	Content sayso.Digest  `json:"content,omitzero"`
	Effect  *sayso.Effect `json:"effect"`
	Scope   sayso.Scope   `json:"scope,omitempty"`
	Cover   sayso.Cover   `json:"cover,omitempty"`
	For     string        `json:"for,omitempty"` // a duration such as 30m
	Uses    int           `json:"uses,omitzero"`
	Note    string        `json:"note,omitempty"`
	Args    sayso.Args    `json:"args,omitzero"` // edited arguments, complete
}

// maxNote is the longest note, in bytes.
const maxNote = 8 << 10

// AnswerOf is the body for an answer.
func AnswerOf(a sayso.Answer) AnswerBody {
	return AnswerBody{a.Digest, a.Content, &a.Effect, a.Scope, a.Cover, duration(a.For), a.Uses, a.Note, a.Args}
}

func duration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// Answer is the answer in a body.
func (b *AnswerBody) Answer() (sayso.Answer, error) {
	a := sayso.Answer{
		Digest: b.Digest, Content: b.Content, Scope: b.Scope, Cover: b.Cover, Uses: b.Uses, Note: b.Note, Args: b.Args,
	}
	switch {
	case b.Effect == nil || *b.Effect == sayso.Ask:
		return a, fmt.Errorf("%w: effect must be allow or deny", sayso.ErrInvalid)
	case b.Scope != "" && b.Scope != sayso.ScopeOnce && b.Scope != sayso.ScopeSession:
		return a, fmt.Errorf("%w: scope must be once or session", sayso.ErrInvalid)
	case b.Uses < 0:
		return a, fmt.Errorf("%w: uses must not be negative", sayso.ErrInvalid)
	case len(b.Note) > maxNote:
		return a, fmt.Errorf("%w: note may have %d bytes", sayso.ErrInvalid, maxNote)
	}
	var err error
	a.For, err = ParseFor(b.For)
	if err == nil {
		a.Effect = *b.Effect // last, so that an error never comes with an allow
	}
	return a, err
}

// ParseFor reads the member for: how long something holds.
func ParseFor(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > maxWait {
		return 0, fmt.Errorf("%w: for must be a duration such as 30m or 8h, at most a year", sayso.ErrInvalid)
	}
	return d, nil
}

// Answer is the operation answer.
type Answer struct {
	ID sayso.ID `json:"id"`
	AnswerBody
}

// GroupBody is the body of POST /v1/groups/{id}/answer. Each member names the
// digest and the content that were on the screen; those of the answer itself
// stay empty.
type GroupBody struct {
	Members []sayso.Member `json:"members"`
	AnswerBody
}

// Group is the operation group.
type Group struct {
	Group string `json:"group"`
	GroupBody
}

// MemberResult is what became of one member of a group.
type MemberResult struct {
	ID       sayso.ID        `json:"id"`
	Decision *sayso.Decision `json:"decision,omitempty"`
	Error    *Problem        `json:"error,omitempty"`
}

// GroupResult answers the operation group.
type GroupResult struct {
	Results []MemberResult `json:"results"`
}

// Requests is a list of requests, and the end of the log just before it was
// made: who follows from there on misses nothing.
type Requests struct {
	Requests []sayso.Request `json:"requests"`
	Head     sayso.Seq       `json:"head"`
	Next     sayso.Seq       `json:"next,omitzero"` // give it as before for what is older; absent if that is all
}

// ByContent is the operation content.
type ByContent struct {
	ID     string `json:"id"`
	Tokens bool   `json:"tokens,omitzero"` // what is shown, also as coloured tokens
}

// Content is everything that may be shown of a request.
type Content struct {
	sayso.RequestedFull
	// Tokens, put together, are the content of the presentation. They are there
	// if they were wanted and there is a presentation.
	Tokens []sayso.Token `json:"tokens,omitempty"`
}

// ByID is the operation request, whose id may be a short one, and life,
// revoke.
type ByID struct {
	ID string `json:"id"`
}

// ByCall is the operation call: the request that a call of a session is.
type ByCall struct {
	Session string `json:"session"`
	CallID  string `json:"call_id"`
}

// Life is the events of one request.
type Life struct {
	Events []sayso.Event `json:"events"`
}

// Follow is the operation follow, and the query of GET /v1/events.
type Follow struct {
	Since   *sayso.Seq        `json:"since,omitempty"` // nil for the end of the log
	Session string            `json:"session,omitempty"`
	Types   []sayso.EventType `json:"types,omitempty"`
	Request sayso.ID          `json:"request,omitempty"`
}

// Query is the selection in a follow.
func (f *Follow) Query() sayso.EventQuery {
	return sayso.EventQuery{Session: f.Session, Types: f.Types, Request: f.Request}
}

// Head is the end of the log.
type Head struct {
	Seq  sayso.Seq    `json:"seq"`
	Hash sayso.Digest `json:"hash"`
	At   time.Time    `json:"at,omitzero"`
}

// Grants selects grants, and is the operation grants.
type Grants struct {
	Session string `json:"session,omitempty"`
	All     bool   `json:"all,omitzero"`
}

// GrantList answers it.
type GrantList struct {
	Grants []sayso.Grant `json:"grants"`
}

// SessionsSince is the operation sessions: those that made a call since then.
type SessionsSince struct {
	Since time.Time `json:"since,omitzero"`
}

// Sessions answers it.
type Sessions struct {
	Sessions []sayso.SessionInfo `json:"sessions"`
}

// PoliciesBody is the tool policies of a session.
type PoliciesBody struct {
	Policies map[string]sayso.Effect `json:"policies"`
}

// Policies is the operation set_policies, and without policies the operation
// policies.
type Policies struct {
	Session string `json:"session"`
	PoliciesBody
}

// Mode is the operation set_mode, and the body of PUT /v1/mode. An empty
// session stands for all.
type Mode struct {
	Session string     `json:"session,omitempty"`
	Mode    sayso.Mode `json:"mode"`
	For     string     `json:"for,omitempty"`
}

// ModeState is the mode in force.
type ModeState struct {
	Session string     `json:"session"`
	Mode    sayso.Mode `json:"mode"`
	LeftS   *float64   `json:"left_s"` // null for no end
}

// ModeStateOf is the body for a mode.
func ModeStateOf(session string, m sayso.ModeState) ModeState {
	b := ModeState{Session: session, Mode: m.Mode}
	if m.Left > 0 {
		b.LeftS = new(m.Left.Seconds())
	}
	if b.Mode == "" {
		b.Mode = sayso.ModeInteractive
	}
	return b
}

// State is the mode in a body.
func (b *ModeState) State() sayso.ModeState {
	m := sayso.ModeState{Mode: b.Mode}
	if b.LeftS != nil {
		m.Left = time.Duration(*b.LeftS * float64(time.Second))
	}
	return m
}

// Check is the body of POST /v1/policy/check, and the operation check.
type Check struct {
	Call  sayso.Call  `json:"call"`
	Facts sayso.Facts `json:"facts,omitzero"`
}

// Match is one thing that policy said.
type Match struct {
	Effect   sayso.Effect   `json:"effect"`
	Cause    sayso.Cause    `json:"cause"`
	Rule     string         `json:"rule"`
	File     string         `json:"file"`
	Line     int            `json:"line"`
	Span     [2]int         `json:"span"`
	Reason   string         `json:"reason"`
	Remember sayso.Remember `json:"remember,omitempty"`
	Person   bool           `json:"person,omitzero"`
}

// Verdict is what policy says of a call.
type Verdict struct {
	Match
	Risk      sayso.Risk     `json:"risk"`
	Danger    []sayso.Danger `json:"danger"`
	Title     string         `json:"title,omitempty"`
	DeadlineS float64        `json:"deadline_s"` // zero for none
	ThenDeny  bool           `json:"then_deny,omitzero"`
	Policy    string         `json:"policy"`
	Matches   []Match        `json:"matches"`
	Default   Match          `json:"default"`
}

func matchOf(m sayso.Match) Match {
	return Match{m.Effect, m.Cause, m.Rule, m.File, m.Line, m.Span, m.Reason, m.Remember, m.Person}
}

func (b Match) match() sayso.Match {
	return sayso.Match{
		Effect: b.Effect, Cause: b.Cause, Rule: b.Rule, File: b.File, Line: b.Line, Span: b.Span,
		Reason: b.Reason, Remember: b.Remember, Person: b.Person,
	}
}

// VerdictOf is the body for a verdict.
func VerdictOf(v sayso.Verdict) Verdict {
	b := Verdict{
		Match: matchOf(v.Match), Risk: v.Risk, Danger: v.Danger, Title: v.Title, DeadlineS: v.Deadline.After.Seconds(),
		ThenDeny: v.Deadline.Deny, Policy: v.Policy, Default: matchOf(v.Default), Matches: []Match{},
	}
	for _, m := range v.Matches {
		b.Matches = append(b.Matches, matchOf(m))
	}
	return b
}

// Verdict is the verdict in a body.
func (b *Verdict) Verdict() sayso.Verdict {
	v := sayso.Verdict{
		Match: b.match(), Default: b.Default.match(), Risk: b.Risk, Danger: b.Danger, Title: b.Title, Policy: b.Policy,
		Deadline: sayso.Deadline{After: time.Duration(b.DeadlineS * float64(time.Second)), Deny: b.ThenDeny},
	}
	for _, m := range b.Matches {
		v.Matches = append(v.Matches, m.match())
	}
	return v
}

// SessionOnly is the operations policies and mode.
type SessionOnly struct {
	Session string `json:"session,omitempty"`
}

// ModeOf is the operation that sets a mode.
func ModeOf(session string, m sayso.Mode, d time.Duration) Mode {
	return Mode{session, m, duration(d)}
}
