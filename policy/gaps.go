package policy

import (
	stdpath "path"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
)

// Facts are gathered for the policy that is in force. Another policy may want to
// know more of a call: what it wants is then worked out from what was recorded
// where that proves it, and noted as a gap where it does not. Nothing is guessed.

// gaps are what a policy wanted to know of a call and its facts do not say.
type gaps struct {
	rooted  bool     // where words of commands lead is known as well as it was to be
	folders []string // whether the call belongs to the project in this folder
	other   bool     // where something else leads
}

func (g *gaps) folder(name string) {
	if !slices.Contains(g.folders, name) {
		g.folders = append(g.folders, name)
	}
}

// noteGap notes that a verdict rests on something that was not recorded.
func (s *subject) noteGap() {
	if s.gaps != nil {
		s.gaps.other = true
	}
}

// maxFolders is how many folders may be in doubt for a verdict to be tried with
// the call in each of them and not.
const maxFolders = 4

// lookBack judges a call with facts that were gathered for another policy. Ok is
// false if they do not say enough for this one.
func (p *Policy) lookBack(c *sayso.Call, f sayso.Facts) (v sayso.Verdict, ok bool) {
	rooted := len(f.Roots) > 0 || len(p.Roots()) == 0
	f = p.completed(c, f)
	g := gaps{rooted: rooted}
	v = p.bothReadings(c, &f, &g)
	elsewhere := f.Workspace == "" || !sayso.Beneath(f.Workspace, f.Cwd) // a folder may hold one of the two
	if g.other || len(g.folders) > maxFolders || len(g.folders) > 0 && elsewhere {
		return v, false
	}
	for in := 1; in < 1<<len(g.folders); in++ { // the call in some of them
		tried, other := f, gaps{rooted: rooted}
		tried.Roots = slices.Clone(f.Roots)
		for i, folder := range g.folders {
			if in&(1<<i) != 0 {
				tried.Roots = append(tried.Roots, sayso.RootFact{Root: folder, Resolved: f.Workspace})
			}
		}
		if w := p.bothReadings(c, &tried, &other); other.other || !same(w, v) {
			return v, false
		}
	}
	return v, true
}

// same reports whether two verdicts come to the same with all that has a say
// besides them.
func same(a, b sayso.Verdict) bool {
	return a.Effect == b.Effect && a.Cause == b.Cause && a.Person == b.Person &&
		sayso.Reach(sayso.Asking(a.Matches, a.Default)) == sayso.Reach(sayso.Asking(b.Matches, b.Default))
}

// completed are facts with what else they prove: where the folders of this policy
// led, and where the words of a command did, if this policy needs to know.
func (p *Policy) completed(c *sayso.Call, f sayso.Facts) sayso.Facts {
	roots := p.Roots()
	words := f.Words
	if c.Known().Operand == sayso.OperandCommand {
		switch {
		case len(roots) == 0: // no other words would have been looked up
			f.Operands = slices.DeleteFunc(slices.Clone(f.Operands), func(o sayso.PathFact) bool { return !told(o) })
		case len(f.Roots) == 0:
			f.Operands = append(slices.Clip(f.Operands), words...)
		}
	}
	known := places(&f, words)
	f.Roots = slices.Clone(f.Roots)
	for _, name := range roots {
		if slices.ContainsFunc(f.Roots, func(r sayso.RootFact) bool { return r.Root == name }) {
			continue
		}
		at := name
		if !strings.HasPrefix(at, "/") {
			if f.Workspace == "" {
				continue
			}
			at = stdpath.Join(f.Workspace, at)
		}
		at = stdpath.Clean(at)
		if at == "/" || slices.ContainsFunc(known, func(place string) bool { return sayso.Beneath(at, place) }) {
			f.Roots = append(f.Roots, sayso.RootFact{Root: name, Resolved: at})
		}
	}
	f.Words = nil
	return f
}

// told reports whether a word of a command is looked up for every policy: it leads
// to a file that steers others or holds secrets, or is a glob of which nobody knows.
func told(o sayso.PathFact) bool {
	if o.State == sayso.PathUnknown {
		return strings.ContainsAny(o.Path, "*?[")
	}
	return path.Control(o.Path) || path.Control(o.Resolved) || path.Credential(o.Resolved)
}

// places are where things were found to be, links followed. No folder on the way
// to one of them is a link.
func places(f *sayso.Facts, words []sayso.PathFact) []string {
	known := []string{f.Workspace, f.Cwd}
	for _, r := range f.Roots {
		known = append(known, r.Resolved)
	}
	for _, list := range [...][]sayso.PathFact{f.Operands, words} {
		for _, o := range list {
			if o.State == sayso.PathFile || o.State == sayso.PathDir {
				known = append(known, o.Resolved)
			}
		}
	}
	return known
}
