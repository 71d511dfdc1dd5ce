package facts

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// Limits of what is looked at of the folders that one line reads as a whole.
const (
	maxTrees    = 256   // folders that are looked through
	maxBeneath  = 20000 // names in all of them
	maxFollowed = 64    // links that are followed
)

// notLooked are folders of which what is in them was written by nobody here: by
// version control, package managers, and builds. Certificates and samples that look
// like secrets lie there by the hundred.
var notLooked = map[string]bool{
	".git": true, ".hg": true, ".svn": true, ".jj": true, ".bzr": true,
	"node_modules": true, "bower_components": true, "site-packages": true, ".venv": true, "venv": true, ".tox": true, ".nox": true, "__pycache__": true, ".eggs": true,
	".pytest_cache": true, ".mypy_cache": true, ".ruff_cache": true,
	".next": true, ".nuxt": true, ".svelte-kit": true, ".turbo": true, ".parcel-cache": true, ".gradle": true, ".bundle": true, ".yarn": true, ".pnpm-store": true,
}

// cacheMark stands in the folder in which Cargo builds. By itself it says nothing: anybody can
// put it anywhere, and what reads whole folders does not look at it.
const (
	cacheMark   = "CACHEDIR.TAG"
	buildFolder = "target"
)

// trees adds what lies beneath the folders that a command reads as a whole.
func (g *gatherer) trees(c *shell.Command) {
	disk, ok := g.fs.(path.Walker)
	if !ok {
		return
	}
	for i := range c.Trees {
		t := &c.Trees[i]
		if t.Listed || t.Root.Unknown() || t.Root.Text == "" {
			continue // nobody knows which, and such a line is asked about
		}
		for _, dir := range c.Dirs {
			for _, name := range g.names(t.Root.Text, dir) {
				for _, root := range g.rootsOf(name, t.Root) {
					g.tree(disk, root, t)
				}
			}
		}
	}
}

// rootsOf are the names that a root stands for: one, or those of a glob, or the glob
// itself where there are too many.
func (g *gatherer) rootsOf(name string, w shell.Word) []string {
	lister, ok := g.fs.(path.Lister)
	if !ok || !w.Globs() {
		return []string{name}
	}
	name = strings.TrimRight(name, "/")
	if found, ok := expand(lister, name); ok {
		return found
	}
	return []string{name}
}

// tree looks through one folder, unless that was done.
func (g *gatherer) tree(disk path.Walker, root string, t *shell.Tree) {
	key := "all of " + root
	if t.Follows {
		key += ", with links"
	}
	if t.Untracked {
		key += ", untracked"
	}
	if g.seen[key] {
		return
	}
	g.seen[key] = true
	f := sayso.TreeFact{Path: root, Untracked: t.Untracked}
	at, whole := strings.CutSuffix(root, "/"+shell.RepositoryRoot)
	if t.Untracked && g.isLink(strings.TrimRight(at, "/")) {
		return // of which git takes in where it leads, and nothing that is there
	}
	r, err := path.Resolve(g.fs, "", at)
	if err == nil && whole {
		r = g.repositoryRoot(r)
	}
	if err != nil || r.State != path.Dir {
		if strings.ContainsAny(root, "*?[") { // it may stand for anything
			f.Cut = true
			g.facts.Trees = append(g.facts.Trees, f)
		}
		return
	}
	w := &walk{g: g, disk: disk, follows: t.Follows}
	var rules ignoreRules
	if t.Untracked {
		rules = w.untracked(r.Path)
	}
	if g.walked++; g.walked > maxTrees {
		w.cut = true
	} else {
		w.folder(r.Path, "", rules)
	}
	f.Cut = w.cut
	if !w.cut {
		slices.Sort(w.secrets)
		f.Secrets = slices.Compact(w.secrets)
	}
	if len(f.Secrets) > 0 || f.Cut {
		g.facts.Trees = append(g.facts.Trees, f)
	}
}

// walk is one look through a folder.
type walk struct {
	g       *gatherer
	disk    path.Walker
	follows bool
	skips   bool     // what is ignored
	seen    []string // folders behind links
	// repository is the root of that whose tracked files are none of those looked for.
	repository string
	tracked    map[string]bool
	secrets    []string
	cut        bool
}

// folder looks at what is in a folder, and in those beneath. It is at on the disk, and
// behind rel from the root on.
func (w *walk) folder(at, rel string, rules ignoreRules) {
	if w.g.beneath >= maxBeneath || w.g.ctx.Err() != nil {
		w.cut = true
		return
	}
	entries, err := w.disk.Entries(at, maxBeneath-w.g.beneath+1)
	if err != nil && len(entries) == 0 {
		return // whom we cannot read it the command cannot either
	}
	if w.g.beneath += len(entries) + 1; w.g.beneath > maxBeneath {
		w.cut = true
		return
	}
	if !w.skips && strings.HasSuffix("/"+rel, "/"+buildFolder+"/") && slices.ContainsFunc(entries, func(e path.Entry) bool { return e.Name == cacheMark }) {
		return
	}
	if w.skips {
		rules = rules.inherit(at, entries, rel == "")
		if w.g.ignoreWork > maxIgnoreWork {
			w.cut = true
			return
		}
	}
	for _, e := range entries {
		w.entry(strings.TrimSuffix(at, "/")+"/"+e.Name, rel+e.Name, e, rules)
	}
}

// ignored reports whether what is ignored is left out, and this is. Where that would take too
// long nobody knows.
func (w *walk) ignored(rules ignoreRules, at string, folder bool) bool {
	ignored := w.skips && rules.ignored(at, folder)
	w.cut = w.cut || w.g.ignoreWork > maxIgnoreWork
	return ignored && !w.cut
}

func (w *walk) entry(at, rel string, e path.Entry, rules ignoreRules) {
	switch {
	case w.cut:
	case e.Type.IsDir():
		if !notLooked[e.Name] && !w.ignored(rules, at, true) {
			w.folder(at, rel+"/", rules)
		}
	case path.Credential(at):
		if w.ignored(rules, at, false) {
			return
		}
		if w.repository != "" && w.tracked[strings.TrimPrefix(at, w.repository+"/")] {
			return
		}
		w.secrets = append(w.secrets, rel)
	case e.Type&fs.ModeSymlink != 0 && w.follows:
		w.link(at, rel)
	}
}

// link looks at what a link leads to.
func (w *walk) link(at, rel string) {
	r, err := path.Resolve(w.g.fs, "", at)
	switch {
	case err != nil:
	case r.State == path.Dir && !slices.Contains(w.seen, r.Path):
		if len(w.seen) >= maxFollowed {
			w.cut = true
			return
		}
		w.seen = append(w.seen, r.Path)
		w.folder(r.Path, rel+"/", ignoreRules{none: true})
	case path.Credential(r.Path):
		w.secrets = append(w.secrets, rel)
	}
}

// repositoryRoot is the root of the repository that a folder lies in, or the folder if it
// lies in none, as before there is one. Where the line makes one further down, git takes in
// less than is looked at.
func (g *gatherer) repositoryRoot(r path.Result) path.Result {
	if at, _ := g.repositoryOf(r.Path); at != "" {
		r.Path = at
	}
	return r
}

// untracked has a walk look for what git would take in alone: neither what it has
// already nor what it is told to ignore.
func (w *walk) untracked(root string) (rules ignoreRules) {
	w.skips = true
	var odd bool
	rules, w.repository, odd = w.g.ignoredAbove(root)
	if w.g.begins {
		w.repository = "" // the one that is made has nothing yet
	}
	if w.repository == "" {
		return ignoreRules{none: odd || w.g.unsettled} // there is none yet, and its files are here
	}
	files := w.g.tracked(w.repository)
	w.tracked = files.secrets
	rules.none = rules.none || w.g.unsettled || files.unsure
	return rules
}

func (g *gatherer) isLink(at string) bool {
	info, err := g.fs.Lstat(at)
	return err == nil && info.Mode&fs.ModeSymlink != 0
}
