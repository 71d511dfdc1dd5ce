package sayso

import "time"

// Scope says how far an answer reaches.
type Scope string

// The scopes.
const (
	ScopeOnce    Scope = "once"
	ScopeSession Scope = "session" // remembered as a grant
)

// Answer is what one approver says about one request. It names the digest of
// the call and of the content that they were shown.
type Answer struct {
	Digest  Digest        `json:"digest"`
	Content Digest        `json:"content"`
	Effect  Effect        `json:"effect"`          // Allow or Deny
	Scope   Scope         `json:"scope,omitempty"` // empty for once
	Cover   Cover         `json:"cover,omitempty"` // one that was offered; empty for the exact call
	For     time.Duration `json:"-"`               // zero for the whole session
	Uses    int           `json:"uses,omitempty"`  // zero for any number
	Note    string        `json:"note,omitempty"`
	Args    Args          `json:"args,omitzero"` // edited arguments, complete
}

// Requirement says whose answers decide a request. A deny decides at once.
type Requirement struct {
	Count int `json:"count"` // allows from different people; at least 1
}

// Receipt is proof of a decision to allow. It is redeemed once, just before
// the call runs, and is worth nothing for a call with another digest.
type Receipt struct {
	Request ID     `json:"request"`
	Digest  Digest `json:"digest"`
}

// Source says what a decision was derived from.
type Source string

// The sources of decisions.
const (
	SourcePolicy   Source = "policy"
	SourcePerson   Source = "person"
	SourceGrant    Source = "grant"
	SourceMode     Source = "mode"
	SourceDeadline Source = "deadline"
)

// Decision is the outcome that stands. The zero Decision denies.
type Decision struct {
	Effect  Effect    `json:"effect"` // Allow or Deny
	State   State     `json:"state"`
	Request ID        `json:"id"`
	Source  Source    `json:"source,omitempty"`
	By      []Actor   `json:"by"` // who answered
	At      time.Time `json:"at,omitzero"`
	Note    string    `json:"note,omitempty"`
	Cause   Cause     `json:"cause,omitempty"`
	Rule    string    `json:"rule,omitempty"`
	File    string    `json:"file,omitempty"`
	Line    int       `json:"line,omitzero"`
	Reason  string    `json:"reason,omitempty"`
	Mode    Mode      `json:"mode,omitempty"`
	Grant   ID        `json:"grant,omitempty"`
	Link    ID        `json:"link,omitempty"` // the same call at an earlier point, where people were asked; here they were not
	Digest  Digest    `json:"digest"`         // of the call that may run
	Args    Args      `json:"args,omitzero"`  // edited arguments; empty when they are the caller's own
	Receipt Receipt   `json:"receipt,omitzero"`
	// Redeemed says that the receipt was redeemed with this decision, because
	// the caller runs the call at once.
	Redeemed bool `json:"redeemed,omitzero"`
}

// Allowed reports whether the call may run.
func (d Decision) Allowed() bool { return d.Effect == Allow && d.State == StateAllowed }

// Who names the people who decided, or what did.
func (d Decision) Who() string {
	if len(d.By) == 0 {
		return string(d.Source)
	}
	who := d.By[0].Principal
	for _, a := range d.By[1:] {
		who += ", " + a.Principal
	}
	return who
}

// Public is the decision as people see it: without the receipt, which is the
// requester's, and without edited arguments, which may hold what is hidden. It is
// nil for nil, as in a request that is open.
func (d *Decision) Public() *Decision {
	if d == nil {
		return nil
	}
	shown := *d
	shown.Receipt, shown.Args = Receipt{}, nil
	return &shown
}

// Outcome is what became of a call that ran.
type Outcome struct {
	Request ID `json:"request,omitempty"`
	// Session and CallID find the request when the reporter has no id.
	Session    string        `json:"session,omitempty"`
	CallID     string        `json:"call_id,omitempty"`
	Failed     bool          `json:"failed"`
	Interrupt  bool          `json:"interrupt,omitzero"`
	ExitStatus *int          `json:"exit_status,omitempty"`
	Output     Digest        `json:"output"` // of the result; the result itself is not kept
	Took       time.Duration `json:"-"`
	// Args are the arguments that the call ran with, where the reporter knows
	// them. They are compared with what was allowed and not kept.
	Args Args `json:"args,omitzero"`
}
