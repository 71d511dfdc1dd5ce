package local_test

import (
	"os"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/local"
)

// The policy file is made a link to nothing while the gate runs. It counted as
// a file that was never written, and what it denied was allowed or asked.
func TestRules_aLinkToNothingIsABrokenPolicy(t *testing.T) {
	p := at(t)
	policyIs(t, p, "version: 1\ndefault: allow\nrules:\n  - deny: web-search\n")
	rules := local.NewRules(p)
	search := sayso.Call{Tool: "web-search", Args: sayso.Args(`{"query":"x"}`)}
	if v := rules.Judge(t.Context(), search, sayso.Facts{}); v.Effect != sayso.Deny || rules.Err() != nil {
		t.Fatalf("before: %s, %v", v.Effect, rules.Err())
	}
	if err := os.Remove(p.Policy()); err != nil {
		t.Fatal(err)
	}
	if v := rules.Judge(t.Context(), search, sayso.Facts{}); v.Effect != sayso.Ask || rules.Err() != nil {
		t.Errorf("without a file: %s, %v", v.Effect, rules.Err())
	}
	if err := os.Symlink(p.Policy()+".gone", p.Policy()); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*local.Rules{rules, local.NewRules(p)} {
		if v := r.Judge(t.Context(), search, sayso.Facts{}); v.Effect != sayso.Deny || r.Err() == nil || len(r.Files()) != 1 {
			t.Errorf("a link to nothing: %s, %v, files %v", v.Effect, r.Err(), r.Files())
		}
	}
}
