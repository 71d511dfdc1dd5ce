package policy

import (
	"slices"
	"strings"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// plain reports whether all that a line runs is in the list of its commands: it
// was read to its end, every program and argument is known, no option or
// variable runs something else, and nothing is handed to a shell. What such a
// line says about us in its texts is text.
func (s *subject) plain() bool {
	if s.plainly == 0 {
		s.plainly = -1
		if s.readsCommands() && isPlain(s.line()) {
			s.plainly = 1
		}
	}
	return s.plainly > 0
}

func isPlain(l *shell.Line) bool {
	if !l.Understood() || len(l.Problems) > 0 || slices.ContainsFunc(l.Assignments, func(a shell.Assignment) bool { return !a.Harmless }) {
		return false
	}
	for i := range l.Commands {
		c := &l.Commands[i]
		if c.Open || c.Beyond() != nil || !c.Program.Literal() || slices.ContainsFunc(c.Args, shell.Word.Unknown) {
			return false
		}
	}
	return true
}

// ownPlain finds the command of a line that runs us to answer.
func (s *subject) ownPlain() (shell.Span, bool) {
	if !s.readsCommands() {
		return shell.Span{}, false
	}
	l := s.line()
	for i := range l.Commands {
		c := &l.Commands[i]
		looked := c.By >= 0 && l.Commands[c.By].Has(shell.LooksUp)
		if c.Program.Known() && !looked && isUs(strings.ToLower(c.Base())) && answers(c.Args) {
			return c.Span, true
		}
	}
	return shell.Span{}, false
}

// handsOver reports whether an interpreter of a plain line is given a text that
// has our name with one of the verbs in it: among its words, or by way of a
// pipe, a here-document or a file that the line writes.
func (s *subject) handsOver() bool {
	if !mentions(s.arg) {
		return false
	}
	l := s.line()
	written := slices.ContainsFunc(l.Redirects, func(r shell.Redirect) bool { return r.Kind == shell.Body || r.Kind == shell.Write }) ||
		slices.ContainsFunc(l.Commands, func(c shell.Command) bool { return c.Has(shell.Writes) })
	for i := range l.Commands {
		c := &l.Commands[i]
		if name := strings.ToLower(c.Base()); !interpreters[versionless(name)] && !shells[name] && !c.Has(shell.Interpreter) {
			continue
		}
		if written || c.Place&shell.InPipe != 0 || mentions(s.arg[c.Span.From:c.Span.To]) {
			return true
		}
	}
	return false
}

// runsUsPlainly reports whether a command of a plain line may run us: it is
// ours, and which of our commands is not written out, or it may run what is in
// its words and they name us.
func (s *subject) runsUsPlainly() bool {
	l := s.line()
	for i := range l.Commands {
		c := &l.Commands[i]
		name := strings.ToLower(c.Base())
		if isUs(name) && slices.ContainsFunc(c.Args, func(w shell.Word) bool { return !w.Literal() }) {
			return true
		}
		if (commandRunners[name] || mayRun(c)) && slices.ContainsFunc(c.Words(), func(w shell.Word) bool { return namesUs(w.Text) }) && (commandRunners[name] || wordsRunUs(c)) {
			return true
		}
	}
	return false
}

// mayRun reports whether a command may run what is in its words, for all that
// is known of it.
func mayRun(c *shell.Command) bool {
	return (c.Class == shell.Foreign || c.Class == shell.Powerful) && !readOnlyPrograms[c.Base()]
}

func wordsRunUs(c *shell.Command) bool {
	for i, w := range c.Args {
		text := strings.ToLower(w.Text)
		if isUs(base(text)) && answers(c.Args[i+1:]) || mentions(text) || namesUs(text) && strings.ContainsAny(text, "$`") {
			return true
		}
	}
	return false
}
