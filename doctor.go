package sayso

import "strings"

// Canary is what the calls name by which sayso doctor proves that the gate holds:
// calls that are denied, of an agent that does nothing else.
const Canary = "sayso-doctor-canary"

// Staged reports whether a request is of such a call. It counts for nothing that
// tells how agents and people fare; the log and the history have it. An agent that
// names the canary keeps no more than its own denied call from being counted.
func (r *Request) Staged() bool {
	d := r.Decision
	return d != nil && d.Effect == Deny && d.Source == SourcePolicy && strings.Contains(string(r.Preview), Canary)
}
