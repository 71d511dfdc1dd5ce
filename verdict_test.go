package sayso_test

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

func TestCombine(t *testing.T) {
	m := func(rule string, e sayso.Effect) sayso.Match {
		return sayso.Match{Rule: rule, Effect: e, Cause: sayso.CauseRule}
	}
	person := func(m sayso.Match) sayso.Match { m.Person = true; return m }
	never := func(m sayso.Match) sayso.Match { m.Remember = sayso.RememberNever; return m }
	unread := func(m sayso.Match) sayso.Match { m.Cause = sayso.CauseNotUnderstood; return m }
	otherwise := sayso.Match{Rule: "default", Effect: ask, Cause: sayso.CauseDefault}
	for _, c := range []struct {
		name    string
		matches []sayso.Match
		want    sayso.Match
	}{
		{"nothing spoke", nil, otherwise},
		{"one allow outweighs the default", []sayso.Match{m("a", allow)}, m("a", allow)},
		{"ask before allow", []sayso.Match{m("a", allow), m("b", ask)}, m("b", ask)},
		{"ask before a later allow", []sayso.Match{m("b", ask), m("a", allow)}, m("b", ask)},
		{"deny before all", []sayso.Match{m("a", allow), m("b", ask), m("c", deny), m("d", ask)}, m("c", deny)},
		{"the first of equal ones", []sayso.Match{m("a", ask), m("b", ask)}, m("a", ask)},
		{"the first of equal denies", []sayso.Match{m("a", deny), m("b", deny)}, m("a", deny)},
		{"no effect at all denies", []sayso.Match{m("a", ask), m("b", 9)}, m("b", 9)},
		{"a second ask takes a person", []sayso.Match{m("a", ask), person(m("b", ask))}, person(m("a", ask))},
		{"a first ask takes a person", []sayso.Match{person(m("a", ask)), m("b", ask)}, person(m("a", ask))},
		{"a second ask is never remembered", []sayso.Match{m("a", ask), never(m("b", ask))}, person(m("a", ask))},
		{"a second ask was not understood", []sayso.Match{m("a", ask), unread(m("b", ask))}, person(m("a", ask))},
		{"a person for what did not decide", []sayso.Match{person(m("a", allow)), m("b", ask)}, m("b", ask)},
	} {
		if got := sayso.Combine(c.matches, otherwise); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Whatever else is said, the result is no laxer than any part, in every mode.
func TestCombine_neverLaxer(t *testing.T) {
	var all []sayso.Match
	for _, e := range []sayso.Effect{deny, ask, allow} {
		for _, cause := range []sayso.Cause{sayso.CauseRule, sayso.CauseNotUnderstood} {
			for _, remember := range []sayso.Remember{sayso.RememberAny, sayso.RememberNever} {
				for _, person := range []bool{false, true} {
					all = append(all, sayso.Match{Effect: e, Cause: cause, Remember: remember, Person: person})
				}
			}
		}
	}
	for _, a := range all {
		for _, b := range all {
			for _, mode := range modes {
				got := mode.Apply(sayso.Combine([]sayso.Match{a, b}, sayso.Match{}))
				if want := mode.Apply(a).Meet(mode.Apply(b)); got > want {
					t.Errorf("%+v and %+v in mode %q: got %s, want at most %s", a, b, mode, got, want)
				}
			}
		}
	}
}

func TestEffect_meet(t *testing.T) {
	all := []sayso.Effect{deny, ask, allow, 3, 200}
	for _, a := range all {
		for _, b := range all {
			got := a.Meet(b)
			if got != b.Meet(a) {
				t.Errorf("%d and %d meet in another order at another effect", a, b)
			}
			if (a == deny || b == deny || a > allow || b > allow) && got != deny {
				t.Errorf("%d and %d meet at %s", a, b, got)
			}
		}
		if a.Meet(a) != a && a <= allow {
			t.Errorf("%s meets itself at %s", a, a.Meet(a))
		}
	}
	var zero sayso.Effect
	if zero != deny || sayso.Effect(7).String() != "deny" {
		t.Error("what is no effect must deny")
	}
}

func TestEffect_text(t *testing.T) {
	for _, e := range []sayso.Effect{deny, ask, allow} {
		text, err := e.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		got := sayso.Allow
		if err := got.UnmarshalText(text); err != nil || got != e {
			t.Errorf("%s is read as %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "Allow", "ALLOW", "yes", "allow ", "true", "2"} {
		got := sayso.Allow
		if err := got.UnmarshalText([]byte(text)); err == nil || got != deny {
			t.Errorf("%q is read as %s, %v", text, got, err)
		}
	}
}

// A caller can make a kind only stricter than the table says, and rules can
// raise a risk only.
func TestStricter(t *testing.T) {
	kinds := []sayso.Kind{
		sayso.KindShell, sayso.KindRead, sayso.KindWrite, sayso.KindEdit, sayso.KindDelete, sayso.KindList,
		sayso.KindFetch, sayso.KindSearch, sayso.KindDelegate, sayso.KindMCP, sayso.KindOther, "", "new",
	}
	rank := map[sayso.Risk]int{sayso.RiskSafe: 0, sayso.RiskModerate: 1, sayso.RiskDestructive: 2}
	for _, table := range kinds {
		for _, claimed := range kinds {
			got := table.Stricter(claimed)
			if !got.Known() || rank[got.Risk()] < rank[table.Risk()] {
				t.Errorf("%q, claimed %q, counts as %q", table, claimed, got)
			}
		}
	}
	risks := []sayso.Risk{sayso.RiskSafe, sayso.RiskModerate, sayso.RiskDestructive}
	for i, a := range risks {
		for j, b := range risks {
			if got := a.Raise(b); got != risks[max(i, j)] {
				t.Errorf("%s raised by %s is %s", a, b, got)
			}
		}
		if a.Raise("") != a {
			t.Errorf("%s raised by nothing is %s", a, a.Raise(""))
		}
	}
}
