package shell

import (
	"slices"
	"strings"
)

// Lead returns the words that say which program runs and, where the tables know
// that it has subcommands, which of them: "git status" of git status -s. They are
// the first words of the command, as written, so that [Command.Begins] finds
// them there. What follows the lead does not change which program it is.
//
// It is nil where that cannot be told from these words: the program is dynamic,
// given by a path or in no table; an option stands before the subcommand; the
// subcommand is not known. It is nil for powerful programs too, other than those
// that build and test, which are led by what they are to build, unless that
// deletes or reaches others by its name.
func (c *Command) Lead() []string {
	if !c.Program.Literal() || strings.Contains(c.Program.Text, "/") {
		return nil
	}
	p := known(c.Program.Text)
	if p == nil {
		return nil
	}
	if builds, ok := builders[p.name]; ok {
		return c.builds(p, builds)
	}
	lead := []string{c.Program.Text}
	for _, w := range c.Args {
		if !p.subcommands {
			break
		}
		if !w.Literal() || (len(w.Text) > 1 && w.Text[0] == '-') {
			return nil
		}
		if p = known(p.name + " " + w.Text); p == nil {
			return nil
		}
		lead = append(lead, w.Text)
	}
	if p.subcommands || p.class != ReadOnly && p.class != Ordinary {
		return nil
	}
	return lead
}

// builders are powerful programs that a project is built and tested with, and
// the subcommands that do no more than that; none for those that take the name
// of something to make.
var builders = map[string][]string{
	"go":    {"build", "test", "vet", "fmt", "fix", "mod", "work", "list", "doc", "env", "version"},
	"cargo": {"build", "check", "test", "bench", "clippy", "fmt", "doc", "tree", "metadata"},
	"make":  nil, "gmake": nil, "bmake": nil, "ninja": nil, "just": nil, "task": nil, "rake": nil,
	"gradle": nil, "mvn": nil, "ant": nil,
}

// builds is the lead of a program that builds: its first operand is part of it,
// and must come first. No other may follow that it would make as well.
func (c *Command) builds(p *program, subcommands []string) []string {
	if len(c.Args) == 0 || !c.Args[0].Literal() {
		return nil
	}
	what := c.Args[0].Text
	switch {
	case !target(what), subcommands != nil && !slices.Contains(subcommands, what):
		return nil
	case subcommands == nil && (reaches(what) || c.makesMore(p)):
		return nil
	}
	return []string{c.Program.Text, what}
}

// makesMore reports whether a word behind the first names something else to make:
// what is no option, no value of one and no number.
func (c *Command) makesMore(p *program) bool {
	m := matcher{program: p}
	for i, w := range c.Args[1:] {
		if !dashed(w.Text) && !number(w) && m.takesNext(c.Args[i].Text) != Yes {
			return true
		}
	}
	return false
}

// reaching are parts of the names of what is made, by which it deletes, or
// reaches others.
var reaching = []string{"clean", "deploy", "destroy", "drop", "install", "migrate", "provision", "publish", "purge", "push", "release", "rollback", "upload", "wipe"}

// reaches reports whether the name of a target says that it does more than
// build and test.
func reaches(target string) bool {
	target = strings.ToLower(target)
	return slices.ContainsFunc(reaching, func(part string) bool { return strings.Contains(target, part) })
}

// target reports whether a word is a plain name, as of what make is to make: it
// is no option, no setting and no path.
func target(w string) bool {
	for i := range len(w) {
		switch c := w[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '_' || c == ':'):
		default:
			return false
		}
	}
	return w != ""
}
