package facts

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/patch"
)

// maxPatched is how many files of a patch are looked up.
const maxPatched = 1000

// patch gathers where the files of a patch lie, and what is in them. Of one that
// cannot be read it is where those lie that it may name.
func (g *gatherer) patch(arg, text string) {
	files, err := patch.Parse(text)
	names := patch.Named(text)
	g.facts.Truncated = g.facts.Truncated || err != nil
	if err == nil {
		names = nil
	}
	for _, f := range files {
		names = append(names, f.Names()...)
	}
	for i, name := range names {
		if i == maxPatched || g.ctx.Err() != nil {
			g.facts.Truncated = true
			return
		}
		g.operand(arg, name)
	}
	for i := range g.facts.Operands {
		if o := &g.facts.Operands[i]; o.State == sayso.PathFile {
			o.Digest, _, _ = digestOf(o.Resolved, MaxContent)
		}
	}
}
