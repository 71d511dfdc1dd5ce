package sayso

import (
	"context"
	"time"
)

// Remember says how far a yes to an ask may be remembered.
type Remember string

// The reaches of a yes.
const (
	RememberAny   Remember = ""      // any cover
	RememberExact Remember = "exact" // this exact call only
	RememberNever Remember = "never" // each time anew
)

// Match is one thing that policy says about a call: a rule that matched, a
// built-in, or the default.
type Match struct {
	Effect   Effect
	Cause    Cause
	Rule     string // the rule in words
	File     string // where the rule stands; empty for built-ins
	Line     int
	Span     [2]int // bytes of the primary argument that decided
	Reason   string // one sentence
	Remember Remember
	// Person says that no mode may answer instead of a person: the call was
	// not understood, touches a control file, or must never be remembered.
	Person bool
	// Elicit says that a person may answer by way of the client that made the call,
	// where nobody can tell whether a person or a program answers.
	Elicit bool
}

// Deadline says how long a request may wait for people and where it leads.
type Deadline struct {
	After time.Duration // zero for no end
	Deny  bool          // a passed deadline is a denial by policy rather than an expiry
}

// Verdict is what policy says about a call. The zero Verdict denies.
//
// Match is the strictest of Matches, or Default if nothing spoke; see [Combine].
// Where the two differ the stricter counts.
type Verdict struct {
	Match             // what decided
	Matches  []Match  // everything that spoke; grants and session policies act on it
	Default  Match    // what holds if nothing spoke
	Risk     Risk     // how bad a mistake would be
	Danger   []Danger // what demands the slow answer
	Title    string   // what a rule wants the request to be called
	Deadline Deadline
	Policy   string // version of the policy that spoke
}

// Policy judges calls. Implementations are pure: equal calls and facts get
// equal verdicts until Version changes.
type Policy interface {
	// Judge returns the verdict. It never fails: what it cannot judge, asks or
	// denies.
	Judge(ctx context.Context, c Call, f Facts) Verdict
	// Version identifies the policy in force.
	Version() string
}

// personal reports whether only a person may answer this ask, whatever the
// mode.
func (m Match) personal() bool {
	return m.Person || m.Cause == CauseNotUnderstood || m.Remember == RememberNever
}

// Combine returns the strictest of the matches that spoke, the first of equal
// ones, or otherwise if none did. If any of the equal ones takes a person, so
// does the result.
func Combine(matches []Match, otherwise Match) Match {
	if len(matches) == 0 {
		return otherwise
	}
	m := matches[0]
	for _, o := range matches[1:] {
		switch e := o.Effect.known(); {
		case e < m.Effect.known():
			m = o
		case e == m.Effect.known() && o.personal():
			m.Person = true
		}
	}
	return m
}
