package outbox

import (
	"slices"

	"github.com/sayso-dev/sayso"
)

// Detail is how much a notice tells.
type Detail string

// The details, the least first. The zero Detail is [None].
const (
	None    Detail = "none"    // that something waits
	Title   Detail = "title"   // what the policy and the program call it; no arguments
	Preview Detail = "preview" // arguments too, with secrets hidden
)

// Kind is what a notice is about.
type Kind string

// The kinds of notices.
const (
	Opened    Kind = "opened"
	Decided   Kind = "decided"
	Expired   Kind = "expired"
	Withdrawn Kind = "withdrawn"
	ModeSet   Kind = "mode"
	Dead      Kind = "dead" // a notice to another target was given up
	Tested    Kind = "test"
)

// Target is who is told. What is secret is read anew each time, so that it can
// be changed while a server runs, and is never kept.
type Target struct {
	Name   string
	On     []Kind
	Detail Detail
	// Webhook returns the address of a webhook, and Secret the secrets that its
	// notices are signed with, one a line; nil for a chat.
	Webhook, Secret func() (string, error)
	// Chat returns the shoutrrr address of a chat; nil for a webhook.
	Chat func() (string, error)
}

// followed are the types of events that notices are made from.
var followed = []sayso.EventType{
	sayso.EventRequested, sayso.EventResolved, sayso.EventExpired, sayso.EventWithdrawn, sayso.EventModeChanged,
}

// wants reports whether a target is told of a kind.
func (t *Target) wants(k Kind) bool { return slices.Contains(t.On, k) }
