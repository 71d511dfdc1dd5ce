package main

import (
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
)

// That a call ran with what a person made of it is said only where it did.
func TestChanges(t *testing.T) {
	for outcome, want := range map[string]string{
		"": "allowed with", "unknown": "allowed with", "finished": "ran with", "failed": "ran with", "changed": "allowed with these changes, and ran with other",
	} {
		if got := changesTitle(sayso.Request{Outcome: outcome}); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q", outcome, got)
		}
	}
	told := words.Teller{}.Story(sayso.Event{Type: sayso.EventFinished, Payload: sayso.Args(`{"changed":true}`)})
	if !strings.HasSuffix(told, "ran - with other arguments than were allowed") {
		t.Errorf("it is told as %q", told)
	}
}
