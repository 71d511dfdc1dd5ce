package policy

import (
	"slices"

	"github.com/sayso-dev/sayso"
)

// judge says what the policy thinks of a call of the kind that it says. Gaps are
// filled in for a call that is looked back at, and nil for others.
func (p *Policy) judge(c *sayso.Call, f *sayso.Facts, g *gaps) sayso.Verdict {
	s := &subject{gaps: g}
	s.of(c, f, p.home)
	v := sayso.Verdict{Policy: p.version, Deadline: p.deadline, Risk: s.risk(), Default: p.otherwise(s)}
	v.Danger = s.danger()
	if m, ok := s.final(); ok {
		v.Match, v.Matches = m, []sayso.Match{m}
		s.inPatch(&v)
		return v
	}
	spoken, rest := p.said(s)
	p.speak(&v, spoken)
	v.Matches = append(v.Matches, p.floors(s)...)
	for _, h := range spoken { // where a floor asks as well, it is the reason, and not a rule that may be meant
		if h.near {
			v.Matches = append(v.Matches, h.m)
		}
	}
	v.Matches = append(v.Matches, p.misread(s)...)
	switch {
	case !slices.ContainsFunc(spoken, func(h matched) bool { return !h.near }):
		v.Matches = p.unruled(s, v.Matches, v.Default)
	case rest != nil:
		v.Matches = append(v.Matches, *rest)
	}
	v.Match = sayso.Combine(v.Matches, v.Default)
	s.inPatch(&v)
	return v
}

// said returns what the rules say of the call. Rest is the default, where a
// part of the call has no rule that speaks of it.
func (p *Policy) said(s *subject) (spoken []matched, rest *sayso.Match) {
	switch {
	case s.readsCommands():
		return p.lineSaid(s)
	case s.operand == sayso.OperandCommand && s.state == argGiven:
		return p.foreignSaid(s), nil
	}
	spoken = p.delegated(p.index.match(s), func() bool {
		return slices.ContainsFunc(p.delegates, func(m *matcher) bool { return m.allows(s) })
	})
	said, _ := p.pathSaid(s)
	for _, m := range said {
		spoken = append(spoken, matched{m: m})
	}
	return spoken, nil
}

// lineSaid returns what the rules say of the commands of a line, and the
// default for those that no rule speaks of.
func (p *Policy) lineSaid(s *subject) (spoken []matched, rest *sayso.Match) {
	l := s.line()
	spoken, unmatched := p.commandsSaid(s)
	m := p.otherwise(s)
	switch {
	case len(spoken) == 0:
		return nil, nil
	case unmatched >= 0:
		m = spanned(m, l.Commands[unmatched].Span.From, l.Commands[unmatched].Span.To)
	case m.Effect == sayso.Deny && (!l.Understood() || len(l.Commands) == 0):
		// What was not read is not allowed by what was.
	default:
		return spoken, nil
	}
	return spoken, &m
}

// foreignSaid returns what the rules say of the line of a shell that is not
// bash: an allow is the exact text, the others are looked for as if it were.
func (p *Policy) foreignSaid(s *subject) []matched {
	said, _ := p.commandsSaid(s)
	said = slices.DeleteFunc(said, func(h matched) bool { return h.m.Effect == sayso.Allow })
	for _, r := range p.index.commands.all {
		if r.exactly(s) {
			if m, ok := r.applyCondition(s, spanned(r.says, 0, len(s.arg))); ok {
				said = append(said, matched{e: r.entry, m: m})
			}
		}
	}
	return said
}

// exactly reports whether an allow has the exact text of a line.
func (r *commandRule) exactly(s *subject) bool {
	return !s.strange && r.effect == sayso.Allow && r.part == 0 && r.m.exact != "" && r.m.exact == s.arg && r.scope.holds(s, sayso.Allow) && r.m.speaksOf(s, true)
}

// speak adds what was said to the verdict, but for what nearly speaks, of which
// it takes the title and the danger alone.
func (p *Policy) speak(v *sayso.Verdict, spoken []matched) {
	strictest := sayso.Allow + 1
	for _, h := range spoken {
		if !h.near {
			v.Matches = append(v.Matches, h.m)
		}
		if h.e == nil {
			continue
		}
		if h.e.danger && !slices.Contains(v.Danger, sayso.DangerRule) {
			v.Danger = append(v.Danger, sayso.DangerRule)
		}
		if h.e.title != "" && h.e.effect < strictest {
			strictest, v.Title = h.e.effect, h.e.title
		}
	}
}

// delegated drops the asks of the organisation where it lets others decide and
// one of them allows.
func (p *Policy) delegated(spoken []matched, handed func() bool) []matched {
	if len(p.delegates) == 0 {
		return spoken
	}
	orgAsks := func(h matched) bool { return h.e != nil && h.e.tier == TierOrg && h.m.Effect == sayso.Ask }
	allowed := slices.ContainsFunc(spoken, func(h matched) bool { return h.e != nil && h.e.tier == TierUser && h.m.Effect == sayso.Allow })
	if !allowed || !slices.ContainsFunc(spoken, orgAsks) || !handed() {
		return spoken
	}
	return slices.DeleteFunc(spoken, orgAsks)
}

// allows reports whether an allow with this pattern would speak of the call.
func (m *matcher) allows(s *subject) bool {
	e := entry{m: m, effect: sayso.Allow}
	_, ok := e.matches(s)
	return ok && m.speaksOf(s, true)
}

// handedCommands are the patterns on commands that the organisation lets others
// decide about.
func (p *Policy) handedCommands(s *subject) []*commandPattern {
	var out []*commandPattern
	for _, m := range p.delegates {
		switch {
		case !m.speaksOf(s, true):
		case m.command != nil:
			out = append(out, m.command)
		case m.operand == sayso.OperandNone:
			out = append(out, anyCommand)
		}
	}
	return out
}

// unruled adds what holds where no rule spoke: a built-in, or a default that is
// stricter than the floors. Asks of ours tighten; where the default denies, they
// are silent.
func (p *Policy) unruled(s *subject, floors []sayso.Match, otherwise sayso.Match) []sayso.Match {
	if !p.finalOnly {
		m, ok := s.builtin()
		if ok && (m.Effect != sayso.Ask || otherwise.Effect != sayso.Deny) && !(m.Effect == sayso.Allow && p.rooting(s)) {
			return append(floors, m)
		}
	}
	if len(floors) > 0 && otherwise.Effect == sayso.Deny {
		return append(floors, otherwise)
	}
	return floors
}

// rooting reports whether a file says where this call may read and write: then
// we do not allow by ourselves. A project's own file says only where it may not.
func (p *Policy) rooting(s *subject) bool {
	return s.operand == sayso.OperandPath && slices.ContainsFunc(p.rootsHold(s), func(r *rootRules) bool { return r.tier != TierRepo })
}

// readsCommands reports whether the call is a line of bash that can be read.
func (s *subject) readsCommands() bool {
	return s.operand == sayso.OperandCommand && s.state == argGiven && isBash(s.tool) && s.server == "" && !s.strange
}
