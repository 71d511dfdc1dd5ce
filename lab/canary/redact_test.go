//go:build unix

package canary_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/redact"
)

// TestPlaces holds the ways of writing a secret against the redactor alone,
// many more than can be sent through everything.
func TestPlaces(t *testing.T) {
	n := newNest(*seed + 1)
	r := rand.New(rand.NewPCG(*seed+1, 2))
	redactor := redact.New(nil)
	leaked := map[string]bool{}
	list := tools(t)
	for i := range 5 * *count {
		args := map[string]any{}
		for _, f := range list[i%len(list)].Fields {
			args[f] = n.value(r, f)
		}
		said := n.text(r, texts)
		res, err := redactor.Call([]byte(text(t, args)), map[string]string{"said": said})
		if err != nil {
			t.Fatal(err)
		}
		shown := string(res.Full) + fmt.Sprint(res.Texts, res.Redactions)
		if _, secret := n.found(shown); secret != "" && !leaked[secret] {
			leaked[secret] = true
			at := strings.Index(shown, secret[:part])
			t.Errorf("it shows %q: %s", secret, shown[max(0, at-100):min(len(shown), max(0, at)+100)])
		}
		if len(leaked) > 5 {
			t.Fatal("and so on")
		}
	}
}
