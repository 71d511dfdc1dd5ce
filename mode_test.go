package sayso_test

import (
	"errors"
	"testing"

	"github.com/sayso-dev/sayso"
)

// The modes, in the order of the rows below; the last is a word that is none.
var modes = []sayso.Mode{sayso.ModeInteractive, sayso.ModeApproveAll, sayso.ModeStrict, "", "yolo"}

const (
	deny  = sayso.Deny
	ask   = sayso.Ask
	allow = sayso.Allow
)

// What becomes of an ask in each mode.
func TestMode_matrix(t *testing.T) {
	asks := []struct {
		name  string
		match sayso.Match
		want  [5]sayso.Effect // interactive, approve_all, strict, none, no mode
	}{
		{"tool-optional", sayso.Match{Cause: sayso.CauseToolOptional}, [5]sayso.Effect{ask, allow, allow, ask, ask}},
		{"tool-required", sayso.Match{Cause: sayso.CauseToolRequired}, [5]sayso.Effect{ask, allow, deny, ask, ask}},
		{"rule", sayso.Match{Cause: sayso.CauseRule}, [5]sayso.Effect{ask, allow, deny, ask, ask}},
		{"default", sayso.Match{Cause: sayso.CauseDefault}, [5]sayso.Effect{ask, allow, deny, ask, ask}},
		{"session policy", sayso.Match{Cause: sayso.CauseSession}, [5]sayso.Effect{ask, allow, deny, ask, ask}},
		{"built-in", sayso.Match{Cause: sayso.CauseBuiltin}, [5]sayso.Effect{ask, allow, deny, ask, ask}},
		{"a cause that nobody knows", sayso.Match{Cause: "new"}, [5]sayso.Effect{ask, allow, deny, ask, ask}},
		{"no cause", sayso.Match{}, [5]sayso.Effect{ask, allow, deny, ask, ask}},
		{"not understood", sayso.Match{Cause: sayso.CauseNotUnderstood}, [5]sayso.Effect{ask, ask, deny, ask, ask}},
	}
	for _, a := range asks {
		for i, mode := range modes {
			m := a.match
			m.Effect = sayso.Ask
			if got := mode.Apply(m); got != a.want[i] {
				t.Errorf("%s in mode %q: got %s, want %s", a.name, mode, got, a.want[i])
			}
			m.Remember = sayso.RememberExact // for grants; no matter to a mode
			if got := mode.Apply(m); got != a.want[i] {
				t.Errorf("%s, remembered exactly, in mode %q: got %s, want %s", a.name, mode, got, a.want[i])
			}
			// Control files and asks never to be remembered take a person,
			// whatever their cause; where nobody is asked they are denied.
			want := ask
			if mode == sayso.ModeStrict {
				want = deny
			}
			for what, m := range map[string]sayso.Match{
				"which takes a person":          {Effect: ask, Cause: m.Cause, Person: true},
				"never to be remembered":        {Effect: ask, Cause: m.Cause, Remember: sayso.RememberNever},
				"which takes a person each day": {Effect: ask, Cause: m.Cause, Remember: sayso.RememberNever, Person: true},
			} {
				if got := mode.Apply(m); got != want {
					t.Errorf("%s, %s, in mode %q: got %s, want %s", a.name, what, mode, got, want)
				}
			}
		}
	}
}

// No mode turns a deny round, nor what is no effect at all, and none asks about
// what is allowed.
func TestMode_onlyTurnsAsks(t *testing.T) {
	causes := []sayso.Cause{
		"", sayso.CauseRule, sayso.CauseDefault, sayso.CauseToolRequired, sayso.CauseToolOptional,
		sayso.CauseNotUnderstood, sayso.CauseSession, sayso.CauseBuiltin,
	}
	for _, mode := range modes {
		for _, cause := range causes {
			for _, remember := range []sayso.Remember{sayso.RememberAny, sayso.RememberExact, sayso.RememberNever} {
				for _, person := range []bool{false, true} {
					for effect, want := range map[sayso.Effect]sayso.Effect{deny: deny, allow: allow, 3: deny, 255: deny} {
						m := sayso.Match{Effect: effect, Cause: cause, Remember: remember, Person: person}
						if got := mode.Apply(m); got != want {
							t.Errorf("%+v in mode %q: got %s, want %s", m, mode, got, want)
						}
					}
				}
			}
		}
	}
}

func TestParseMode(t *testing.T) {
	for _, m := range modes[:3] {
		if got, err := sayso.ParseMode(string(m)); got != m || err != nil {
			t.Errorf("%q: got %q, %v", m, got, err)
		}
	}
	for _, s := range []string{"", "Strict", "approve-all", "approve_all ", "yolo"} {
		if got, err := sayso.ParseMode(s); got != "" || !errors.Is(err, sayso.ErrInvalid) {
			t.Errorf("%q: got %q, %v, want that it is invalid", s, got, err)
		}
	}
}

func TestMode_Within(t *testing.T) {
	const interactive, all, strict = sayso.ModeInteractive, sayso.ModeApproveAll, sayso.ModeStrict
	for _, c := range []struct{ mode, limit, want sayso.Mode }{
		{all, "", all}, {all, all, all}, {all, interactive, interactive}, {all, strict, strict},
		{interactive, all, interactive}, {interactive, strict, strict}, {"", strict, strict}, {"", "", ""},
		{strict, interactive, strict}, {strict, all, strict}, {all, "nonsense", strict}, {interactive, "nonsense", strict},
	} {
		if got := c.mode.Within(c.limit); got != c.want {
			t.Errorf("%q within %q is %q, want %q", c.mode, c.limit, got, c.want)
		}
	}
}
