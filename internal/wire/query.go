package wire

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/sayso-dev/sayso"
)

// Query is what GET /v1/requests and /v1/history select by, and the operation
// requests. Its members are the parameters of the address.
type Query struct {
	Session []string     `json:"session,omitempty"` // any of them
	Group   string       `json:"group,omitempty"`
	CallID  string       `json:"call_id,omitempty"`
	Digest  sayso.Digest `json:"digest,omitzero"`
	Tool    string       `json:"tool,omitempty"`
	Host    string       `json:"host,omitempty"`
	State   []QueryState `json:"state,omitempty"`
	Asked   bool         `json:"asked,omitzero"`
	Unspent bool         `json:"unspent,omitzero"`
	Since   time.Time    `json:"since,omitzero"`
	Until   time.Time    `json:"until,omitzero"`
	Before  sayso.Seq    `json:"before,omitzero"`
	Oldest  bool         `json:"oldest,omitzero"`
	Limit   int          `json:"limit,omitzero"`
}

// QueryState is a state in a query. Open there means waiting for people,
// whether or not the caller still waits; held means that it does.
type QueryState string

// StateHeld selects open requests that are not parked.
const StateHeld QueryState = "held"

// EveryState selects what no state would.
var EveryState = []QueryState{
	QueryState(sayso.StateOpen), QueryState(sayso.StateAllowed), QueryState(sayso.StateDenied),
	QueryState(sayso.StateExpired), QueryState(sayso.StateWithdrawn),
}

// MaxLimit is the longest list that one answer holds.
const MaxLimit = 10_000

// QueryOf is the query for q.
func QueryOf(q sayso.RowQuery) Query {
	b := Query{
		Session: q.Sessions, Group: q.Group, CallID: q.CallID, Digest: q.Digest, Tool: q.Tool, Host: q.Host, Asked: q.Asked,
		Unspent: q.Unspent, Since: q.Since, Until: q.Until, Before: q.Before, Oldest: q.Oldest, Limit: q.Limit,
	}
	if q.Session != "" {
		b.Session = append([]string{q.Session}, q.Sessions...)
	}
	for _, s := range q.States {
		if s == sayso.StateOpen {
			b.State = append(b.State, StateHeld)
			continue
		}
		b.State = append(b.State, QueryState(s))
	}
	return b
}

// RowQuery is the selection that the query asks for.
func (b *Query) RowQuery() (sayso.RowQuery, error) {
	q := sayso.RowQuery{
		Group: b.Group, CallID: b.CallID, Digest: b.Digest, Tool: b.Tool, Host: b.Host, Asked: b.Asked, Unspent: b.Unspent,
		Since: b.Since, Until: b.Until, Before: b.Before, Oldest: b.Oldest, Limit: b.Limit,
	}
	if len(b.Session) == 1 {
		q.Session = b.Session[0]
	} else {
		q.Sessions = b.Session
	}
	if b.Limit < 0 || b.Limit > MaxLimit {
		return q, fmt.Errorf("%w: limit must be from 0 to %d", sayso.ErrInvalid, MaxLimit)
	}
	for _, s := range b.State {
		states, err := s.states()
		if err != nil {
			return q, err
		}
		q.States = append(q.States, states...)
	}
	return q, nil
}

func (s QueryState) states() ([]sayso.State, error) {
	switch s {
	case QueryState(sayso.StateOpen):
		return sayso.OpenStates(), nil
	case StateHeld:
		return []sayso.State{sayso.StateOpen}, nil
	case QueryState(sayso.StateParked), QueryState(sayso.StateAllowed), QueryState(sayso.StateDenied),
		QueryState(sayso.StateExpired), QueryState(sayso.StateWithdrawn):
		return []sayso.State{sayso.State(s)}, nil
	}
	return nil, fmt.Errorf("%w: state must be open, held, parked, allowed, denied, expired or withdrawn", sayso.ErrInvalid)
}

// Values is the query as parameters of an address.
func (b *Query) Values() url.Values {
	v := url.Values{}
	set := func(name, value string, on bool) {
		if on {
			v.Add(name, value)
		}
	}
	for _, s := range b.Session {
		v.Add("session", s)
	}
	for _, s := range b.State {
		v.Add("state", string(s))
	}
	set("group", b.Group, b.Group != "")
	set("call_id", b.CallID, b.CallID != "")
	set("digest", b.Digest.String(), !b.Digest.IsZero())
	set("tool", b.Tool, b.Tool != "")
	set("host", b.Host, b.Host != "")
	set("asked", "true", b.Asked)
	set("unspent", "true", b.Unspent)
	set("since", b.Since.Format(time.RFC3339Nano), !b.Since.IsZero())
	set("until", b.Until.Format(time.RFC3339Nano), !b.Until.IsZero())
	set("before", strconv.FormatUint(uint64(b.Before), 10), b.Before > 0)
	set("oldest", "true", b.Oldest)
	set("limit", strconv.Itoa(b.Limit), b.Limit > 0)
	return v
}

// Params reads the parameters of an address one by one. A parameter that
// nobody took, or that came twice where once is meant, is an error.
type Params struct {
	v   url.Values
	err error
}

// ParseParams begins to read the query part of an address.
func ParseParams(raw string) *Params {
	v, err := url.ParseQuery(raw)
	if err != nil {
		err = fmt.Errorf("%w: the query of the address cannot be read", sayso.ErrInvalid)
	}
	return &Params{v, err}
}

func (p *Params) fail(name, what string) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: parameter %s must be %s", sayso.ErrInvalid, name, what)
	}
}

// All takes every value of a parameter.
func (p *Params) All(name string) []string {
	all := p.v[name]
	delete(p.v, name)
	return all
}

// One takes a parameter that may come once.
func (p *Params) One(name string) string {
	all := p.All(name)
	if len(all) > 1 {
		p.fail(name, "given once")
	}
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// Bool takes a parameter that is true or false.
func (p *Params) Bool(name string) bool {
	switch p.One(name) {
	case "", "false":
		return false
	case "true":
		return true
	}
	p.fail(name, "true or false")
	return false
}

// Uint takes a number; ok is false if there is none.
func (p *Params) Uint(name string) (n uint64, ok bool) {
	s := p.One(name)
	if s == "" {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		p.fail(name, "a whole number")
	}
	return n, err == nil
}

// Time takes a time of RFC 3339.
func (p *Params) Time(name string) time.Time {
	s := p.One(name)
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		p.fail(name, "a time of RFC 3339")
	}
	return t
}

// Digest takes a digest.
func (p *Params) Digest(name string) (d sayso.Digest) {
	if d.UnmarshalText([]byte(p.One(name))) != nil {
		p.fail(name, "sha256: and 64 lower-case hexadecimal digits")
	}
	return d
}

// Done reports what was wrong, or that parameters are left that nobody knows.
func (p *Params) Done() error {
	if p.err == nil && len(p.v) > 0 {
		p.err = fmt.Errorf("%w: the address has a parameter that this route does not know", sayso.ErrInvalid)
	}
	return p.err
}

// Query takes all parameters of a [Query].
func (p *Params) Query() Query {
	b := Query{
		Session: p.All("session"), Group: p.One("group"), CallID: p.One("call_id"), Digest: p.Digest("digest"), Tool: p.One("tool"), Host: p.One("host"),
		Asked: p.Bool("asked"), Unspent: p.Bool("unspent"), Since: p.Time("since"), Until: p.Time("until"), Oldest: p.Bool("oldest"),
	}
	for _, s := range p.All("state") {
		b.State = append(b.State, QueryState(s))
	}
	before, _ := p.Uint("before")
	b.Before = sayso.Seq(before)
	limit, _ := p.Uint("limit")
	b.Limit = int(min(limit, MaxLimit+1))
	return b
}

// Follow takes all parameters of a [Follow].
func (p *Params) Follow() Follow {
	f := Follow{Session: p.One("session"), Request: sayso.ID(p.One("request"))}
	for _, t := range p.All("type") {
		f.Types = append(f.Types, sayso.EventType(t))
	}
	if n, ok := p.Uint("since"); ok {
		f.Since = new(sayso.Seq(n))
	}
	return f
}

// Values is the selection as parameters of an address.
func (f *Follow) Values() url.Values {
	v := url.Values{}
	if f.Since != nil {
		v.Set("since", strconv.FormatUint(uint64(*f.Since), 10))
	}
	if f.Session != "" {
		v.Set("session", f.Session)
	}
	if f.Request != "" {
		v.Set("request", string(f.Request))
	}
	for _, t := range f.Types {
		v.Add("type", string(t))
	}
	return v
}
