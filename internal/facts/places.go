package facts

import (
	"strings"

	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// Limits of what is looked up of one command line.
const (
	maxPlaces    = 2000 // where policy needs it
	maxLookBack  = 32   // where it does not
	maxListed    = 4000 // names of a folder that a glob is held against
	maxGlobs     = 64   // globs of a line that are looked at
	longLookBack = 4096 // bytes of a line of which more is looked up
)

// places adds where the words of a command lead that may name files: operands,
// targets of redirections, what options write. Only a policy that names folders
// needs to know; for others they are kept apart, and only of lines of which that
// costs next to nothing.
func (g *gatherer) places(arg, text string) {
	g.limit, g.into = maxPlaces, &g.facts.Operands
	if !g.rooted {
		if len(text) > longLookBack || g.facts.Cwd == "" {
			return
		}
		g.limit, g.into = maxLookBack, &g.facts.Words
	}
	g.seen = make(map[string]bool)
	line := shell.Inspect(text)
	for i := range line.Commands {
		c := &line.Commands[i]
		for _, w := range c.Operands() {
			g.word(arg, w, c.Dirs)
		}
		for _, t := range c.Traits {
			if t.Target != nil {
				g.word(arg, *t.Target, c.Dirs)
			}
		}
	}
	for i := range line.Redirects {
		if r := &line.Redirects[i]; r.Kind == shell.Read || r.Kind == shell.Write {
			g.word(arg, r.Target, r.Dirs)
		}
	}
}

// word adds where a word leads from each folder that it may be relative to.
func (g *gatherer) word(arg string, w shell.Word, dirs []shell.Dir) {
	if w.Globs() && !w.Unknown() {
		g.glob(arg, w, dirs)
		return
	}
	if !w.Literal() || w.Text == "" {
		return
	}
	for _, dir := range dirs {
		for _, name := range g.names(w.Text, dir) {
			if g.seen[name] {
				continue
			}
			if len(g.seen) >= g.limit || g.ctx.Err() != nil {
				g.facts.Truncated = g.facts.Truncated || g.rooted
				return
			}
			g.seen[name] = true
			*g.into = append(*g.into, g.fact(arg, name))
		}
	}
}

// names are the absolute names that a word may mean in a folder, of which there
// may be two: the working directory as it was given, and with its links
// followed.
func (g *gatherer) names(word string, dir shell.Dir) []string {
	if word[0] == '/' {
		return []string{word}
	}
	if dir.Unknown {
		return nil
	}
	var out []string
	for _, cwd := range [...]string{g.facts.Cwd, g.call.Cwd} {
		if !strings.HasPrefix(cwd, "/") {
			continue
		}
		name := path.Enter(cwd, dir.Steps)
		if name = strings.TrimSuffix(name, "/") + "/" + word; len(out) == 0 || out[0] != name {
			out = append(out, name)
		}
	}
	return out
}
