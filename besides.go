package sayso

// Besides is what has a say about a call besides policy: its tool, the session
// and the lock. It is recorded with the call, so that what another policy would
// have come to can be told later. The zero Besides says nothing.
type Besides struct {
	// Tool is what the call's tool says of itself; empty if nothing.
	Tool ToolSays `json:"tool,omitempty"`
	// Session is what the session's own policy says of the tool; nil if nothing.
	Session *Effect `json:"session,omitzero"`
	// Locked says that everything was asked about.
	Locked bool `json:"locked,omitzero"`
	// Unlisted says that the call's server never said what the tool is.
	Unlisted bool `json:"unlisted,omitzero"`
}

// ToolSays is what a tool that knows itself says of a call.
type ToolSays string

// What tools say. Anything else is nothing.
const (
	ToolNeedless ToolSays = "needless" // no need to ask
	ToolOptional ToolSays = "optional" // it would like to be approved
	ToolRequired ToolSays = "required" // it must be approved
)

// lockMatch is what the lock says.
var lockMatch = Match{Effect: Ask, Cause: CauseBuiltin, Rule: "locked", Person: true,
	Remember: RememberNever, Reason: "sayso is locked: everything is asked and nothing remembered"}

// unlistedMatch is said of a tool that its server never listed.
var unlistedMatch = Match{Effect: Ask, Cause: CauseBuiltin, Rule: "never listed by its server", Person: true, Remember: RememberExact,
	Reason: "the server never listed this tool, so nobody knows what it is"}

// SessionMatch is what the policy of a session says.
func SessionMatch(e Effect) Match {
	return Match{Effect: e, Cause: CauseSession, Rule: "session policy",
		Reason: "the policy of this session says " + e.String() + " for this tool"}
}

// otherwise is what holds if no rule speaks: the tool's own ask, or the default.
func (b Besides) otherwise(def Match) Match {
	switch b.Tool {
	case ToolNeedless:
		return Match{Effect: Allow, Cause: CauseToolOptional, Reason: "the tool sees no need to ask"}
	case ToolRequired:
		return Match{Effect: Ask, Cause: CauseToolRequired, Reason: "the tool asks to be approved"}
	case ToolOptional:
		return Match{Effect: Ask, Cause: CauseToolOptional, Reason: "the tool would like to be approved"}
	}
	return def
}

// Settled is what policy and what stands besides it come to. The zero Settled
// denies.
type Settled struct {
	Match
	// Reach is how far a yes to an ask may be remembered, and so which remembered
	// ones may answer it. It is RememberNever where nobody is asked.
	Reach Remember
	// Elicit reports whether the client that made the call may put it to the person
	// that uses it: all that asks says so, and nothing demands a person for certain.
	Elicit bool
}

// Settle combines a verdict with what has a say besides it. What is left for a
// remembered yes, and then for the mode, is in what it returns; neither turns a
// deny round.
func (b Besides) Settle(v Verdict) Settled {
	matches, otherwise := v.Matches, b.otherwise(v.Default)
	if b.Session != nil && b.Session.known() != Allow {
		matches = append(matches[:len(matches):len(matches)], SessionMatch(b.Session.known()))
	}
	if b.Unlisted {
		matches = append(matches[:len(matches):len(matches)], unlistedMatch)
	}
	if b.Locked {
		matches = append(matches[:len(matches):len(matches)], lockMatch)
	}
	out := Settled{Match: Combine(matches, otherwise), Reach: RememberNever}
	if v.Effect.known() == Deny && out.Effect.known() != Deny {
		out.Match = v.Match // a default that denies is not turned round by what a tool says of itself
	}
	if out.Effect.known() != Ask || b.Locked {
		out.Effect = out.Effect.known() // an effect that is no word denies
		return out
	}
	asks := Asking(matches, otherwise)
	if b.Session != nil && b.Session.known() == Allow {
		if asks = keep(asks, Match.beyondSession); len(asks) == 0 {
			out.Match = SessionMatch(Allow)
			return out
		}
	}
	out.Match, out.Reach, out.Elicit = Combine(asks, otherwise), Reach(asks), elicited(asks, v.Danger)
	if out.Reach == RememberNever {
		out.Match = Combine(keep(asks, func(m Match) bool { return m.Remember == RememberNever }), out.Match)
	}
	return out
}

// elicited reports whether all that asks lets a person answer by way of the client.
// What is dangerous never is answered there.
func elicited(asks []Match, danger []Danger) bool {
	for _, m := range asks {
		if !m.Elicit || m.personal() {
			return false
		}
	}
	return len(asks) > 0 && len(danger) == 0
}

// beyondSession reports whether a session policy of allow leaves an ask as it is.
func (m Match) beyondSession() bool {
	return m.Person || m.Remember != RememberAny || m.Cause == CauseNotUnderstood
}

// Asking are the asks that decided: of the matches that spoke, or else otherwise.
func Asking(matches []Match, otherwise Match) []Match {
	if len(matches) == 0 {
		return []Match{otherwise}
	}
	return keep(matches, func(m Match) bool { return m.Effect == Ask })
}

func keep(matches []Match, ok func(Match) bool) []Match {
	var kept []Match
	for _, m := range matches {
		if ok(m) {
			kept = append(kept, m)
		}
	}
	return kept
}
