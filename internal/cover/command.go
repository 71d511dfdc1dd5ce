package cover

import (
	stdpath "path"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// commands are the covers of a command: its words, and its tool.
func (s *Subject) commands() []covered {
	command := s.command()
	if command == nil {
		return nil
	}
	var out []covered
	place := s.place()
	if lead := command.Lead(); lead != nil {
		c := s.of(sayso.CoverPrefix)
		c.Place, c.Parts = place, lead
		words := strings.Join(lead, " ")
		c.label, c.pattern = words+" with any plain arguments"+within(place), s.name()+":"+words+"*"
		out = append(out, c)
	}
	if command.Class == shell.ReadOnly || command.Class == shell.Ordinary {
		c := s.of(sayso.CoverTool)
		c.Place = place
		c.label, c.pattern = "any plain command that looks or changes files"+within(place), s.name()
		out = append(out, c)
	}
	return out
}

// command is the one command of a line that is plain through and through: read
// whole, literal but for the names of files, run by the shell itself where the
// line began, with no effect besides what its program does.
func (s *Subject) command() *shell.Command {
	text, ok := s.primary()
	if !ok || s.Call.Known().Operand != sayso.OperandCommand {
		return nil
	}
	line := shell.Inspect(text)
	if !line.Understood() || len(line.Problems) > 0 || len(line.Commands) != 1 || len(line.Assignments) > 0 {
		return nil
	}
	for _, r := range line.Redirects {
		if r.Kind != shell.Null && r.Kind != shell.Duplicate || r.Command != 0 {
			return nil // one of no command is a line of its own: </dev/null; ls
		}
	}
	c := &line.Commands[0]
	if strings.ContainsAny(text[:c.Span.From], ";&|\n") {
		return nil // what stands before it runs nothing, and is a line of its own: time -p; ls
	}
	if !plain(c) || slices.ContainsFunc(c.Args, climbs) || slices.ContainsFunc(c.Operands(), s.leaves) {
		return nil
	}
	return c
}

// climbs reports whether a word may lead to a parent: whatever a program takes it
// apart by, and whichever of the letters behind a hyphen are options.
func climbs(w shell.Word) bool {
	text := w.Text
	if strings.HasPrefix(text, "-") {
		text = strings.TrimLeft(text, "-"+letters)
	}
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/=:,", r) }), "..")
}

const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// leaves reports whether a word may name a file outside the place of the call,
// or one that is guarded. Of names with globs those that may be are taken to be.
func (s *Subject) leaves(w shell.Word) bool {
	name := w.Text
	if !strings.HasPrefix(name, "/") {
		name = s.cwd() + "/" + name
	} else if !sayso.Beneath(s.place(), stdpath.Clean(name)) {
		return true
	}
	if w.Dynamic&shell.Glob != 0 {
		return strings.Contains("/"+strings.TrimPrefix(w.Text, "./"), "/.") || path.CredentialGlob(w.Text) || path.ControlGlob(w.Text)
	}
	return path.Credential(name) || path.Control(name)
}

func plain(c *shell.Command) bool {
	if c.By >= 0 || c.Open || c.Place != 0 || !c.Program.Literal() || c.Class == shell.Foreign || strings.Contains(c.Program.Text, "/") {
		return false
	}
	for _, t := range c.Traits {
		if t.Kind != shell.LooksUp {
			return false
		}
	}
	elsewhere := func(d shell.Dir) bool { return d.Unknown || len(d.Steps) > 0 }
	return !slices.ContainsFunc(c.Dirs, elsewhere) && !slices.ContainsFunc(c.Args, func(w shell.Word) bool { return !w.Known() })
}
