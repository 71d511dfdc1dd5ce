package broker_test

import (
	"errors"
	"testing"

	"github.com/sayso-dev/sayso"
)

// Policy is a seam: one that contradicts itself is as strict as the strictest
// thing it says, at the gate and when a person answers.
func TestVerdict_contradictions(t *testing.T) {
	person := rule(sayso.Ask)
	person.Person = true
	for name, v := range map[string]sayso.Verdict{
		"asks, and a match allows":       {Match: person, Matches: []sayso.Match{rule(sayso.Allow)}},
		"denies, and a match allows":     {Match: rule(sayso.Deny), Matches: []sayso.Match{rule(sayso.Allow)}},
		"allows, and a match denies":     {Match: rule(sayso.Allow), Matches: []sayso.Match{rule(sayso.Allow), rule(sayso.Deny)}},
		"says nothing of what decided":   {Matches: []sayso.Match{rule(sayso.Allow)}},
		"allows, and the default denies": {Match: rule(sayso.Allow), Default: rule(sayso.Deny), Matches: nil},
	} {
		bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
			w.rules.set("v1", func(sayso.Call) sayso.Verdict { return v })
			p := w.ask(t.Context(), push("c1"))
			if p.isWaiting() {
				return // a person is asked
			}
			if d, _ := p.result(); d.Allowed() {
				t.Errorf("%s: allowed", name)
			}
		})
	}
	bubble(t, always(sayso.Ask), func(t *testing.T, w *harness) {
		p := w.ask(t.Context(), push("c1"))
		r := w.onlyOpen()
		w.rules.set(w.rules.Version(), func(sayso.Call) sayso.Verdict {
			return sayso.Verdict{Match: rule(sayso.Ask), Matches: []sayso.Match{rule(sayso.Ask), rule(sayso.Deny)}}
		})
		if _, err := w.answer(dev, r.ID, answer(r, sayso.Allow)); !errors.Is(err, sayso.ErrNotAllowed) {
			t.Errorf("an allow against a deny of the policy got %v", err)
		}
		if !p.isWaiting() {
			t.Error("it was decided")
		}
		w.answerAsOwner(r.ID, sayso.Deny)
		_, _ = p.result()
	})
}
