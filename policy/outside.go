package policy

import (
	stdpath "path"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// outside reports whether a command that stands in a folder runs, reads or
// writes outside the workspace, or may. A word that begins at the root and names
// nothing is taken for a pattern or a text where a program may be given one.
func (s *subject) outside(c *shell.Command, dir shell.Dir) bool {
	if dir.Unknown || !s.encloses(enter(s.cwd(), dir.Steps)) || len(dir.Steps) > 0 && s.entersLink(enter(s.cwd(), dir.Steps)) {
		return true
	}
	dirs := []shell.Dir{dir}
	for _, w := range c.Operands() {
		if s.wordOutside(w, dirs, c.Class != shell.ReadOnly || searching[c.Base()]) {
			return true
		}
	}
	for _, t := range c.Traits {
		if t.Target != nil && (t.Kind == shell.Writes || t.Kind == shell.Deletes) && !streams[t.Target.Text] && s.leaves(*t.Target, dirs) {
			return true
		}
	}
	return false
}

// streams are what programs write to and read from where no file is meant.
var streams = set("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr")

// entersLink reports whether a folder that the line enters was found to be a
// link out of the workspace, or to lie behind one.
func (s *subject) entersLink(folder string) bool {
	s.look()
	for name, o := range s.looked {
		if o.Resolved != "" && !sayso.Beneath(s.facts.Workspace, o.Resolved) && sayso.Beneath(stdpath.Clean(name), folder) && s.encloses(name) {
			return true
		}
	}
	return false
}

// encloses reports whether a folder, as it is written, lies in the workspace.
func (s *subject) encloses(folder string) bool {
	if s.facts.Workspace == "" || folder == "" {
		return false
	}
	folder = stdpath.Clean(folder)
	if sayso.Beneath(s.facts.Workspace, folder) {
		return true
	}
	// The directory of the call may be written by way of a link.
	rest, ok := strings.CutPrefix(folder, stdpath.Clean(s.cwd()))
	return ok && (rest == "" || rest[0] == '/') && sayso.Beneath(s.facts.Workspace, stdpath.Join(s.facts.Cwd, rest))
}

// searching are programs that only look, and that are given patterns too.
var searching = set("grep", "ggrep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "sed", "gsed", "awk", "gawk", "mawk", "nawk", "jq", "yq", "find", "fd", "git", "tr", "cut", "printf", "echo", "expr", "test", "[")

// wordOutside reports whether an operand names something outside the workspace.
// Patterns says that it may be no name at all.
func (s *subject) wordOutside(w shell.Word, dirs []shell.Dir, patterns bool) bool {
	switch {
	case w.Literal() && (w.Text == "" || streams[w.Text]):
		return false
	case !w.Known():
		return true
	case strings.Contains(w.Text, "{") && !w.Literal():
		return true // too many words to look at
	case w.Dynamic&shell.Glob != 0:
		return s.globOutside(w.Text, dirs)
	}
	w.Dynamic = 0 // one of the words of a list in braces
	s.look()
	names, ok := s.wordNames(w, dirs)
	for _, name := range names {
		if o := s.place(name); o == nil || o.Resolved == "" {
			ok = ok && s.encloses(name)
		} else if !sayso.Beneath(s.facts.Workspace, o.Resolved) && (o.State != sayso.PathMissing || !patterns || w.Text[0] != '/') {
			return true
		}
	}
	return !ok
}

// globOutside looks at the folder in front of the first name that stands for
// more than one, and behind it for a name that may be a dot-dot.
func (s *subject) globOutside(text string, dirs []shell.Dir) bool {
	at := strings.LastIndexByte(text[:strings.IndexAny(text+"*", "*?[")], '/') + 1
	fixed, rest := text[:at], text[at:]
	if strings.HasPrefix(rest, ".") && strings.Contains(rest, "/") || strings.Contains(rest, "/.") {
		return true
	}
	if strings.HasPrefix(fixed, "/") {
		return !s.encloses(fixed)
	}
	return slices.ContainsFunc(dirs, func(dir shell.Dir) bool {
		return !s.encloses(enter(s.cwd(), dir.Steps) + "/" + fixed)
	})
}
