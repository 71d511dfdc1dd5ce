package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// outcome is what of a verdict has consequences.
type outcome struct {
	effect   sayso.Effect
	personal bool // nobody but a person may answer
	remember sayso.Remember
	danger   string
	title    string
	reason   string
}

func outcomeOf(v sayso.Verdict) outcome {
	out := outcome{effect: v.Effect, title: v.Title, reason: v.Reason}
	for _, m := range append([]sayso.Match{v.Match}, v.Matches...) {
		if v.Effect != sayso.Ask || m.Effect != sayso.Ask {
			continue
		}
		if m.Cause == sayso.CauseNotUnderstood {
			out.reason = "" // of several reasons why it was not understood, any will do
		}
		out.personal = out.personal || m.Person || m.Cause == sayso.CauseNotUnderstood || m.Remember == sayso.RememberNever
		if m.Remember == sayso.RememberExact {
			out.remember = m.Remember
		}
	}
	for _, d := range v.Danger {
		out.danger += string(d) + " "
	}
	return out
}

// maxOthers is how many calls are judged in a proof that the pattern does not
// fit.
const maxOthers = 200

// same judges the calls that fit a pattern, and some that do not, by two
// policies. It returns how many come out the same, 0 if one does not.
func (l *linter) same(e *entry, before, after *Policy) int {
	if before == nil || after == nil {
		return 0
	}
	n, others := 0, 0
	step := 1 + len(l.calls)/maxOthers
	for _, a := range l.calls {
		if _, fits := a.fits[e]; !fits {
			if others++; others%step != 0 {
				continue
			}
		}
		if l.outcome(a, before) != outcomeOf(a.judge(after)) {
			return 0
		}
		n++
	}
	return n
}

// outcome is what a call comes to. That by the policy itself is kept.
func (l *linter) outcome(a *sampleCall, p *Policy) outcome {
	if p != l.p {
		return outcomeOf(a.judge(p))
	}
	if a.comes == nil {
		out := outcomeOf(a.judge(p))
		a.comes = &out
	}
	return *a.comes
}

// removable returns how many calls come out the same without the pattern of an
// entry, 0 if one does not. Where the rule has a condition, so it must be
// without the condition.
func (l *linter) removable(e *entry) int {
	gone := []location{e.place()}
	n := l.same(e, l.p, l.p.changed(withoutPlaces(l.p.tiers, gone)))
	if n == 0 || e.when == nil {
		return n
	}
	bare := unconditioned(l.p.tiers, e)
	if l.same(e, l.p.changed(bare), l.p.changed(withoutPlaces(bare, gone))) == 0 {
		return 0
	}
	return n
}

// unconditioned are tiers in which the rule of an entry has no condition.
func unconditioned(tiers []Tiered, e *entry) []Tiered {
	out := slices.Clone(tiers)
	for i, t := range out {
		if at := e.place(); at == t.at(at.position) {
			out[i].File = t.File.mapped(func(p *part) {
				p.rules = slices.Clone(p.rules)
				for i, ru := range p.rules {
					if slices.ContainsFunc(ru.matchers, func(m *matcher) bool { return m.position == at.position }) {
						one := *ru
						one.when = nil
						p.rules[i] = &one
					}
				}
			})
		}
	}
	return out
}

// only is the policy with the pattern of one entry alone, and without its
// condition.
func (l *linter) only(e *entry) *Policy {
	if p, ok := l.alone[e]; ok {
		return p
	}
	var gone []location
	for _, other := range l.entries {
		if other != e {
			gone = append(gone, other.place())
		}
	}
	p := l.p.changed(unconditioned(withoutPlaces(l.p.tiers, gone), e))
	l.alone[e] = p
	return p
}

// finding is a finding about an entry with a call that shows it.
func (l *linter) finding(kind FindingKind, e *entry, a *sampleCall) *Finding {
	f := &Finding{Kind: kind, Pattern: e.pattern()}
	if a != nil {
		f.Call, f.Workspace, f.Effect = &a.call, a.facts.Workspace, a.judge(l.p).Effect
		if len(a.facts.Operands) > 0 && a.call.Known().Operand == sayso.OperandPath {
			f.Found = a.facts.Operands[0].State
		}
	}
	return f
}

// cannotHold is the finding about a pattern that none of the calls fits that
// were made for it.
func (l *linter) cannotHold(e *entry) *Finding {
	at := slices.IndexFunc(l.missed[e], func(a *sampleCall) bool { return a.plain })
	if at < 0 || e.tier == TierRepo && e.effect == sayso.Allow {
		return nil
	}
	f := l.finding(FindingCannotHold, e, l.missed[e][at])
	if f.Same = l.removable(e); f.Same == 0 {
		return nil
	}
	f.What, f.Write = l.whyNot(e)
	return f
}

// whyNot says why nothing fits a pattern, and what to do about it.
func (l *linter) whyNot(e *entry) (what, write string) {
	if r := l.rules[e]; r != nil && e.effect == sayso.Allow && len(r.pattern.words) > 0 {
		line := shell.Inspect(strings.Join(spellings(r.pattern)[0], " "))
		if len(line.Commands) > 0 && line.Commands[0].Beyond() != nil {
			return "no allow for a program covers this: " + line.Commands[0].Beyond().What, "remove it; such a command is always asked about"
		}
		if r.named != nil {
			return "its words already lead out of the paths that its sandbox_paths name", "name the path that they lead to, or remove it"
		}
	}
	switch m := e.m; {
	case m.url != nil && m.url.wide() && e.effect == sayso.Allow:
		return "a pattern for many hosts allows none on this machine or network", "write the host itself, as in https://build.internal/*"
	case m.selector != nil && len(m.selector.servers) == 0 && e.effect == sayso.Allow && slices.ContainsFunc(m.selector.tools, func(t string) bool { return strings.HasPrefix(t, "mcp__") }):
		return "without server, an allow is about tools of no server", "write {server: NAME, tool: TOOL}"
	case m.selector != nil:
		return "no call is all that it names at once", "remove what does not go together, or write a rule for each"
	}
	return "no call fits it", "remove it"
}

// overruled is the finding about an allow that does not stand against what no
// rule is looser than.
func (l *linter) overruled(e *entry) *Finding {
	if e.effect != sayso.Allow {
		return nil
	}
	p := l.only(e)
	if p == nil {
		return nil
	}
	var first *sampleCall
	var why sayso.Match
	for _, a := range l.aimed[e] {
		v := a.judge(p)
		if v.Effect == sayso.Allow || v.File != "" && !strings.HasPrefix(v.Rule, "sandbox.paths") {
			return nil
		}
		if first == nil && a.plain {
			first, why = a, v.Match
		}
	}
	if first == nil {
		return nil
	}
	f := l.finding(FindingUnreachable, e, first)
	if f.Same = l.removable(e); f.Same == 0 {
		return nil
	}
	f.What = "it never allows anything: " + quoted(why.Rule) + " is stricter (" + why.Reason + ")"
	f.Write = "remove it; no rule is looser than that"
	return f
}

// shadowed is the finding about a pattern beside another one that says at least
// as strict a thing of every call, or that speaks before it.
func (l *linter) shadowed(e *entry) *Finding {
	by, kind := l.shadow(e)
	if by == nil {
		return nil
	}
	same := l.removable(e)
	if same == 0 {
		return nil
	}
	f := l.finding(kind, e, l.plainestSample(e))
	other := by.pattern()
	f.Same, f.By = same, &other
	switch {
	case kind == FindingUnreachable:
		f.What = "what stands before it speaks of the same commands; of shell.rules the first that matches speaks"
		f.Write = "put it before that one, or remove it"
	case by.effect == e.effect:
		f.What = "another pattern says the same of all that it speaks of"
		f.Write = "remove it"
	default:
		f.What = fmt.Sprintf("another pattern says %s of all that it speaks of, and the stricter holds, whatever the order", by.effect)
		f.Write = "remove it, or make the other one narrower"
	}
	return f
}

// plainestSample is the plainest call that fits an entry.
func (l *linter) plainestSample(e *entry) *sampleCall {
	if i := slices.IndexFunc(l.aimed[e], func(a *sampleCall) bool { return a.plain }); i >= 0 {
		return l.aimed[e][i]
	}
	return l.aimed[e][0]
}

// shadow finds the pattern that stands in the way of another; nil if none does.
func (l *linter) shadow(e *entry) (*entry, FindingKind) {
	var others []*entry
	for other := range l.aimed[e][0].fits {
		if other != e && l.binds(other, e) {
			others = append(others, other)
		}
	}
	slices.SortFunc(others, func(a, b *entry) int { return a.order - b.order })
	for _, other := range others {
		if l.precedes(other, e) {
			return other, FindingUnreachable
		}
	}
	for _, other := range others {
		if l.covers(other, e) && (other.order < e.order || other.effect != e.effect || !l.binds(e, other) || !l.covers(e, other)) {
			return other, FindingShadowed
		}
	}
	return nil, ""
}

// binds reports whether what one entry says can be relied on where another one
// speaks: it has no condition that may fail by itself. A condition that cannot
// be evaluated makes a rule stricter, so that only a deny outdoes it.
func (l *linter) binds(by, e *entry) bool {
	switch {
	case by.tier == TierRepo && by.effect == sayso.Allow:
		return false
	case by.when != nil:
		return by.when == e.when
	}
	return e.when == nil || by.effect == sayso.Deny
}

// covers reports whether an entry says something at least as strict of every
// call that fits another.
func (l *linter) covers(by, e *entry) bool {
	for _, a := range l.calls {
		if said, ok := a.fits[e]; ok {
			if its, ok := a.fits[by]; !ok || its.effect > said.effect {
				return false
			}
		}
	}
	return true
}

// precedes reports whether of two rules of one shell.rules the first always speaks
// in place of the second.
func (l *linter) precedes(by, e *entry) bool {
	if !l.areInOrder(by, e) {
		return false
	}
	for _, a := range l.calls {
		if _, ok := a.fits[e]; ok && !a.fits[by].sure {
			return false
		}
	}
	return true
}

// areInOrder reports whether two entries stand in one shell.rules, in this order,
// and neither denies.
func (l *linter) areInOrder(by, e *entry) bool {
	a, b := l.rules[by], l.rules[e]
	return a != nil && b != nil && a.part != 0 && a.part == b.part && a.order < b.order && by.effect != sayso.Deny && e.effect != sayso.Deny
}
