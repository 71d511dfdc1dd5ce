package policy

import (
	"fmt"
	"strings"

	"github.com/sayso-dev/sayso"
)

// pattern is what a finding says of a default.
func (d *defaultRule) pattern() Pattern {
	out := Pattern{Says: d.m.Effect, Text: d.m.Rule, Tier: d.tier, File: d.m.File, Line: d.m.Line, InCommand: d.shell}
	if d.tier == TierRepo {
		out.Project = d.scope.folder
	}
	return out
}

// idleDefaults are the findings about defaults that are written down, and that
// never speak, because a pattern always does: defaults hold only where neither
// rules nor shell.rules speak.
func (l *linter) idleDefaults() []Finding {
	var out []Finding
	for i := range l.p.fallbacks {
		d := &l.p.fallbacks[i]
		if !d.said || d.scope != nil || d.m.Effect == sayso.Ask {
			continue
		}
		by := l.overAll(d.shell)
		if by == nil {
			continue
		}
		same := l.sameWithoutDefault(d)
		if same == 0 {
			continue
		}
		other := by.pattern()
		f := Finding{Kind: FindingUnreachable, Pattern: d.pattern(), By: &other, Same: same}
		f.What = fmt.Sprintf("a default holds only where neither rules nor shell.rules speak, and another pattern says %s of everything", by.effect)
		f.Write = "remove it, or make the other one narrower"
		out = append(out, f)
	}
	return out
}

// overAll is a pattern that speaks of every call, or of every command; nil if
// none does. An allow is none: it speaks only of what was understood.
func (l *linter) overAll(commands bool) *entry {
	for _, e := range l.entries {
		if e.effect == sayso.Allow || e.when != nil || e.scope != nil {
			continue
		}
		all := true
		for _, a := range l.calls {
			if _, fits := a.fits[e]; !fits && (!commands || a.subject(l.p).kind == sayso.KindShell) {
				all = false
				break
			}
		}
		if all {
			return e
		}
	}
	return nil
}

// sameWithoutDefault returns how many calls come out the same if a default asks, as it does
// where none is written; 0 if one does not.
func (l *linter) sameWithoutDefault(d *defaultRule) int {
	after := l.p.changed(withDefault(l.p.tiers, []location{{tier: d.tier, position: position{d.m.Line, 0}}}, sayso.Ask))
	if after == nil {
		return 0
	}
	return l.sameUnder(after)
}

// sameUnder returns how many calls come out the same by another policy, 0 if one
// does not.
func (l *linter) sameUnder(after *Policy) int {
	for _, a := range l.calls {
		if l.outcome(a, l.p) != outcomeOf(a.judge(after)) {
			return 0
		}
	}
	return len(l.calls)
}

// projectAllows are the findings about what a project's own file allows.
func (l *linter) projectAllows() []Finding {
	var out []Finding
	for _, t := range l.p.tiers {
		if t.Tier != TierRepo {
			continue
		}
		add := func(at position, text string, shell bool) {
			same := l.sameWithout(t.at(at))
			if same == 0 {
				return
			}
			out = append(out, Finding{
				Kind:    FindingUnreachable,
				Pattern: Pattern{Says: sayso.Allow, Text: text, Tier: t.Tier, Project: t.Workspace, File: t.File.Name, Line: at.line, Column: at.column, InCommand: shell},
				What:    "a project's own file only tightens: what it allows counts for nothing", Write: "remove it, or write it in your own file under workspaces", Same: same,
			})
		}
		for _, ru := range t.File.rules {
			for _, m := range ru.matchers {
				if ru.effect == sayso.Allow {
					add(m.position, m.text, false)
				}
			}
		}
		if t.File.shell != nil {
			for i, rule := range t.File.shell.rules.Rules {
				if rule.Effect == sayso.Allow {
					add(t.File.shell.places[i], strings.Join(rule.Words, " "), true)
				}
			}
		}
	}
	return out
}

// sameWithout returns how many calls come out the same without the pattern in a
// place, 0 if one does not.
func (l *linter) sameWithout(at location) int {
	after := l.p.changed(withoutPlaces(l.p.tiers, []location{at}))
	if after == nil {
		return 0
	}
	return l.sameUnder(after)
}
