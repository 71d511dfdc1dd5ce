package sayso_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

// An effect that is no word denies, whatever a tool or a session says besides.
func TestSettle_anUnknownEffectDenies(t *testing.T) {
	allow := sayso.Allow
	for _, b := range []sayso.Besides{{}, {Tool: sayso.ToolNeedless}, {Session: &allow}, {Tool: sayso.ToolOptional, Session: &allow}} {
		m := sayso.Match{Effect: sayso.Effect(7), Cause: sayso.CauseRule}
		for _, v := range []sayso.Verdict{{Match: m, Default: m}, {Match: m, Matches: []sayso.Match{m}}} {
			if got := b.Settle(v); got.Effect != sayso.Deny {
				t.Errorf("%+v besides %+v: %s", b, v, got.Effect)
			}
		}
	}
}
