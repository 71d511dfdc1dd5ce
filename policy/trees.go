package policy

import (
	stdpath "path"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// readsSecrets reports whether a command reads a folder in which a file known to hold
// keys, passwords or tokens lies, however deep, and is not kept away from it; or one
// that could not be looked through. Names that it asks for are believed without a
// look, and a list of files that nobody knows may name any.
func (s *subject) readsSecrets(c *shell.Command) bool {
	for i := range c.Trees {
		t := &c.Trees[i]
		if t.Listed || slices.ContainsFunc(t.Only, path.CredentialGlob) {
			return true
		}
		if len(t.Types) > 0 && !slices.ContainsFunc(t.Types, func(kind string) bool { return !sourceTypes[kind] }) {
			continue
		}
		if t.Root.Dynamic&shell.Tilde != 0 {
			return true // where keys are kept
		}
		patterns := s.rootPatterns(t.Root, c.Dirs)
		for k := range s.facts.Trees {
			f := &s.facts.Trees[k]
			if f.Untracked == t.Untracked && slices.ContainsFunc(patterns, func(p string) bool { return p == f.Path || t.Root.Globs() && globFits(p, f.Path) }) &&
				(f.Cut || slices.ContainsFunc(f.Secrets, func(rel string) bool { return reachesFile(t, rel) })) {
				return true
			}
		}
	}
	return false
}

// rootPatterns are the absolute names that the root of a tree may have.
func (s *subject) rootPatterns(w shell.Word, dirs []shell.Dir) []string {
	text := w.Text
	if w.Globs() {
		text = strings.TrimRight(text, "/") // what it stands for is noted without
	}
	if strings.HasPrefix(w.Text, "/") {
		return []string{text}
	}
	var out []string
	for _, dir := range dirs {
		for _, cwd := range [...]string{s.facts.Cwd, s.call.Cwd} {
			if at := enter(cwd, dir.Steps); at != "" && !dir.Unknown {
				out = append(out, strings.TrimSuffix(at, "/")+"/"+text)
			}
		}
	}
	return out
}

// reachesFile reports whether a command that reads a tree reads a file in it.
func reachesFile(t *shell.Tree, rel string) bool {
	if !t.Hidden && (rel[0] == '.' || strings.Contains(rel, "/.")) {
		return false
	}
	names := strings.Split(rel, "/")
	last := len(names) - 1
	if fitsOne(t.NoFiles, names[last]) || slices.ContainsFunc(names[:last], func(name string) bool { return fitsOne(t.NoFolders, name) }) {
		return false
	}
	return len(t.Only) == 0 || slices.ContainsFunc(t.Only, func(g string) bool {
		globs, plain := path.Globs(g)
		return !plain || slices.ContainsFunc(globs, func(g string) bool { return path.GlobFits(strings.TrimPrefix(g, "/"), rel) })
	})
}

func fitsOne(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		fits, err := stdpath.Match(g, name)
		return err == nil && fits
	})
}
