package policy

import (
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// enter is where a shell stands after cd.
func enter(cwd string, steps []string) string {
	if len(steps) == 0 {
		return cwd
	}
	return path.Enter(cwd, steps)
}

// wordNames are the absolute names that a literal word of a command may mean:
// from each folder that the command may run in, which the directory of the call
// may name in two ways. Ok is false if there is one that nobody knows.
func (s *subject) wordNames(w shell.Word, dirs []shell.Dir) (names []string, ok bool) {
	if !w.Literal() || w.Text == "" {
		return nil, false
	}
	if w.Text[0] == '/' {
		return []string{w.Text}, true
	}
	for _, dir := range dirs {
		if dir.Unknown {
			return nil, false
		}
		for i, cwd := range [...]string{s.facts.Cwd, s.call.Cwd} {
			if i == 1 && (cwd == "" || cwd == s.facts.Cwd) {
				continue
			}
			at := enter(cwd, dir.Steps)
			if at == "" {
				return nil, false
			}
			names = append(names, strings.TrimSuffix(at, "/")+"/"+w.Text)
		}
	}
	return names, true
}

// globFolder reports whether a word may be relative to a folder of which
// something holds, where the folder or the word is given by a glob. Of too many
// folders it is taken to hold.
func (s *subject) globFolder(w shell.Word, dirs []shell.Dir, holds func(folder string) bool) bool {
	if strings.HasPrefix(w.Text, "/") {
		return false
	}
	if slices.ContainsFunc(dirs, func(d shell.Dir) bool { return d.Unknown }) {
		if globs := s.enteredGlobs(); len(globs) > maxEntered || slices.ContainsFunc(globs, holds) {
			return true
		}
	}
	return w.Dynamic&shell.Glob != 0 && slices.ContainsFunc(s.knownFolders(dirs), holds)
}

// globbed are the facts about what a glob of a command stands for: where that is
// worth knowing, and the glob itself where there was too much to look at.
func (s *subject) globbed(w shell.Word, dirs []shell.Dir) (found []*sayso.PathFact) {
	if !w.Globs() {
		return nil
	}
	patterns := []string{w.Text}
	if w.Text[0] != '/' {
		patterns = nil
		for _, folder := range s.knownFolders(dirs) {
			patterns = append(patterns, strings.TrimSuffix(folder, "/")+"/"+w.Text)
		}
	}
	for i := range s.facts.Operands {
		o := &s.facts.Operands[i]
		if o.Arg == s.tool.Primary && slices.ContainsFunc(patterns, func(pattern string) bool { return globFits(pattern, o.Path) }) {
			found = append(found, o)
		}
	}
	return found
}

// globFits reports whether a glob may stand for a name, or is written like it.
func globFits(pattern, name string) bool {
	if !strings.HasPrefix(name, pattern[:strings.IndexAny(pattern+"*", "*?[+@!")]) {
		return false
	}
	return pattern == name || shell.Word{Text: pattern, Dynamic: shell.Glob}.MayBe(name)
}

// maxEntered is how many globs of folders are looked at.
const maxEntered = 32

// enteredGlobs are the globs that the line gives cd, worked out once; more than
// [maxEntered] if there are too many.
func (s *subject) enteredGlobs() []string {
	if s.entered == nil {
		s.entered = s.globsEntered()
	}
	return s.entered
}

func (s *subject) globsEntered() []string {
	l, globs := s.line(), []string{}
	add := func(glob string) {
		if !slices.Contains(globs, glob) {
			globs = append(globs, glob)
		}
	}
	for i := 0; i < len(l.Commands) && len(globs) <= maxEntered; i++ {
		c := &l.Commands[i]
		if !entersNext[c.Base()] {
			continue
		}
		for _, w := range c.Args {
			if w.Dynamic&shell.Glob == 0 {
				continue
			}
			add(w.Text)
			for _, folder := range s.knownFolders(c.Dirs) {
				add(folder + "/" + w.Text)
			}
		}
	}
	return globs
}

// knownFolders are the folders that a command may stand in, as far as they are
// known.
func (s *subject) knownFolders(dirs []shell.Dir) (folders []string) {
	for _, dir := range dirs {
		for _, cwd := range [...]string{s.facts.Cwd, s.call.Cwd} {
			if at := enter(cwd, dir.Steps); at != "" && !dir.Unknown {
				folders = append(folders, at)
			}
		}
	}
	return folders
}

// look sorts the facts about the words of a command by their names, once.
func (s *subject) look() {
	if s.looked != nil {
		return
	}
	s.looked = make(map[string]*sayso.PathFact, len(s.facts.Operands))
	for i := range s.facts.Operands {
		if o := &s.facts.Operands[i]; o.Arg == s.tool.Primary {
			s.looked[o.Path] = o
		}
	}
}

// place is the fact about an absolute name of a command, nil if there is none.
func (s *subject) place(name string) *sayso.PathFact {
	o := s.looked[name]
	if o == nil && s.gaps != nil && !s.gaps.rooted {
		s.noteGap()
	}
	return o
}

// places are where a word of a command leads. Ok is false if that is not known.
func (s *subject) places(w shell.Word, dirs []shell.Dir) (found []*sayso.PathFact, ok bool) {
	names, ok := s.wordNames(w, dirs)
	if !ok {
		return nil, false
	}
	s.look()
	for _, name := range names {
		o := s.place(name)
		if o == nil || o.Resolved == "" || o.State == sayso.PathUnknown {
			return nil, false
		}
		found = append(found, o)
	}
	return found, true
}

// within says whether all operands of a command lie in the roots that a rule
// names, and, if that is not known, Perhaps.
func (s *subject) within(c *shell.Command, r *commandRule) shell.Fit {
	if c.Open || c.Has(shell.Moves) {
		return shell.Perhaps // what it works on does not stand in the line
	}
	fit := shell.Yes
	for _, w := range c.Operands() {
		if fit = min(fit, s.operandWithin(w, c.Dirs, r)); fit == shell.No {
			break
		}
	}
	return fit
}

func (s *subject) operandWithin(w shell.Word, dirs []shell.Dir, r *commandRule) shell.Fit {
	if !w.Literal() {
		return shell.Perhaps
	}
	places, ok := s.places(w, dirs)
	if !ok {
		return shell.Perhaps
	}
	fit, inside := shell.Yes, 0
	for _, o := range places {
		root, ok := s.rootOf(o.Resolved, r.roots)
		if !ok || !namedIn(root.Name, r.named) {
			continue
		}
		inside++
		if r.effect == sayso.Allow && (!s.known(r.roots) || s.holdsStricter(o, root, r)) {
			fit = shell.Perhaps
		}
	}
	switch inside {
	case 0:
		return shell.No
	case len(places):
		return fit
	}
	return shell.Perhaps // from one folder that the command may run in, and not from another
}

// holdsStricter reports whether a place in a root holds another that a rule does
// not name and that permits less: a command goes through all of a folder.
func (s *subject) holdsStricter(o *sayso.PathFact, root sayso.PathRoot, r *commandRule) bool {
	return slices.ContainsFunc(r.roots, func(inner sayso.PathRoot) bool {
		return (inner.Read < root.Read || inner.Write < root.Write) && !namedIn(inner.Name, r.named) && sayso.Beneath(o.Resolved, s.root(inner.Root))
	})
}

func namedIn(name string, roots []sayso.PathRoot) bool {
	for _, root := range roots {
		if root.Name == name {
			return true
		}
	}
	return false
}

// rootOf returns the root that decides about a resolved path: the one that lies
// deepest of those that it lies in. Of two roots in one folder it is the one
// that permits less.
func (s *subject) rootOf(resolved string, roots []sayso.PathRoot) (best sayso.PathRoot, ok bool) {
	at := ""
	for _, root := range roots {
		folder := s.root(root.Root)
		if !sayso.Beneath(folder, resolved) || ok && len(folder) < len(at) {
			continue
		}
		if ok && len(folder) == len(at) {
			root = stricter(best, root)
		}
		best, at, ok = root, folder, true
	}
	return best, ok
}

// stricter is what two roots in one folder permit together.
func stricter(a, b sayso.PathRoot) sayso.PathRoot {
	if b.Write < a.Write || b.Write == a.Write && b.Read < a.Read {
		a, b = b, a
	}
	a.Read, a.ReadSaid = a.Read.Meet(b.Read), a.ReadSaid || b.ReadSaid
	return a
}

// known reports whether it is known where all roots are.
func (s *subject) known(roots []sayso.PathRoot) bool {
	for _, root := range roots {
		if s.root(root.Root) == "" {
			return false
		}
	}
	return true
}
