package wire

import (
	"time"

	"github.com/sayso-dev/sayso"
)

// Login is the body of POST /v1/login: a code that is good once.
type Login struct {
	Code string `json:"code"`
}

// Token is a token, shown once.
type Token struct {
	Token string `json:"token"`
}

// TokenInfo is what is known of a token.
type TokenInfo struct {
	ID        string              `json:"id"`
	Name      string              `json:"name"` // the principal
	Kind      sayso.PrincipalKind `json:"kind"`
	Owner     string              `json:"owner,omitempty"`     // of the sessions that it starts
	Approvers []string            `json:"approvers,omitempty"` // who else answers for them
	Created   time.Time           `json:"created"`
	Expires   *time.Time          `json:"expires"`          // null for never
	Device    string              `json:"device,omitempty"` // in which the page is that it was made for
	Used      *time.Time          `json:"used,omitempty"`   // last, to the minute
}

// Tokens is a list of tokens.
type Tokens struct {
	Tokens []TokenInfo `json:"tokens"`
}

// NewToken is the body of POST /v1/tokens.
type NewToken struct {
	Name      string              `json:"name"`
	Kind      sayso.PrincipalKind `json:"kind"`
	Owner     string              `json:"owner,omitempty"`
	Approvers []string            `json:"approvers,omitempty"`
	For       string              `json:"for,omitempty"` // a duration; empty for no end
}

// MadeToken answers it.
type MadeToken struct {
	Token string    `json:"token"` // shown this once
	Info  TokenInfo `json:"info"`
}

// PolicyInfo says which policy is in force.
type PolicyInfo struct {
	Version string   `json:"version"`
	Files   []string `json:"files"`
}

// Status is the body of /healthz and /readyz.
type Status struct {
	Status string `json:"status"` // ok, ready or unavailable
}
