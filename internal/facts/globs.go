package facts

import (
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// glob adds what a glob stands for where that is, or leads to, a file that steers
// other programs or is known to hold secrets. Where there is too much to look at
// the glob itself is added, as one that leads nobody knows where.
func (g *gatherer) glob(arg string, w shell.Word, dirs []shell.Dir) {
	lister, ok := g.fs.(path.Lister)
	if !ok {
		return
	}
	for _, dir := range dirs {
		for _, pattern := range g.names(w.Text, dir) {
			if g.seen[pattern] || g.ctx.Err() != nil {
				continue
			}
			g.seen[pattern] = true
			names, ok := []string(nil), false
			if g.globs++; g.globs <= maxGlobs {
				names, ok = expand(lister, pattern)
			}
			if !ok {
				g.facts.Operands = append(g.facts.Operands, sayso.PathFact{Arg: arg, Path: pattern, State: sayso.PathUnknown})
			}
			for _, name := range names {
				if f := g.fact(arg, name); path.Control(name) || guarded(f.Resolved) {
					g.facts.Operands = append(g.facts.Operands, f)
				}
			}
		}
	}
}

// expand are the names that an absolute glob stands for, folder by folder. Ok is
// false if there are too many to look at.
func expand(lister path.Lister, pattern string) (found []string, ok bool) {
	found = []string{""}
	left := maxListed
	for part := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
		if !strings.ContainsAny(part, "*?[") {
			for i := range found {
				found[i] += "/" + part
			}
			continue
		}
		var next []string
		for _, folder := range found {
			names, err := lister.Names(folder+"/", left+1)
			if err != nil {
				continue // no folder, so nothing in it
			}
			if left -= len(names) + 1; left < 0 {
				return nil, false
			}
			as := shell.Word{Text: part, Dynamic: shell.Glob}
			for _, name := range names {
				if as.MayBe(name) && (name[0] != '.' || part[0] == '.' || part[0] == '[') {
					next = append(next, folder+"/"+name)
				}
			}
		}
		found = next
	}
	return found, true
}
