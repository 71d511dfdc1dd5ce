package sayso

import (
	"context"
	"time"
)

// ToolAsk is what a tool that knows itself says of a call. A nil *ToolAsk means
// that the tool sees no need to ask.
type ToolAsk struct {
	Required    bool   `json:"required"`
	Description string `json:"description,omitempty"`
	// Payload is what a remembered yes matches on; empty for the call's digest.
	// Only tools may leave arguments out of it, never agents.
	Payload Args     `json:"payload,omitzero"`
	Ignores []string `json:"ignores,omitempty"` // arguments the payload leaves out
	Risk    Risk     `json:"risk,omitempty"`
	GroupID string   `json:"group_id,omitempty"`
	// Display are the arguments to show instead of the real ones. They come
	// from Go code or a trusted server and are redacted all the same.
	Display      Args          `json:"display,omitzero"`
	Presentation *Presentation `json:"presentation,omitempty"`
}

// Admission is one call at the gate.
type Admission struct {
	Call  Call
	Facts Facts
	// Asking says that the tool knows itself; Ask is then what it says, nil
	// for no need to ask.
	Asking bool
	Ask    *ToolAsk
	// Patience is how long the caller waits for people; zero waits until there
	// is a decision.
	Patience time.Duration
	// Immediate says that a yes is run at once: it is redeemed in the same
	// commit as it is recorded.
	Immediate bool
	// Strict denies this call where it would be asked about, whatever the mode.
	Strict bool
	// CanEdit says that the caller takes edited arguments; where it does not,
	// people are not offered to edit.
	CanEdit bool
	// Gather gathers the facts anew, if those that came were gathered for another
	// policy than the one in force, and the one in force names folders. It may
	// return a [*FactsWantedError] to have the caller send them. Without it, a
	// fact that is missing asks.
	Gather func(context.Context, FactsWanted) (Facts, error)
	// Present makes what a person is shown. It runs only if a person will see
	// it, and may return [ErrPresentationWanted] to have the caller send it.
	Present func(context.Context) (*Presentation, error)
}
