package facts_test

import (
	"os"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
)

// What people are asked with is what the policy wants to know, and it is seen when a
// call comes to mean something else.
func TestAsked(t *testing.T) {
	app := place(t) + "/app"
	c := call(t, app, "file-edit", obj{"path": "sub/x"})
	a := facts.Ask(t.Context(), &c, facts.Options{}, sayso.FactsWanted{})
	if o, ok := a.Facts.Operand("path"); !ok || o.Digest.IsZero() || a.Facts.Policy != "" {
		t.Errorf("asked with %+v", a.Facts)
	}
	f, err := a.Gather(t.Context(), sayso.FactsWanted{Roots: []string{"sub"}, Policy: "2"})
	if err != nil || f.Policy != "2" || !f.Equal(a.Facts) || a.Changed(t.Context()) {
		t.Errorf("for another policy %+v, %v", f, err)
	}
	if err := os.WriteFile(app+"/sub/x", []byte("y"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !a.Changed(t.Context()) {
		t.Error("the file changed, and nobody saw it")
	}
}
