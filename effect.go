package sayso

import "fmt"

// Effect is what policy, a person or a decision says about a call.
//
// The zero Effect is Deny, and [Effect.Meet] never moves away from it: a rule
// that is missing, half-written or failing can only make an answer stricter.
type Effect uint8

// The three effects, from strict to lax.
const (
	Deny Effect = iota
	Ask
	Allow
)

var effectNames = [...]string{Deny: "deny", Ask: "ask", Allow: "allow"}

// Meet returns the stricter of two effects.
func (e Effect) Meet(o Effect) Effect { return min(e.known(), o.known()) }

// known maps a value that is no effect to Deny.
func (e Effect) known() Effect {
	if e > Allow {
		return Deny
	}
	return e
}

// String returns deny, ask or allow.
func (e Effect) String() string { return effectNames[e.known()] }

// MarshalText writes the word.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText accepts exactly the three words; anything else is an error and
// leaves Deny behind.
func (e *Effect) UnmarshalText(text []byte) error {
	for i, name := range effectNames {
		if string(text) == name {
			*e = Effect(i)
			return nil
		}
	}
	*e = Deny
	return fmt.Errorf("%w: effect must be deny, ask or allow", ErrInvalid)
}

// Cause says why a call has to be asked about. The mode of a session turns
// causes into what happens, see [Mode.Apply].
type Cause string

// The causes of an ask.
const (
	CauseRule          Cause = "rule"           // a rule of the policy matched
	CauseDefault       Cause = "default"        // nothing matched
	CauseToolRequired  Cause = "tool-required"  // the tool must be asked about
	CauseToolOptional  Cause = "tool-optional"  // the tool would like to be asked about
	CauseNotUnderstood Cause = "not-understood" // the call could not be read to its end
	CauseSession       Cause = "session"        // a session policy
	CauseBuiltin       Cause = "builtin"        // a rule that needs no file
)

// Risk is how bad a mistake would be, as shown to people.
type Risk string

// The three risks.
const (
	RiskSafe        Risk = "safe"
	RiskModerate    Risk = "moderate"
	RiskDestructive Risk = "destructive"
)

// rank orders risks; what is no risk at all counts as the worst.
func (r Risk) rank() int {
	switch r {
	case RiskSafe:
		return 0
	case RiskModerate:
		return 1
	}
	return 2
}

// Raise returns the worse of two risks: what annotations, rules and tools say
// can raise a risk, never lower it.
func (r Risk) Raise(o Risk) Risk {
	if o != "" && o.rank() > r.rank() {
		return o
	}
	return r
}

// Danger names what inspection found that demands the slow answer.
type Danger string

// The dangers.
const (
	DangerOutside     Danger = "outside_workspace" // a write or delete outside the workspace
	DangerDelete      Danger = "delete"
	DangerNetwork     Danger = "network_write"
	DangerPrivilege   Danger = "privilege"
	DangerDynamic     Danger = "dynamic"
	DangerInterpreter Danger = "interpreter"
	DangerRule        Danger = "rule" // a rule of the policy says so
)
