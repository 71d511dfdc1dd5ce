package wire

import (
	"fmt"
	"math"
	"time"

	"github.com/sayso-dev/sayso"
)

// Later, as the presentation of an [Admit], says that the caller sends what
// people are shown once the server wants it; as its gather, that the caller
// gathers the facts anew if the server wants others.
const Later = "later"

// maxWait bounds durations in bodies.
const maxWait = 365 * 24 * time.Hour

// Admit is the body of POST /v1/admissions, and of the operation admit.
type Admit struct {
	Call  sayso.Call  `json:"call"`
	Facts sayso.Facts `json:"facts,omitzero"`
	// Asking says that the tool knows itself, and without an Ask that it sees
	// no need to ask. An Ask says the same.
	Asking       bool           `json:"asking,omitzero"`
	Ask          *sayso.ToolAsk `json:"ask,omitempty"`
	PatienceS    float64        `json:"patience_s,omitzero"` // zero waits for a decision
	Immediate    bool           `json:"immediate,omitzero"`
	Strict       bool           `json:"strict,omitzero"`
	CanEdit      bool           `json:"can_edit,omitzero"`
	Presentation string         `json:"presentation,omitempty"` // empty or Later
	Gather       string         `json:"gather,omitempty"`       // empty or Later
}

// AdmitOf is the body for an admission.
func AdmitOf(a sayso.Admission) Admit {
	b := Admit{
		Call: a.Call, Facts: a.Facts, Asking: a.Asking, Ask: a.Ask, PatienceS: a.Patience.Seconds(),
		Immediate: a.Immediate, Strict: a.Strict, CanEdit: a.CanEdit,
	}
	if a.Present != nil {
		b.Presentation = Later
	}
	if a.Gather != nil {
		b.Gather = Later
	}
	return b
}

// Admission is the admission in a body, without its Present and its Gather.
func (b *Admit) Admission() (sayso.Admission, error) {
	if len(b.Call.Args) == 0 {
		return sayso.Admission{}, fmt.Errorf("%w: call: args is missing; a call without arguments has {}", sayso.ErrInvalid)
	}
	if b.Presentation != "" && b.Presentation != Later {
		return sayso.Admission{}, fmt.Errorf("%w: presentation must be absent or later", sayso.ErrInvalid)
	}
	if b.Gather != "" && b.Gather != Later {
		return sayso.Admission{}, fmt.Errorf("%w: gather must be absent or later", sayso.ErrInvalid)
	}
	if b.Ask != nil && b.Ask.Presentation != nil {
		if err := CheckPresentation(b.Ask.Presentation); err != nil {
			return sayso.Admission{}, err
		}
	}
	patience, err := seconds("patience_s", b.PatienceS)
	if err != nil {
		return sayso.Admission{}, err
	}
	a := sayso.Admission{
		Call: b.Call, Facts: b.Facts, Asking: b.Asking || b.Ask != nil, Ask: b.Ask, Patience: patience,
		Immediate: b.Immediate, Strict: b.Strict, CanEdit: b.CanEdit,
	}
	return a, b.Call.Validate()
}

func seconds(name string, s float64) (time.Duration, error) {
	if s < 0 || math.IsNaN(s) || s > maxWait.Seconds() {
		return 0, fmt.Errorf("%w: %s must be from 0 to %d", sayso.ErrInvalid, name, int64(maxWait.Seconds()))
	}
	return time.Duration(math.Round(s * float64(time.Second))), nil
}

// CheckPresentation refuses a presentation that nothing could draw.
func CheckPresentation(p *sayso.Presentation) error {
	switch p.Type {
	case sayso.PresentText, sayso.PresentDiff, sayso.PresentFileContent, sayso.PresentCommand, sayso.PresentStructured:
		return nil
	}
	return fmt.Errorf("%w: type of a presentation must be text, diff, file_content, command or structured", sayso.ErrInvalid)
}

// Present is the operation presentation.
type Present struct {
	Ticket       sayso.ID           `json:"ticket"`
	Presentation sayso.Presentation `json:"presentation"`
}

// Pending is the body of 202: there is no decision yet.
type Pending struct {
	Code     Code       `json:"code"` // pending
	Ticket   sayso.ID   `json:"ticket"`
	ShortID  string     `json:"short_id"`
	Deadline *time.Time `json:"deadline"` // null for none
	Stop     bool       `json:"stop"`     // stop and report instead of asking again
}

// PendingOf is the body for a problem with the code pending.
func PendingOf(p Problem) Pending {
	return Pending{Code: CodePending, Ticket: p.Ticket, ShortID: p.Ticket.Short(), Deadline: p.Deadline, Stop: p.Stop}
}

// RedeemBody is the body of POST /v1/requests/{id}/redeem.
type RedeemBody struct {
	Digest sayso.Digest `json:"digest"` // of the receipt
	Call   sayso.Call   `json:"call"`   // about to run
}

// Redeem is the operation redeem.
type Redeem struct {
	ID sayso.ID `json:"id"`
	RedeemBody
}

// Redeemed answers a redemption with the receipt that is now spent. A caller
// that does not get its own receipt back does not run the call.
type Redeemed struct {
	ID       sayso.ID     `json:"id"`
	Digest   sayso.Digest `json:"digest"`
	Redeemed bool         `json:"redeemed"` // always true
}

// OutcomeBody is the body of POST …/outcome.
type OutcomeBody struct {
	Failed     bool         `json:"failed"`
	Interrupt  bool         `json:"interrupt,omitzero"`
	ExitStatus *int         `json:"exit_status,omitempty"`
	Output     sayso.Digest `json:"output,omitzero"`
	TookS      float64      `json:"took_s,omitzero"`
	Args       sayso.Args   `json:"args,omitzero"` // that the call ran with
}

// Outcome is the operation outcome. It names a request, or the session and the
// call.
type Outcome struct {
	ID      sayso.ID `json:"id,omitempty"`
	Session string   `json:"session,omitempty"`
	CallID  string   `json:"call_id,omitempty"`
	OutcomeBody
}

// OutcomeOf is the operation for an outcome.
func OutcomeOf(o sayso.Outcome) Outcome {
	return Outcome{o.Request, o.Session, o.CallID, OutcomeBody{o.Failed, o.Interrupt, o.ExitStatus, o.Output, o.Took.Seconds(), o.Args}}
}

// Outcome is the outcome in an operation.
func (b *Outcome) Outcome() (sayso.Outcome, error) {
	took, err := seconds("took_s", b.TookS)
	return sayso.Outcome{
		Request: b.ID, Session: b.Session, CallID: b.CallID, Failed: b.Failed, Interrupt: b.Interrupt,
		ExitStatus: b.ExitStatus, Output: b.Output, Took: took, Args: b.Args,
	}, err
}

// WithdrawBody is the body of POST /v1/requests/{id}/withdraw.
type WithdrawBody struct {
	Reason string `json:"reason,omitempty"`
}

// Withdraw is the operation withdraw.
type Withdraw struct {
	ID sayso.ID `json:"id"`
	WithdrawBody
}

// BeginBody is the body of POST /v1/sessions/{s}/begin.
type BeginBody struct {
	Host string `json:"host,omitempty"`
}

// Begin is the operation begin, and with no host the operation end.
type Begin struct {
	Session string `json:"session"`
	BeginBody
}

// Nothing is the body of operations that need none, and of their answers.
type Nothing struct{}
