package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
)

// What a person changed does not run as it was asked for, and the driver's line of it
// does not say so: the arguments that run may hold what must not be shown.
func TestHookTeller_edited(t *testing.T) {
	var out bytes.Buffer
	teller := &hookTeller{app: &app{err: &out}, allowed: true, told: map[sayso.ID]bool{}}
	r := sayso.Request{
		ID: "01ABC", ShortID: "abc", Tool: "bash", Preview: sayso.Args(`{"command":"git push"}`), State: sayso.StateAllowed, Digest: sayso.Digest{1},
		Decision: &sayso.Decision{Effect: sayso.Allow, State: sayso.StateAllowed, Digest: sayso.Digest{1}},
	}
	teller.decided(r)
	if got := out.String(); !strings.Contains(got, "✓ bash git push") || strings.Contains(got, "changes") {
		t.Errorf("allowed as it was asked for: %s", got)
	}
	out.Reset()
	r.ID, r.Decision.Digest = "01ABD", sayso.Digest{2}
	teller.decided(r)
	if got := out.String(); !strings.Contains(got, "✓ bash git push, with changes; type: sayso show abc") {
		t.Errorf("allowed with changes: %s", got)
	}
}
