package policy

import (
	"context"
	"slices"

	"github.com/sayso-dev/sayso"
)

// Judge says what the policy thinks of a call. It never fails.
//
// A call that its caller says is of another kind than its tool's is judged as
// both, and the stricter answer holds: whoever calls a write a deletion gets
// what is said of deletions, and no way round what is said of writes.
func (p *Policy) Judge(_ context.Context, c sayso.Call, f sayso.Facts) sayso.Verdict {
	return p.bothReadings(&c, &f, nil)
}

func (p *Policy) bothReadings(c *sayso.Call, f *sayso.Facts, g *gaps) sayso.Verdict {
	v := p.judge(c, f, g)
	if own, claimed := unclaimed(*c); claimed {
		return stricterVerdict(v, p.judge(&own, f, g))
	}
	return v
}

// unclaimed is the call without what its caller says of its kind; claimed
// reports whether that makes a difference.
func unclaimed(c sayso.Call) (own sayso.Call, claimed bool) {
	if c.Kind == "" || c.Kind == c.Known().Kind {
		return c, false
	}
	c.Kind = ""
	return c, true
}

// readings are a call as the policy reads it: as what its caller says that it
// is, and where that is another kind than its tool's, as what the tool is.
func (p *Policy) readings(c *sayso.Call, f *sayso.Facts) []*subject {
	calls := []*sayso.Call{c}
	if own, claimed := unclaimed(*c); claimed {
		calls = append(calls, &own)
	}
	var out []*subject
	for _, c := range calls {
		s := new(subject)
		s.of(c, f, p.home)
		out = append(out, s)
	}
	return out
}

// stricterVerdict is what two readings of one call come to: all that has a say
// in either has a say, and where only one of them has its default, so has that.
func stricterVerdict(a, b sayso.Verdict) sayso.Verdict {
	if b.Effect < a.Effect {
		a, b = b, a
	}
	said := func(v sayso.Verdict) []sayso.Match {
		if len(v.Matches) == 0 && len(a.Matches)+len(b.Matches) > 0 {
			return []sayso.Match{v.Default}
		}
		return v.Matches
	}
	matches := slices.Clone(said(a))
	for _, m := range said(b) {
		if !slices.Contains(matches, m) {
			matches = append(matches, m)
		}
	}
	if b.Default.Effect < a.Default.Effect {
		a.Default = b.Default
	}
	a.Matches, a.Match = matches, sayso.Combine(matches, a.Default)
	for _, d := range b.Danger {
		if !slices.Contains(a.Danger, d) {
			a.Danger = append(a.Danger, d)
		}
	}
	a.Risk = a.Risk.Raise(b.Risk)
	if a.Title == "" {
		a.Title = b.Title
	}
	return a
}
