package policy

import (
	"fmt"
	stdpath "path"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// The floors of a command line: no allow is looser.
var (
	floorLine = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood, Rule: "commands must be understood", Person: true,
		Reason: "the line was not understood",
	}
	floorDynamic = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood, Rule: "commands must be literal", Person: true,
		Reason: "what the command does is only known when it runs",
	}
	floorInline = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood, Rule: "programs on the command line", Person: true,
		Reason: "the command is given a program to run",
	}
	floorBeyond = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "options that run programs or write files",
		Reason: "no rule for the program covers what its options make it do",
	}
	floorWrite = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "redirections to files are writes",
		Reason: "the line writes a file, and no path of the policy may be written without a question there",
	}
	floorRead = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "redirections from files are reads",
		Reason: "the line reads a file outside the paths that the policy names",
	}
	floorNetwork = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "redirections to the network",
		Reason: "the line connects to another machine",
	}
	floorAssignment = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "variables change what programs do",
		Reason: "the line sets a variable that may change what a program does",
	}
)

// floorNoRoots holds where it is not known where the folders of the policy are.
var floorNoRoots = sayso.Match{
	Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood, Rule: "paths must be known", Person: true,
	Reason: "where the folders are that the policy names was not found out",
}

// lineFloors adds what holds of a command line whatever the rules say. What was
// said already is not worked out again.
func (p *Policy) lineFloors(s *subject, said *floorList, add func(sayso.Match)) {
	l := s.line()
	for _, t := range l.Problems {
		m := floorLine
		m.Reason = "the line was not understood: " + t.What
		add(within(m, t.Span))
	}
	for i := range l.Commands {
		commandFloors(s, &l.Commands[i], said, add)
	}
	for i := range l.Redirects {
		if m, ok := p.redirect(s, &l.Redirects[i]); ok {
			add(within(m, l.Redirects[i].Span))
		}
	}
	for i := range l.Assignments {
		if a := &l.Assignments[i]; !a.Harmless && !said.has(&floorAssignment) {
			m := floorAssignment
			m.Reason = "the line sets " + a.Name + ", which may change what a program does"
			add(within(m, a.Span))
		}
	}
}

func within(m sayso.Match, span shell.Span) sayso.Match {
	return spanned(m, span.From, span.To)
}

func commandFloors(s *subject, c *shell.Command, said *floorList, add func(sayso.Match)) {
	dynamic := said.has(&floorDynamic)
	if !dynamic && !c.Program.Literal() {
		m := floorDynamic
		m.Reason = "which program runs is only known when it runs (" + c.Program.Dynamic.String() + ")"
		add(within(m, c.Program.Span))
	}
	for i := 0; i < len(c.Args) && !dynamic; i++ {
		if w := &c.Args[i]; w.Unknown() {
			m := floorDynamic
			m.Reason = "an argument is only known when the command runs (" + (w.Dynamic & shell.Unknowable).String() + ")"
			add(within(m, w.Span))
			break
		}
	}
	if c.Open && !dynamic {
		m := floorDynamic
		m.Reason = fmt.Sprintf("%s is given further arguments that are only known when it runs", c.Base())
		add(within(m, c.Span))
	}
	if t := c.Beyond(); t != nil {
		m := floorBeyond
		if t.Kind == shell.Inline {
			m = floorInline
		}
		if !said.has(&m) {
			m.Reason += ": " + t.What
			add(within(m, t.Span))
		}
	}
	if w, ok := s.deletesRoot(c); ok {
		add(within(floorRoot, w.Span))
	}
	if said.has(&floorControl) {
		return
	}
	if w, ok := s.writesControl(c); ok {
		add(within(floorControl, w.Span))
	}
}

// deletesRoot returns the word of a command that names the workspace, or a
// folder that it is in, and that the command deletes.
func (s *subject) deletesRoot(c *shell.Command) (shell.Word, bool) {
	for _, t := range c.Traits {
		if t.Kind == shell.Deletes && t.Target != nil && s.facts.Workspace != "" && s.holdsRoot(*t.Target, c.Dirs) {
			return *t.Target, true
		}
	}
	return shell.Word{}, false
}

// holdsRoot reports whether a word may name the workspace or a folder that it is
// in: as it is written, where it leads, or by a glob.
func (s *subject) holdsRoot(w shell.Word, dirs []shell.Dir) bool {
	if w.Dynamic&shell.Glob != 0 {
		return slices.ContainsFunc(s.globBases(w, dirs), func(base string) bool { return globsAbove(base+"/"+w.Text, s.facts.Workspace) })
	}
	if strings.Trim(w.Text, "/") == "~" && s.home != "" {
		return sayso.Beneath(s.home, s.facts.Workspace)
	}
	names, _ := s.wordNames(w, dirs)
	for _, name := range names {
		if sayso.Beneath(stdpath.Clean(name), s.facts.Workspace) {
			return true
		}
	}
	places, _ := s.places(w, dirs)
	return slices.ContainsFunc(places, func(o *sayso.PathFact) bool { return sayso.Beneath(o.Resolved, s.facts.Workspace) })
}

// globBases are what a glob stands behind: nothing, if it begins at the root.
func (s *subject) globBases(w shell.Word, dirs []shell.Dir) []string {
	if strings.HasPrefix(w.Text, "/") {
		return []string{""}
	}
	return s.knownFolders(dirs)
}

// globsAbove reports whether an absolute glob fits a folder or one that it is in.
func globsAbove(glob, folder string) bool {
	glob = stdpath.Clean(glob)
	for ; folder != "/"; folder = stdpath.Dir(folder) {
		if globFits(glob, folder) {
			return true
		}
	}
	return false
}

// redirect says what holds of a redirection; ok is false if nothing does.
func (p *Policy) redirect(s *subject, r *shell.Redirect) (m sayso.Match, ok bool) {
	switch r.Kind {
	case shell.Null, shell.Duplicate, shell.Body:
		return m, false
	case shell.Network:
		return floorNetwork, true
	}
	if !r.Target.Literal() {
		m = floorDynamic
		m.Reason = "the target of a redirection is only known when it runs (" + r.Target.Dynamic.String() + ")"
		return m, true
	}
	if r.Kind == shell.Read && len(p.rootsHold(s)) == 0 {
		return m, false
	}
	places, known := s.places(r.Target, r.Dirs)
	if r.Kind == shell.Read {
		for _, o := range places {
			known = known && p.readable(s, o)
		}
		return floorRead, !known
	}
	if s.mayBeControlFile(r.Target, r.Dirs) {
		return floorControl, true
	}
	for _, o := range places {
		if o.Links > 1 && o.State != sayso.PathDir {
			return floorNames, true
		}
		known = known && p.writable(s, o)
	}
	return floorWrite, !known
}

// namesControl reports whether a word, as it is written, may name a file that
// steers other programs.
func namesControl(w shell.Word) bool {
	return path.Control(w.Text) || w.Dynamic&shell.Glob != 0 && path.ControlGlob(w.Text)
}

// mayBeControlFile reports whether a word may name a file that steers other programs.
func (s *subject) mayBeControlFile(w shell.Word, dirs []shell.Dir) bool {
	if namesControl(w) {
		return true
	}
	if s.globFolder(w, dirs, func(folder string) bool { return path.ControlGlob(folder + "/" + w.Text) }) {
		return true
	}
	if slices.ContainsFunc(s.globbed(w, dirs), func(o *sayso.PathFact) bool {
		return o.State == sayso.PathUnknown || path.Control(o.Path) || path.Control(o.Resolved)
	}) {
		return true
	}
	names, _ := s.wordNames(w, dirs)
	for _, name := range names {
		if path.Control(name) {
			return true
		}
	}
	places, _ := s.places(w, dirs)
	for _, o := range places {
		if path.Control(o.Resolved) {
			return true
		}
	}
	return false
}

// writesControl returns the word of a command that names a file which steers
// other programs and which the command may write.
func (s *subject) writesControl(c *shell.Command) (shell.Word, bool) {
	for _, t := range c.Traits {
		if (t.Kind == shell.Writes || t.Kind == shell.Deletes) && t.Target != nil && s.mayBeControlFile(*t.Target, c.Dirs) {
			return *t.Target, true
		}
	}
	if onlyReads(c) {
		return shell.Word{}, false
	}
	for _, w := range c.Operands() {
		if namesControl(w) && !isRevision(c, w) {
			return w, true
		}
	}
	return shell.Word{}, false
}

// isRevision reports whether a word that could be a file which makes a folder a
// repository is what it mostly is: a commit, or a method of HTTP.
func isRevision(c *shell.Command, w shell.Word) bool {
	return strings.EqualFold(w.Text, "head") && (c.Class != shell.Ordinary || c.Base() == "git")
}

// indexCommands are commands that change things, and read the files that they name.
var indexCommands = set("git add", "git stage", "git commit")

// onlyReads reports whether a command leaves the files in its words as they are.
func onlyReads(c *shell.Command) bool {
	return c.Class == shell.ReadOnly || c.Class == shell.Ordinary && indexCommands[strings.Join(c.Lead(), " ")]
}
