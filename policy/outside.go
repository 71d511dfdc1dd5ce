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
// nothing is taken for a pattern or a text where a program may be given one, by
// those that do more than look only if it could not be made as it stands.
func (s *subject) outside(c *shell.Command, dir shell.Dir) bool {
	if dir.Unknown || !s.encloses(enter(s.cwd(), dir.Steps)) || len(dir.Steps) > 0 && s.entersLink(enter(s.cwd(), dir.Steps)) {
		return true
	}
	dirs := []shell.Dir{dir}
	for _, w := range c.Operands() {
		if s.wordOutside(w, dirs, s.asText(c)) {
			return true
		}
	}
	for _, t := range c.Traits {
		if t.Target != nil && (t.Kind == shell.Writes || t.Kind == shell.Deletes) && !standardStreams[t.Target.Text] && s.mayLeaveWorkspace(*t.Target, dirs) {
			return true
		}
	}
	return false
}

// standardStreams are what programs write to and read from where no file is meant.
var standardStreams = set("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr")

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

// searchPrograms are programs that only look, and that are given patterns too.
var searchPrograms = set("grep", "ggrep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "sed", "gsed", "awk", "gawk", "mawk", "nawk", "jq", "yq", "find", "fd", "git", "tr", "cut", "printf", "echo", "expr", "test", "[")

// asText returns which names at the root, that nothing has, may be no names for a
// command. What changes files could make them, in a folder that is there.
func (s *subject) asText(c *shell.Command) func(resolved string) bool {
	return func(resolved string) bool {
		if searchPrograms[c.Base()] {
			return true
		}
		top, _, below := strings.Cut(strings.TrimPrefix(resolved, "/"), "/")
		return c.Class != shell.ReadOnly && !(below && (rootFolders[top] || strings.HasPrefix(s.facts.Workspace, "/"+top+"/")))
	}
}

// rootFolders are those that machines have at their root.
var rootFolders = set("Applications", "Library", "System", "Users", "Volumes", "bin", "boot", "cores", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "nix", "opt",
	"private", "proc", "root", "run", "sbin", "snap", "srv", "sys", "tmp", "usr", "var")

// wordOutside reports whether an operand names something outside the workspace.
// A name that nothing has is none if it may be text.
func (s *subject) wordOutside(w shell.Word, dirs []shell.Dir, text func(resolved string) bool) bool {
	switch {
	case w.Literal() && (w.Text == "" || standardStreams[w.Text]):
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
		} else if !sayso.Beneath(s.facts.Workspace, o.Resolved) && (o.State != sayso.PathMissing || w.Text[0] != '/' || !text(o.Resolved)) {
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
