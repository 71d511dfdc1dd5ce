package policy

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy/internal/condition"
)

// addExemption adds to the condition of a rule that it does not speak of this very line,
// so that it goes on speaking of all others. It reports whether that helps.
func (a *changeSearch) addExemption(s *subject, e *entry) bool {
	if e.when == nil || !e.whenInLine || s.operand != sayso.OperandCommand || s.arg == "" || !utf8.ValidString(s.arg) {
		return false
	}
	but := " && call.command != " + strconv.Quote(s.arg)
	var text string
	kept := true
	tiers := withRule(a.tiers, e.place(), func(ru *rule) {
		old := ru.when.String()
		if strings.HasSuffix(old, but) { // for another pattern of the rule
			text = old
			return
		}
		if strings.ContainsAny(old, "|?") {
			old = "(" + old + ")"
		}
		when, wrong := condition.Compile(old + but)
		if len(wrong) > 0 {
			return
		}
		ru.when, text = when, old+but
		kept = !slices.ContainsFunc(ru.examples, func(one example) bool { return !ru.fits(&File{}, one.call) })
	})
	if text == "" || !kept {
		return false
	}
	after := a.p.changed(tiers)
	if after == nil || after.objects(s, e.place()) {
		return false
	}
	a.tiers = tiers
	a.addEdit(Edit{
		Do: "replace", Tier: e.tier, File: e.says.File, Line: e.whenAt.line, Column: e.whenAt.column, Under: "when",
		Old: e.when.String(), Text: "'" + strings.ReplaceAll(text, "'", "''") + "'", Rule: e.called(),
	})
	return true
}

// called is what the file calls a rule: its name, its title or its note; empty if
// it has none of them.
func (e *entry) called() string {
	switch {
	case e.under() != "rules":
		return ""
	case e.says.Rule != e.effect.String()+": "+e.m.text:
		return e.says.Rule
	case e.title != "":
		return e.title
	case e.says.Reason != reasons[e.effect]:
		return e.says.Reason
	}
	return ""
}
