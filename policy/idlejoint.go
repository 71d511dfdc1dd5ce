package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
)

// jointlyShadowed is the finding about a mapping that names a list, where for each value
// of the list another pattern says at least as strict a thing. Lists are the only
// patterns that are looked at so: that every value is spoken of can be seen, and
// of words with a star it cannot.
func (l *linter) jointlyShadowed(e *entry) *Finding {
	for _, singles := range e.singles() {
		others := l.shadowsOf(e, singles)
		if others == nil {
			continue
		}
		same := l.removable(e)
		if same == 0 {
			return nil
		}
		f := l.finding(FindingShadowed, e, l.plainestSample(e))
		by := others[0].pattern()
		f.By, f.Same = &by, same
		var at []string
		for _, other := range others {
			at = append(at, fmt.Sprintf("%s (line %d)", other.written(), other.m.line))
		}
		f.What = "other patterns together say at least as strict a thing of all that it speaks of: " + strings.Join(at, ", ")
		f.Write = "remove it"
		return f
	}
	return nil
}

// singles are the mappings that an entry is made of: one for each value of a list
// that it names, where none has a star.
func (e *entry) singles() [][]*selector {
	if e.m.selector == nil {
		return nil
	}
	var out [][]*selector
	for _, list := range []func(*selector) *[]string{
		func(s *selector) *[]string { return &s.kinds }, func(s *selector) *[]string { return &s.servers }, func(s *selector) *[]string { return &s.tools },
	} {
		values := *list(e.m.selector)
		if len(values) < 2 || strings.Contains(strings.Join(values, ""), "*") {
			continue
		}
		var each []*selector
		for _, value := range values {
			one := *e.m.selector
			*list(&one) = []string{value}
			each = append(each, &one)
		}
		out = append(out, each)
	}
	return out
}

// shadowsOf returns the patterns that speak of the calls of each mapping, nil if one has
// none, or if the entry speaks of more than they do.
func (l *linter) shadowsOf(e *entry, singles []*selector) []*entry {
	var out []*entry
	seen := map[*sampleCall]bool{}
	for _, one := range singles {
		var group []*sampleCall
		for _, a := range l.aimed[e] {
			if one.matches(a.subject(l.p), e.effect == sayso.Allow) {
				group, seen[a] = append(group, a), true
			}
		}
		by := l.shadowOf(e, group)
		if by == nil {
			return nil
		}
		if !slices.Contains(out, by) {
			out = append(out, by)
		}
	}
	if len(seen) < len(l.aimed[e]) {
		return nil
	}
	return out
}

// shadowOf is a pattern that says at least as strict a thing of some calls, nil if
// none does or there are no calls. A pattern of which the entry speaks wholly is
// none: of the two, that is the one that is not needed.
func (l *linter) shadowOf(e *entry, group []*sampleCall) *entry {
	if len(group) == 0 {
		return nil
	}
	for _, other := range l.entries {
		if other == e || !l.binds(other, e) || other.effect == e.effect && l.covers(e, other) {
			continue
		}
		all := !slices.ContainsFunc(group, func(a *sampleCall) bool {
			its, ok := a.fits[other]
			return !ok || its.effect > a.fits[e].effect
		})
		if all {
			return other
		}
	}
	return nil
}
