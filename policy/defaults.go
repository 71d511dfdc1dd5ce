package policy

import (
	"github.com/sayso-dev/sayso"
)

// defaultRule is what a file says where no rule does.
type defaultRule struct {
	m     sayso.Match
	shell bool // of commands
	said  bool // the file says it, and it does not follow from a shell without a default
	file  *File
	tier  Tier
	scope *scope
}

// addFallbacks takes the defaults of a part over.
func (p *Policy) addFallbacks(t Tiered, part *part, sc *scope) {
	if part == &t.File.part && t.File.fallback != nil {
		p.fallbacks = append(p.fallbacks, defaultRule{m: *t.File.fallback, said: true, file: t.File, tier: t.Tier, scope: sc})
	}
	if part.shell == nil {
		return
	}
	e := part.shell.rules.Default
	m := sayso.Match{
		Effect: e, Cause: sayso.CauseDefault, Rule: "shell.default: " + e.String(), File: t.File.Name, Line: part.shell.line,
		Reason: "no rule speaks about this command, and the policy's default for commands is to " + e.String(),
	}
	p.fallbacks = append(p.fallbacks, defaultRule{m: m, shell: true, said: part.shell.said, file: t.File, tier: t.Tier, scope: sc})
}

// otherwise is what holds if nothing speaks: the strictest default of the
// files, or where that allows, what must be asked about all the same.
func (p *Policy) otherwise(s *subject) sayso.Match {
	m := p.pathDefault(s)
	if m == nil {
		d := p.strictestDefault(s)
		m = &d
		if stricter := s.defaultFloor(); m.Effect == sayso.Allow && stricter != nil {
			m = stricter
		}
	}
	return spanned(*m, 0, len(s.arg))
}

// strictestDefault is the strictest of what the files say once. What a file
// says of commands stands for what it says of everything.
func (p *Policy) strictestDefault(s *subject) sayso.Match {
	said := false
	out := builtinDefault
	for i := range p.fallbacks {
		f := &p.fallbacks[i]
		if !f.scope.holds(s, sayso.Deny) || f.tier == TierRepo && f.m.Effect == sayso.Allow {
			continue
		}
		if f.shell != (s.kind == sayso.KindShell && p.saysShell(s, f.file)) {
			continue
		}
		if !said || f.m.Effect < out.Effect {
			out, said = f.m, true
		}
	}
	return out
}

// saysShell reports whether a file has a default for commands that holds here.
func (p *Policy) saysShell(s *subject, file *File) bool {
	for i := range p.fallbacks {
		if f := &p.fallbacks[i]; f.shell && f.file == file && f.scope.holds(s, sayso.Deny) {
			return true
		}
	}
	return false
}

// pathDefault is what the roots say of a path where no rule does, nil if they
// say nothing.
func (p *Policy) pathDefault(s *subject) *sayso.Match {
	if len(p.rooted) == 0 {
		return nil
	}
	_, unsaid := p.pathSaid(s)
	if len(unsaid) == 0 {
		return nil
	}
	m := sayso.Combine(unsaid, unsaid[0])
	return &m
}

func (s *subject) defaultFloor() *sayso.Match {
	switch {
	case s.kind == sayso.KindShell && !s.readsCommands():
		return &defaultShell
	case s.operand == sayso.OperandPath && !s.inside():
		return &defaultOutside
	case s.operand == sayso.OperandPath && !s.kind.ReadOnly():
		return &defaultWrite
	case s.operand == sayso.OperandURL && s.address().Local:
		return &defaultLocal
	case s.call.Annotations != nil && isTrue(s.call.Annotations.Destructive):
		return &defaultDestructive
	}
	return nil
}
