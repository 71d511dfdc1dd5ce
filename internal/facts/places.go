package facts

import (
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// Limits of what is looked up of one command line.
const (
	maxPlaces    = 2000 // where policy needs it
	maxLookBack  = 32   // that are kept where it does not
	maxListed    = 4000 // names of folders that a glob is held against
	maxGlobs     = 64   // globs of a line that are looked at
	longLookBack = 4096 // bytes of a line of which they are kept
)

// places adds where the words of a command lead that may name files: operands,
// targets of redirections, what options write. Only a policy that names folders
// needs to know all of them; for others those are kept apart, and only of lines of
// which that costs next to nothing. What leads to a file that steers other
// programs, or is known to hold secrets, is always told.
func (g *gatherer) places(arg, text string) {
	if !g.rooted && g.facts.Cwd == "" {
		return
	}
	g.apart = !g.rooted && len(text) <= longLookBack
	g.seen = make(map[string]bool)
	line := shell.Inspect(text)
	g.settle(line)
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
		g.trees(c)
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
			if len(g.seen) >= maxPlaces || g.ctx.Err() != nil {
				g.facts.Truncated = true
				return
			}
			g.seen[name] = true
			g.leads(g.fact(arg, name))
		}
	}
}

// leads adds where a word leads.
func (g *gatherer) leads(f sayso.PathFact) {
	switch {
	case g.rooted || guarded(f.Resolved):
		g.facts.Operands = append(g.facts.Operands, f)
	case g.apart && len(g.facts.Words) < maxLookBack:
		g.facts.Words = append(g.facts.Words, f)
	}
}

// guarded reports whether a file steers other programs, or is known to hold
// secrets.
func guarded(resolved string) bool {
	return resolved != "" && (path.Control(resolved) || path.Credential(resolved))
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
