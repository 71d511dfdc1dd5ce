package wire

import (
	"time"

	"github.com/sayso-dev/sayso"
)

// Definition is what is known of one tool of an MCP server that runs behind the
// gateway of this machine, or of the server itself.
type Definition struct {
	Server    string              `json:"server"`
	Tool      string              `json:"tool"`                 // empty for the server itself
	State     string              `json:"state"`                // trusted, changed or left-out
	LooksLike string              `json:"looks_like,omitempty"` // the tool known before it that people could take it for
	Digest    sayso.Digest        `json:"digest"`               // of the one that is trusted
	TrustedBy string              `json:"trusted_by"`
	At        time.Time           `json:"at"`                     // of the newest event
	Changed   sayso.Digest        `json:"changed"`                // of the one in quarantine; empty if none is
	Shown     *sayso.Presentation `json:"presentation,omitempty"` // how that one differs
	Warnings  []sayso.WarningKind `json:"warnings,omitempty"`     // of what is shown
}

// The states of definitions.
const (
	DefinitionTrusted = "trusted"
	DefinitionChanged = "changed"
	DefinitionLeftOut = "left-out" // where the server lists the tool that it looks like
)

// Definitions is the answer to GET /v1/definitions: those that changed first.
type Definitions struct {
	Definitions []Definition `json:"definitions"`
}

// AcceptBody is the body of POST /v1/definitions/accept and of POST /v1/definitions/keep:
// the definition that a person was shown, which is trusted from then on, or is not.
type AcceptBody struct {
	Server string       `json:"server"`
	Tool   string       `json:"tool"`
	Digest sayso.Digest `json:"digest"`
}
