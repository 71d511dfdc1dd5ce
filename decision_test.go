package sayso_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// An edit that leaves no arguments is an edit all the same.
func TestDecision_editToNothing(t *testing.T) {
	text, err := jcs.Marshal(sayso.Decision{Args: sayso.Args(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	var back sayso.Decision
	if err := jcs.Unmarshal(text, &back); err != nil || string(back.Args) != "{}" {
		t.Errorf("%s came back with arguments %q, %v", text, back.Args, err)
	}
	if text, err = jcs.Marshal(sayso.Decision{}); err != nil {
		t.Fatal(err)
	}
	if err := jcs.Unmarshal(text, &back); err != nil || back.Args != nil && string(back.Args) != "{}" {
		t.Errorf("%s: %v", text, err)
	}
}
