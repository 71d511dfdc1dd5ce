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
	".next": true, ".nuxt": true, ".svelte-kit": true, ".turbo": true, ".parcel-cache": true, ".gradle": true, ".bundle": true, ".yarn": true, ".pnpm-store": true,
}

// cacheMark stands in folders that a program can make again, as that of Cargo.
const cacheMark = "CACHEDIR.TAG"

// trees adds what lies beneath the folders that a command reads as a whole.
func (g *gatherer) trees(c *shell.Command) {
	disk, ok := g.fs.(path.Walker)
	if !ok {
		return
	}
	for _, t := range c.Trees {
		if t.Listed || t.Root.Unknown() || t.Root.Text == "" {
			continue // nobody knows which, and such a line is asked about
		}
		for _, dir := range c.Dirs {
			for _, name := range g.names(t.Root.Text, dir) {
				for _, root := range g.rootsOf(name, t.Root) {
					g.tree(disk, root, t.Follows)
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
func (g *gatherer) tree(disk path.Walker, root string, follows bool) {
	key := "all of " + root
	if follows {
		key += ", with links"
	}
	if g.seen[key] {
		return
	}
	g.seen[key] = true
	r, err := path.Resolve(g.fs, "", root)
	if err != nil || r.State != path.Dir {
		if strings.ContainsAny(root, "*?[") { // it may stand for anything
			g.facts.Trees = append(g.facts.Trees, sayso.TreeFact{Path: root, Cut: true})
		}
		return
	}
	w := &walk{g: g, disk: disk, follows: follows}
	if g.walked++; g.walked > maxTrees {
		w.cut = true
	} else {
		w.folder(r.Path, "")
	}
	f := sayso.TreeFact{Path: root, Cut: w.cut}
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
	seen    []string // folders behind links
	secrets []string
	cut     bool
}

// folder looks at what is in a folder, and in those beneath. It is at on the disk, and
// behind rel from the root on.
func (w *walk) folder(at, rel string) {
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
	if rel != "" && slices.ContainsFunc(entries, func(e path.Entry) bool { return e.Name == cacheMark }) {
		return
	}
	for _, e := range entries {
		w.entry(strings.TrimSuffix(at, "/")+"/"+e.Name, rel+e.Name, e)
	}
}

func (w *walk) entry(at, rel string, e path.Entry) {
	switch {
	case w.cut:
	case e.Type.IsDir():
		if !notLooked[e.Name] {
			w.folder(at, rel+"/")
		}
	case path.Credential(at):
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
		w.folder(r.Path, rel+"/")
	case path.Credential(r.Path):
		w.secrets = append(w.secrets, rel)
	}
}
