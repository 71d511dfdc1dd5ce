package policy

import (
	"slices"

	"github.com/sayso-dev/sayso"
)

// A policy that is a little different is made of copies of its files: without
// a pattern, with a rule more, with another default. It is how explain proves
// what it says, how lint proves that a rule does nothing, and how suggest counts.

// options are those that the policy was made with.
func (p *Policy) options() Options { return Options{Home: p.home, FinalOnly: p.finalOnly} }

// changed is the policy with some of its files replaced, nil if they make none.
func (p *Policy) changed(tiers []Tiered) *Policy {
	out, err := New(p.options(), tiers...)
	if err != nil {
		return nil
	}
	return out
}

// location is where a pattern, a root or a default stands.
type location struct {
	tier      Tier
	workspace string // of a project's own file
	position
}

// at is a place in a file of a tier.
func (t Tiered) at(s position) location { return location{t.Tier, t.Workspace, s} }

// withoutPlaces are tiers without the patterns in some places; rules that have
// none left are gone.
func withoutPlaces(tiers []Tiered, gone []location) []Tiered {
	out := slices.Clone(tiers)
	for i, t := range out {
		spots := map[position]bool{}
		for _, g := range gone {
			if g == t.at(g.position) {
				spots[g.position] = true
			}
		}
		if len(spots) > 0 {
			out[i].File = t.File.without(spots)
		}
	}
	return out
}

// without is a copy of the file without what stands in some places: patterns,
// rules on commands, and sandbox.paths as a whole.
func (f *File) without(gone map[position]bool) *File {
	return f.mapped(func(p *part) {
		p.rules = withoutPatterns(p.rules, gone)
		p.shell = p.shell.without(gone)
		if p.paths != nil && gone[p.paths.position()] {
			p.paths = nil
		}
	})
}

// withoutRoot is a copy of the file in which the sandbox.paths of a place have no
// path of a name.
func (f *File) withoutRoot(at position, name string) *File {
	return f.mapped(func(p *part) {
		if p.paths != nil && p.paths.position() == at {
			one := *p.paths
			one.rules.Roots = slices.DeleteFunc(slices.Clone(one.rules.Roots), func(root sayso.PathRoot) bool { return root.Name == name })
			p.paths = &one
		}
	})
}

// position is where sandbox.paths stands.
func (p *pathPart) position() position { return position{p.line, 0} }

// mapped is a copy of the file with each of its parts changed.
func (f *File) mapped(change func(*part)) *File {
	out := *f
	out.parts = make([]*part, len(f.parts))
	for i, p := range f.parts {
		one := *p
		out.parts[i] = &one
		change(&one)
	}
	change(&out.part)
	return &out
}

func withoutPatterns(rules []*rule, gone map[position]bool) []*rule {
	var out []*rule
	for _, ru := range rules {
		one := *ru
		one.matchers = slices.DeleteFunc(slices.Clone(ru.matchers), func(m *matcher) bool { return gone[m.position] })
		if len(one.matchers) > 0 {
			out = append(out, &one)
		}
	}
	return out
}

func (s *shellPart) without(gone map[position]bool) *shellPart {
	if s == nil || !slices.ContainsFunc(s.places, func(at position) bool { return gone[at] }) {
		return s
	}
	out := &shellPart{line: s.line, said: s.said}
	out.rules.Default = s.rules.Default
	for i, at := range s.places {
		if !gone[at] {
			out.append(s.cut(i, i+1))
		}
	}
	return out
}

// withRules are tiers with rules added to the person's file; where there is
// none, it becomes a file of these rules alone.
func withRules(tiers []Tiered, more *File) []Tiered {
	out := slices.Clone(tiers)
	for i, t := range out {
		if t.Tier == TierUser {
			f := *t.File
			f.rules = append(slices.Clip(f.rules), more.rules...)
			out[i].File = &f
			return out
		}
	}
	return append(out, Tiered{Tier: TierUser, File: more})
}

// with is the policy with rules added to the person's file, which are given as
// the text of a policy. Nil if that is no policy.
func (p *Policy) with(text string) *Policy {
	f, err := Parse(p.own(), []byte(text))
	if err != nil {
		return nil
	}
	return p.changed(withRules(p.tiers, f))
}

// own is the name of the person's file, empty if there is none.
func (p *Policy) own() string {
	for _, t := range p.tiers {
		if t.Tier == TierUser {
			return t.File.Name
		}
	}
	return ""
}

// withDefault are tiers in which the defaults in some places say something else.
func withDefault(tiers []Tiered, where []location, e sayso.Effect) []Tiered {
	out := slices.Clone(tiers)
	for i, t := range out {
		for _, at := range where {
			if at == t.at(at.position) {
				out[i].File = out[i].File.withDefault(at.line, e)
			}
		}
	}
	return out
}

func (f *File) withDefault(line int, e sayso.Effect) *File {
	out := f.mapped(func(p *part) {
		if p.shell != nil && p.shell.line == line {
			one := *p.shell
			one.rules.Default = e
			p.shell = &one
		}
	})
	if out.fallback != nil && out.fallback.Line == line {
		m := *out.fallback
		m.Effect, m.Rule = e, "default: "+e.String()
		out.fallback = &m
	}
	return out
}

// withRoot are tiers in which a path of sandbox.paths is replaced, or added if
// the file has none of its name.
func withRoot(tiers []Tiered, at location, root sayso.PathRoot) []Tiered {
	out := slices.Clone(tiers)
	for i, t := range out {
		if at == t.at(at.position) {
			out[i].File = t.File.mapped(func(p *part) {
				if p.paths != nil && p.paths.position() == at.position {
					p.paths = p.paths.with(root)
				}
			})
		}
	}
	return out
}

func (p *pathPart) with(root sayso.PathRoot) *pathPart {
	out := *p
	out.rules.Roots = slices.Clone(p.rules.Roots)
	for i, old := range out.rules.Roots {
		if old.Name == root.Name {
			out.rules.Roots[i] = root
			return &out
		}
	}
	out.rules.Roots = append(out.rules.Roots, root)
	return &out
}

// withMatcher are tiers in which the pattern in a place is another one.
func withMatcher(tiers []Tiered, at location, m *matcher) []Tiered {
	return withRule(tiers, at, func(ru *rule) {
		ru.matchers = slices.Clone(ru.matchers)
		ru.matchers[slices.IndexFunc(ru.matchers, func(m *matcher) bool { return m.position == at.position })] = m
	})
}

// withRule are tiers in which the rule with the pattern in a place is changed.
func withRule(tiers []Tiered, at location, change func(*rule)) []Tiered {
	out := slices.Clone(tiers)
	for i, t := range out {
		if at != t.at(at.position) {
			continue
		}
		out[i].File = t.File.mapped(func(p *part) {
			p.rules = slices.Clone(p.rules)
			for i, ru := range p.rules {
				if slices.ContainsFunc(ru.matchers, func(m *matcher) bool { return m.position == at.position }) {
					one := *ru
					change(&one)
					p.rules[i] = &one
				}
			}
		})
	}
	return out
}

// withBefore are tiers with rules on commands put before the one in a place.
func withBefore(tiers []Tiered, at location, more *shellPart) []Tiered {
	out := slices.Clone(tiers)
	for i, t := range out {
		if at != t.at(at.position) {
			continue
		}
		out[i].File = t.File.mapped(func(p *part) {
			if p.shell == nil {
				return
			}
			k := slices.Index(p.shell.places, at.position)
			if k < 0 {
				return
			}
			one := &shellPart{line: p.shell.line, said: p.shell.said}
			one.rules.Default = p.shell.rules.Default
			one.append(p.shell.cut(0, k))
			one.append(more)
			one.append(p.shell.cut(k, len(p.shell.places)))
			p.shell = one
		})
	}
	return out
}

// append adds the rules of another part behind.
func (s *shellPart) append(more *shellPart) {
	s.rules.Rules = append(s.rules.Rules, more.rules.Rules...)
	s.patterns = append(s.patterns, more.patterns...)
	s.places = append(s.places, more.places...)
}

// cut are some of the rules.
func (s *shellPart) cut(from, to int) *shellPart {
	return &shellPart{rules: sayso.ShellRules{Rules: s.rules.Rules[from:to]}, patterns: s.patterns[from:to], places: s.places[from:to]}
}
