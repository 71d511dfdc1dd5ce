package policy

import (
	"fmt"
	"slices"

	"github.com/sayso-dev/sayso"
)

// contradiction is the finding about a pattern that says something else than
// another one of the same file, of the same calls, and does not prevail.
func (l *linter) contradiction(e *entry) *Finding {
	mine := l.plain(e)
	if len(mine) == 0 || e.when != nil {
		return nil
	}
	var others []*entry
	for other, said := range mine[0].fits {
		if other != e && said.sure && other.when == nil && other.effect != e.effect && l.areInOnePart(e, other) && l.prevails(other, e) {
			others = append(others, other)
		}
	}
	slices.SortFunc(others, func(a, b *entry) int { return a.order - b.order })
	for _, by := range others {
		if f := l.against(e, by); f != nil {
			return f
		}
	}
	return nil
}

// plain are the calls that say what a pattern says, word for word.
func (l *linter) plain(e *entry) []*sampleCall {
	var out []*sampleCall
	for _, a := range l.aimed[e] {
		if a.plain && a.fits[e].sure {
			out = append(out, a)
		}
	}
	return out
}

// areInOnePart reports whether two entries stand in one part of one file.
func (l *linter) areInOnePart(a, b *entry) bool {
	return a.tier == b.tier && a.says.File == b.says.File && a.place().workspace == b.place().workspace &&
		(a.scope == nil) == (b.scope == nil) && (a.scope == nil || *a.scope == *b.scope)
}

// prevails reports whether of two entries that say different things the first
// holds.
func (l *linter) prevails(by, e *entry) bool {
	if l.areInOrder(by, e) || l.areInOrder(e, by) {
		return l.areInOrder(by, e)
	}
	return by.effect < e.effect
}

// against is the finding that an entry and one that prevails contradict each
// other; nil if they do not. In shell.rules an earlier rule need not be about
// the same commands alone.
func (l *linter) against(e, by *entry) *Finding {
	mine, its := l.plain(e), l.plain(by)
	fit := func(calls []*sampleCall, other *entry) bool {
		return len(calls) > 0 && !slices.ContainsFunc(calls, func(a *sampleCall) bool { return !a.fits[other].sure })
	}
	if !fit(mine, by) || !fit(its, e) && (!l.areInOrder(by, e) || l.removable(e) > 0) {
		return nil
	}
	for _, a := range mine {
		if !l.decides(e, a) || !l.decides(by, a) {
			continue
		}
		f := l.finding(FindingContradictory, e, a)
		other := by.pattern()
		f.By = &other
		f.What = fmt.Sprintf("this file says %s and %s of the same calls", e.effect, by.effect)
		switch {
		case l.areInOrder(by, e):
			f.What += "; of shell.rules the first that matches speaks"
		case f.InCommand != other.InCommand:
			f.What += "; what shell.rules and rules say of a command goes together, and the stricter holds"
		default:
			f.What += "; the stricter holds, whatever the order"
		}
		f.Write = "remove one of them"
		return f
	}
	return nil
}

// decides reports whether an entry alone decides about a call.
func (l *linter) decides(e *entry, a *sampleCall) bool {
	p := l.only(e)
	if p == nil {
		return false
	}
	v := a.judge(p)
	return v.Effect == e.effect && v.File == e.says.File && v.Line == e.says.Line && v.Cause == sayso.CauseRule
}
