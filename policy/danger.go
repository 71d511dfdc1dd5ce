package policy

import (
	stdpath "path"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// risk is how bad a mistake would be: what the kind of the call says, less for
// commands that are known to be harmless, more where the server says so, or
// never said what the tool is.
func (s *subject) risk() sayso.Risk {
	r := s.kind.Risk()
	if s.kind == sayso.KindShell && s.readsCommands() {
		r = s.lineRisk()
	}
	if a := s.call.Annotations; a != nil && isTrue(a.Destructive) {
		r = r.Raise(sayso.RiskDestructive)
	}
	if s.call.Unlisted() { // what says nothing of itself is no milder than what says the worst
		r = r.Raise(sayso.RiskDestructive)
	}
	return r
}

// lineRisk is the risk of a line of which every command is known.
func (s *subject) lineRisk() sayso.Risk {
	l := s.line()
	if len(l.Problems) > 0 {
		return sayso.RiskDestructive
	}
	r := sayso.RiskSafe
	for i := range l.Commands {
		switch c := &l.Commands[i]; {
		case c.Beyond() != nil, !c.Program.Literal(), c.Class == shell.Foreign, c.Class == shell.Powerful:
			return sayso.RiskDestructive
		case c.Class == shell.Ordinary:
			r = r.Raise(sayso.RiskModerate)
		}
	}
	for i := range l.Redirects {
		switch l.Redirects[i].Kind {
		case shell.Write:
			r = r.Raise(sayso.RiskModerate)
		case shell.Network:
			return sayso.RiskDestructive
		}
	}
	for i := range l.Assignments {
		if !l.Assignments[i].Harmless {
			r = r.Raise(sayso.RiskModerate)
		}
	}
	return r
}

// dangers are the dangers in the order in which they are told.
var dangers = [...]sayso.Danger{
	sayso.DangerDelete, sayso.DangerOutside, sayso.DangerNetwork, sayso.DangerPrivilege, sayso.DangerDynamic, sayso.DangerInterpreter,
}

// danger names what demands the slow answer.
func (s *subject) danger() []sayso.Danger {
	if s.operand != sayso.OperandCommand && (s.operand != sayso.OperandPath || s.kind.ReadOnly()) {
		return nil
	}
	found := make(map[sayso.Danger]bool)
	switch {
	case s.operand == sayso.OperandPath && !s.kind.ReadOnly():
		found[sayso.DangerDelete] = s.kind == sayso.KindDelete
		found[sayso.DangerOutside] = !s.inside()
	case s.operand == sayso.OperandCommand && s.state == argGiven:
		s.lineDanger(found)
	}
	var out []sayso.Danger
	for _, d := range dangers {
		if found[d] {
			out = append(out, d)
		}
	}
	return out
}

// traitDangers are the dangers of what commands do.
var traitDangers = map[shell.Kind]sayso.Danger{
	shell.Deletes: sayso.DangerDelete, shell.Discards: sayso.DangerDelete, shell.Privilege: sayso.DangerPrivilege, shell.Sends: sayso.DangerNetwork,
	shell.Inline: sayso.DangerInterpreter, shell.Interpreter: sayso.DangerInterpreter,
}

func (s *subject) lineDanger(found map[sayso.Danger]bool) {
	l := s.line()
	for i := range l.Commands {
		c := &l.Commands[i]
		found[sayso.DangerDynamic] = found[sayso.DangerDynamic] || !c.Program.Literal()
		for _, t := range c.Traits {
			if d := traitDangers[t.Kind]; d != "" {
				found[d] = true
			}
			if t.Target != nil && (t.Kind == shell.Writes || t.Kind == shell.Deletes) && s.mayLeaveWorkspace(*t.Target, c.Dirs) {
				found[sayso.DangerOutside] = true
			}
		}
	}
	for i := range l.Redirects {
		r := &l.Redirects[i]
		if r.Kind == shell.Network {
			found[sayso.DangerNetwork] = true
		}
		if r.Kind == shell.Write && s.mayLeaveWorkspace(r.Target, r.Dirs) {
			found[sayso.DangerOutside] = true
		}
	}
	for _, t := range l.Problems {
		if t.Kind == shell.Shadow || t.Kind == shell.Unknown {
			found[sayso.DangerDynamic] = true
		}
	}
}

// mayLeaveWorkspace reports whether a word names a place outside the workspace, or one
// that nobody knows.
func (s *subject) mayLeaveWorkspace(w shell.Word, dirs []shell.Dir) bool {
	if w.Dynamic&shell.Tilde != 0 {
		return true
	}
	names, ok := s.wordNames(w, dirs)
	if !ok {
		return w.Unknown() || !w.Known()
	}
	for _, name := range names {
		at := stdpath.Clean(name)
		if o := s.place(name); o != nil && o.Resolved != "" {
			at = o.Resolved
		}
		if !sayso.Beneath(s.facts.Workspace, at) {
			return true
		}
	}
	return false
}
