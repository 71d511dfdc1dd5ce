package facts

import (
	stdpath "path"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// glob adds what a glob stands for where that is, or leads to, a file that steers
// other programs or is known to hold secrets. The names in one folder alone are
// looked at; of one with too many the glob itself is added, as one that leads
// nobody knows where.
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
			if g.globs++; g.globs > maxGlobs {
				g.facts.Operands = append(g.facts.Operands, sayso.PathFact{Arg: arg, Path: pattern, State: sayso.PathUnknown})
				return
			}
			folder, last := stdpath.Split(pattern)
			names, err := lister.Names(folder, maxListed+1)
			if err != nil {
				continue
			}
			if len(names) > maxListed {
				g.facts.Operands = append(g.facts.Operands, sayso.PathFact{Arg: arg, Path: pattern, State: sayso.PathUnknown})
				continue
			}
			for _, name := range names {
				if fits, _ := stdpath.Match(last, name); !fits || name[0] == '.' && last[0] != '.' {
					continue
				}
				if f := g.fact(arg, folder+name); path.Control(folder+name) || path.Control(f.Resolved) || path.Credential(f.Resolved) {
					g.facts.Operands = append(g.facts.Operands, f)
				}
			}
		}
	}
}
