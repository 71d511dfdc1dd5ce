package policy

import (
	"slices"

	"github.com/sayso-dev/sayso"
)

// idleDelegates are the findings about patterns under delegate that hand nothing
// over: whoever else allowed all that they speak of, each call would come out as
// it does without them. They only turn asks of the organisation's own rules.
func (l *linter) idleDelegates() []Finding {
	var out []Finding
	for _, t := range l.p.tiers {
		for i, m := range t.File.delegates {
			same := l.sameWithoutDelegate(t, i)
			if same == 0 {
				continue
			}
			out = append(out, Finding{
				Kind:    FindingUnreachable,
				Pattern: Pattern{Says: sayso.Allow, Text: "delegate: " + m.text, Tier: t.Tier, File: t.File.Name, Line: m.line, Column: m.column},
				What:    "it hands nothing over: no rule of this file asks about what it speaks of, or another pattern under delegate speaks of it too",
				Write:   "remove it, or write the rule that asks", Same: same,
			})
		}
	}
	return out
}

// sameWithoutDelegate returns how many calls come out the same without a pattern under
// delegate where the person's file allows just what it speaks of; 0 if one does
// not, or the pattern cannot be tried.
func (l *linter) sameWithoutDelegate(t Tiered, i int) int {
	user, err := Parse("", []byte(fileOf(ruleText(sayso.Allow, []string{t.File.delegates[i].text}))))
	if err != nil {
		return 0
	}
	with, without := []Tiered{{Tier: TierUser, File: user}}, []Tiered{{Tier: TierUser, File: user}}
	for _, other := range l.p.tiers {
		if other.Tier == TierUser {
			continue
		}
		with = append(with, other)
		if other.Tier == t.Tier {
			f := *other.File
			f.delegates = slices.Delete(slices.Clone(f.delegates), i, i+1)
			other.File = &f
		}
		without = append(without, other)
	}
	p, after := l.p.changed(with), l.p.changed(without)
	if p == nil || after == nil {
		return 0
	}
	its := newLinter(p)
	aimed := its.aimed[its.entries[slices.IndexFunc(its.entries, func(e *entry) bool { return e.tier == TierUser })]]
	if len(aimed) == 0 {
		return 0 // nothing is allowed by it, so that nothing is shown
	}
	return its.sameUnder(after)
}
