package policy

import (
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// proposedRule is what could be written for a call not to be asked about again: the
// patterns of one rule, and a condition that keeps them from more than is meant.
type proposedRule struct {
	patterns []string
	when     string
}

// The conditions that go with wide patterns.
const (
	whenPlainCommand = "!call.secrets && !call.commands.exists(c, c.outside)"
	whenNoSecrets    = "!call.secrets"
)

// proposedRules are the rules that may be suggested for a call, narrowest first; none
// for one that a person should go on seeing. That is whatever is dangerous, was
// not understood, runs another program or a text as a program, deletes, sends,
// shows secrets, or is known too little of.
func (s *subject) proposedRules(v *sayso.Verdict) []proposedRule {
	if len(v.Danger) > 0 || v.Person || s.kind != s.tool.Kind || s.unheard || s.strange || !s.state.understood() || s.kind == sayso.KindDelete {
		return nil
	}
	name := s.patternName()
	switch s.operand {
	case sayso.OperandCommand:
		return s.proposedCommandRules(name)
	case sayso.OperandPath:
		return s.proposedPathRules(name)
	case sayso.OperandURL:
		return s.proposedURLRules(name)
	case sayso.OperandNone:
		a := s.call.Annotations
		if s.server != "" && !s.guessed && a != nil && isTrue(a.ReadOnly) && !isTrue(a.Destructive) {
			return []proposedRule{{patterns: []string{"mcp__" + s.server + "__" + s.canonical}}}
		}
	}
	return nil
}

func (s *subject) proposedCommandRules(name string) []proposedRule {
	commands, ok := s.harmlessCommands()
	if !ok {
		return nil
	}
	var narrow, wide proposedRule
	for _, c := range commands {
		exact, ends := exactPattern(c)
		lead := wideLead(c)
		if !ends && lead == nil {
			return nil
		}
		starred := name + ":" + strings.Join(lead, " ") + "*"
		if !ends {
			exact = strings.Join(lead, " ") + "*"
		}
		narrow.add(name+":"+exact, !ends && len(lead) == 1)
		if lead == nil {
			wide.add(name+":"+exact, false)
		} else {
			wide.add(starred, len(lead) == 1)
		}
	}
	if slices.Equal(narrow.patterns, wide.patterns) {
		return []proposedRule{narrow}
	}
	return []proposedRule{narrow, wide}
}

// add adds a pattern on commands. Open says that it is about a program with
// whatever operands, which may lie anywhere.
func (w *proposedRule) add(pattern string, open bool) {
	if !slices.Contains(w.patterns, pattern) {
		w.patterns = append(w.patterns, pattern)
	}
	if open {
		w.when = whenPlainCommand
	}
}

// harmlessCommands are the commands of a line of which nothing is dangerous and
// everything is known.
func (s *subject) harmlessCommands() ([]*shell.Command, bool) {
	if !s.readsCommands() {
		return nil, false
	}
	l := s.line()
	if !l.Understood() || len(l.Problems) > 0 || len(l.Expressions) > 0 || len(l.Commands) == 0 || len(l.Commands) > maxProposed || hiddenGlob(l) {
		return nil, false
	}
	for i := range l.Redirects {
		if k := l.Redirects[i].Kind; k != shell.Null && k != shell.Duplicate {
			return nil, false
		}
	}
	if slices.ContainsFunc(l.Assignments, func(a shell.Assignment) bool { return !a.Harmless }) {
		return nil, false
	}
	var out []*shell.Command
	for i := range l.Commands {
		c := &l.Commands[i]
		if c.By >= 0 && l.Commands[c.By].Has(shell.LooksUp) {
			continue // it is named and not run
		}
		if !isHarmlessCommand(c) {
			return nil, false
		}
		if c.Class != shell.ReadOnly && slices.ContainsFunc(c.Dirs, func(d shell.Dir) bool { return s.outside(c, d) }) {
			return nil, false
		}
		out = append(out, c)
	}
	return out, len(out) > 0 && !s.conditionCall().Secrets
}

// isHarmlessCommand reports whether a command is one of which a rule may be suggested.
func isHarmlessCommand(c *shell.Command) bool {
	if c.Base() == "man" && formatsFile(c) {
		return false
	}
	if c.By >= 0 || c.Open || !c.Program.Literal() || strings.Contains(c.Program.Text, "/") || c.Class == shell.Foreign || textLanguages[c.Base()] {
		return false
	}
	for _, t := range c.Traits {
		switch t.Kind {
		case shell.LooksUp, shell.Reads, shell.State, shell.Moves:
		default:
			return false
		}
	}
	switch c.Class {
	case shell.Ordinary:
		return fileChangers[strings.Join(c.Lead(), " ")]
	case shell.Powerful:
		return c.Lead() != nil || testRunners[c.Base()]
	}
	return true
}

// formatsFile reports whether man formats a file of its words, which is a program
// of roff, rather than a page of the manual.
func formatsFile(c *shell.Command) bool {
	return slices.ContainsFunc(c.Args, func(w shell.Word) bool {
		return strings.Contains(w.Text, "/") || strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "l")
	})
}

// hiddenGlob reports whether a line has a glob for files whose names begin with a
// dot, as those with secrets do: in the words of its commands, or in what stands
// beside them, as the words that a loop goes over.
func hiddenGlob(l *shell.Line) bool {
	beside := []byte(l.Text)
	for i := range l.Commands {
		c := &l.Commands[i]
		for k := c.Span.From; k < min(c.Span.To, len(beside)); k++ {
			beside[k] = ' '
		}
		for _, w := range c.Words() {
			if w.Dynamic&shell.Glob != 0 && dottedGlob(w.Text) {
				return true
			}
		}
	}
	return slices.ContainsFunc(strings.FieldsFunc(string(beside), func(r rune) bool { return strings.ContainsRune(" \t\n;&|<>{},=\"'\\", r) }), dottedGlob)
}

// dottedGlob reports whether a name in a path begins with a dot and holds a glob.
func dottedGlob(text string) bool {
	for name := range strings.SplitSeq(text, "/") {
		if strings.HasPrefix(name, ".") && strings.ContainsAny(name, "*?[(") {
			return true
		}
	}
	return false
}

// textLanguages are programs that run a program in a language of their own which
// stands among their words, and of which that word can say anything.
var textLanguages = set("awk", "gawk", "mawk", "nawk", "original-awk", "sed", "gsed")

// testRunners are programs that a project's own tests are run with: powerful, since
// the tests are, and what an agent does all day.
var testRunners = set("pytest", "py.test", "jest", "vitest", "mocha", "rspec", "phpunit", "ctest", "tsc")

// fileChangers are commands that change files, of which all uses are alike: none
// deletes, overwrites or throws work away.
var fileChangers = set("git add", "git stage", "git commit", "mkdir", "touch")

// buildTools take what they are to build as operands, and do no more than that.
var buildTools = set("go", "cargo")

// wideLead is the lead of a command that may be suggested with any words behind
// it, nil if none may.
func wideLead(c *shell.Command) []string {
	lead := c.Lead()
	switch {
	case lead == nil, c.Class == shell.Foreign:
	case c.Class == shell.ReadOnly, c.Class == shell.Ordinary,
		c.Class == shell.Powerful && buildTools[lead[0]]:
		for i, word := range lead {
			lead[i] = shellQuoted(word)
		}
		return lead
	}
	return nil
}

// exactPattern is the pattern of exactly these words; ok is false if they cannot
// be written as one.
func exactPattern(c *shell.Command) (text string, ok bool) {
	text, ok = commandText(c, 0)
	return text, ok && !strings.HasSuffix(text, "*")
}

func (s *subject) proposedPathRules(name string) []proposedRule {
	reads := s.kind.ReadOnly()
	if s.credential() || s.showsSecrets() || !reads && !s.inside() || !s.harmless() {
		return nil
	}
	var found []string
	s.pathProposals(name, func(p ...string) { found = append(found, p[0]) })
	inside := s.inside()
	var out []proposedRule
	for i, p := range found {
		place := strings.TrimPrefix(p, name+":")
		folder, wide := strings.CutSuffix(place, "/**")
		switch {
		case place == "**" || folder == "" || place == "." || strings.ContainsAny(folder, "*?[{\\"):
		case !inside && (i > 1 || sayso.Beneath(folder, s.home) || sayso.Beneath(folder, s.facts.Workspace)):
			// Somewhere else it is the file, or the folder that it is in.
		case wide:
			out = append(out, proposedRule{[]string{p}, whenNoSecrets})
		default:
			out = append(out, proposedRule{[]string{p}, ""})
		}
	}
	return out
}

func (s *subject) proposedURLRules(name string) []proposedRule {
	u := s.address()
	if u.Odd != "" || u.Local || u.Scheme != "https" || s.kind != sayso.KindFetch {
		return nil
	}
	var out []proposedRule
	s.urlProposals(name, func(p ...string) {
		if strings.HasPrefix(p[0], name+":https://") && !strings.ContainsAny(strings.TrimSuffix(p[0], "/*"), "*?") {
			out = append(out, proposedRule{[]string{p[0]}, ""})
		}
	})
	return out
}
