package facts

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/patch"
)

// patch gathers where the files of a patch lie, and what is in them. Of one that
// cannot be read nothing is known.
func (g *gatherer) patch(arg, text string) {
	files, err := patch.Parse(text)
	if err != nil || g.ctx.Err() != nil {
		g.facts.Truncated = true
		return
	}
	for _, f := range files {
		for _, name := range f.Names() {
			g.operand(arg, name)
		}
	}
	for i := range g.facts.Operands {
		if o := &g.facts.Operands[i]; o.State == sayso.PathFile {
			o.Digest, _, _ = digestOf(o.Resolved, MaxContent)
		}
	}
}
