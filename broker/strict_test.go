package broker_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

// A caller can be stricter than the mode, never laxer.
func TestAdmit_strictCaller(t *testing.T) {
	for effect, want := range map[sayso.Effect]sayso.Source{
		sayso.Allow: sayso.SourcePolicy, sayso.Ask: sayso.SourceMode, sayso.Deny: sayso.SourcePolicy,
	} {
		bubble(t, always(effect), func(t *testing.T, w *harness) {
			a := atOnce("c1")
			a.Strict = true
			d, err := w.admit(a)
			if err != nil || d.Allowed() != (effect == sayso.Allow) || d.Source != want {
				t.Errorf("%s: got %+v, %v", effect, d, err)
			}
		})
	}
}
