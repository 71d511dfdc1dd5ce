package sayso_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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

// What people see of a decision holds nothing that lets a call run, and no
// arguments that were hidden from them.
func TestDecision_Public(t *testing.T) {
	d := sayso.Decision{
		Effect: sayso.Allow, State: sayso.StateAllowed, Request: "r", Note: "n", By: []sayso.Actor{{Principal: "ana"}},
		Args: sayso.Args(`{"a":1}`), Receipt: sayso.Receipt{Request: "r", Digest: sayso.Digest{1}},
	}
	want := d
	want.Args, want.Receipt = nil, sayso.Receipt{}
	if diff := cmp.Diff(&want, d.Public()); diff != "" {
		t.Error(diff)
	}
	if len(d.Args) == 0 || d.Receipt.Request == "" {
		t.Error("the decision itself was changed")
	}
	if (*sayso.Decision)(nil).Public() != nil {
		t.Error("no decision became one")
	}
}
