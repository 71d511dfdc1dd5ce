package policy

import (
	"slices"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// line takes the command of a call apart, once.
func (s *subject) line() *shell.Line {
	if s.inspected == nil {
		s.inspected = s.inspect(shell.Inspect)
	}
	return s.inspected
}

// inspect reads the line. Should the reader break on it, the line is one that
// was not understood, and denials look for their programs in its text.
func (s *subject) inspect(read func(string) *shell.Line) (l *shell.Line) {
	defer func() {
		if recover() != nil {
			s.broke = true
			l = &shell.Line{Text: s.arg, Problems: []shell.Problem{{
				Span: shell.Span{From: 0, To: len(s.arg)}, Kind: shell.Unparsed, What: "the reader of commands broke on it",
			}}}
		}
	}()
	return read(s.arg)
}

// mentioned looks for a pattern in a line that was not understood.
func (s *subject) mentioned(p *commandPattern) (shell.Span, bool) {
	if span, ok := p.mentioned(s.line()); ok || !s.broke {
		return span, ok
	}
	for i := range s.programs() {
		if one := &s.progs[i]; p.equal(p.words[0], one.name) {
			at := one.span(1)
			return shell.Span{From: at[0], To: at[1]}, true
		}
	}
	return shell.Span{}, false
}

// lineJudge collects what is said of the commands of a line.
type lineJudge struct {
	p     *Policy
	s     *subject
	line  *shell.Line
	rules []int8 // by order: 0 not looked at, 1 may speak of this call, -1 may not

	said      []matched       // each entry once, where it spoke first
	spoke     map[*entry]bool //
	unmatched int             // the first command that no rule spoke of, -1 if there is none
	handed    []*commandPattern
}

func (p *Policy) lineJudge(s *subject) *lineJudge {
	return &lineJudge{
		p: p, s: s, line: s.line(), rules: make([]int8, len(p.index.commands.all)), spoke: make(map[*entry]bool), unmatched: -1, handed: p.handedCommands(s),
	}
}

// commandsSaid returns what the rules say of the commands of a line: of every
// command for itself, so that one that no rule speaks of is not passed by what
// they say of another. Unmatched is the index of the first such command, -1 if
// there is none.
func (p *Policy) commandsSaid(s *subject) (said []matched, unmatched int) {
	j := p.lineJudge(s)
	for i := range j.line.Commands {
		c := &j.line.Commands[i]
		if c.By >= 0 && j.line.Commands[c.By].Has(shell.LooksUp) {
			continue // it is named and not run
		}
		if !j.command(c) && j.unmatched < 0 {
			j.unmatched = i
		}
	}
	if !j.line.Understood() || len(j.line.Commands) == 0 {
		j.text()
	}
	if len(j.line.Commands) > 1 {
		j.widen()
	}
	return j.said, j.unmatched
}

// active reports whether a rule may speak of the tool of this call.
func (j *lineJudge) active(r *commandRule) bool {
	if state := j.rules[r.order]; state != 0 {
		return state > 0
	}
	ok := r.scope.holds(j.s, r.effect)
	if ok && r.part == 0 {
		ok = r.m.speaksOf(j.s, r.effect == sayso.Allow)
	}
	j.rules[r.order] = -1
	if ok {
		j.rules[r.order] = 1
	}
	return ok
}

// speaksOf reports whether a pattern is about the tool of the call.
func (m *matcher) speaksOf(s *subject, allow bool) bool {
	if m.name != "" {
		return m.name == s.canonical || m.name == s.call.Tool || !allow && s.mayBeTool(m.name)
	}
	return m.matchTool(s, allow)
}

// command asks the rules about one command, and reports whether any spoke.
func (j *lineJudge) command(c *shell.Command) bool {
	var found []matched
	decided := 0 // the part whose rules on commands have spoken
	var parts map[int]bool
	spelled := c.Spellings()
	j.p.index.commands.candidates(c, spelled, func(r *commandRule) {
		if r.part != 0 && r.effect != sayso.Deny && (r.part == decided || parts[r.part]) || !j.active(r) {
			return
		}
		fit := r.fits(j.s, c, spelled)
		if fit == shell.No {
			return
		}
		m := r.says
		m.Span = r.pattern.span(c)
		if r.effect == sayso.Allow {
			m.Span = [2]int{c.Span.From, c.Span.To}
		}
		if fit == shell.Perhaps {
			m = perhaps(m)
		}
		m, ok := r.applyCondition(j.s, m)
		if !ok {
			return
		}
		if r.tier != TierRepo || m.Effect != sayso.Allow { // a project's own file only tightens
			found = append(found, matched{e: r.entry, m: m})
		}
		if r.part != 0 && fit == shell.Yes && r.effect != sayso.Deny {
			if decided != 0 {
				if parts == nil {
					parts = make(map[int]bool)
				}
				parts[decided] = true
			}
			decided = r.part
		}
	})
	found = j.p.delegated(found, func() bool {
		return slices.ContainsFunc(j.handed, func(p *commandPattern) bool { return p.covers(c) })
	})
	for _, h := range found {
		j.say(h)
	}
	return len(found) > 0
}

// perhaps is what a rule says of a command that may be what it speaks of: at
// least to be asked about.
func perhaps(m sayso.Match) sayso.Match {
	if m.Effect == sayso.Deny {
		m.Effect, m.Cause, m.Person, m.Reason = sayso.Ask, sayso.CauseNotUnderstood, true, "the command may be one that this rule denies: "+m.Reason
	}
	return m
}

// say keeps what an entry says where it spoke first, and its strictest word.
func (j *lineJudge) say(h matched) {
	if !j.spoke[h.e] {
		j.spoke[h.e] = true
		j.said = append(j.said, h)
		return
	}
	for i := range j.said {
		if old := &j.said[i]; old.e == h.e && h.m.Effect < old.m.Effect {
			*old = h
		}
	}
}

// text asks the rules that deny or ask about a text that was not read to its
// end.
func (j *lineJudge) text() {
	for _, r := range j.p.index.commands.all {
		if r.effect == sayso.Allow || !j.active(r) || r.named != nil && r.effect != sayso.Deny {
			continue
		}
		span, ok := j.s.mentioned(r.pattern)
		if !ok {
			continue
		}
		m := r.says
		m.Span = [2]int{span.From, span.To}
		if r.named != nil {
			m = perhaps(m)
		}
		if m, ok = r.applyCondition(j.s, m); ok {
			j.say(matched{e: r.entry, m: m})
		}
	}
}

// widen makes the whole line the span of what allows one of its commands: all
// of them decided.
func (j *lineJudge) widen() {
	for i := range j.said {
		if j.said[i].m.Effect == sayso.Allow {
			j.said[i].m.Span = [2]int{0, len(j.line.Text)}
		}
	}
}
