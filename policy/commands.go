package policy

import (
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// commandIndex finds what may be said of a command by the name of its program.
type commandIndex struct {
	parts     int                       // parts of files with rules on commands
	byProgram map[string][]*commandRule // in lower case
	rest      []*commandRule            // patterns that begin with a star, or with nothing
	all       []*commandRule
}

// commandRule is a pattern that may speak of a command.
type commandRule struct {
	*entry
	order   int
	pattern *commandPattern
	// Of a part's rules on commands the first that matches speaks, and every
	// denial; part counts the parts from 1, and is 0 for other rules.
	part  int
	named []sayso.PathRoot // every operand must lie in one of these; nil for anywhere
	roots []sayso.PathRoot // those that are declared
}

// anyCommand stands for the pattern that a rule about a whole tool has on its
// commands.
var anyCommand = &commandPattern{more: true}

// add takes a pattern in that may speak of the commands of some shell.
func (x *commandIndex) add(e *entry) {
	pattern := e.m.command
	switch {
	case e.m.server != "" || e.m.name != "" && !slices.ContainsFunc(toolsNamed(e.m.name), isShell):
		return
	case pattern == nil:
		pattern = anyCommand
	}
	x.put(&commandRule{entry: e, pattern: pattern})
}

func (x *commandIndex) put(r *commandRule) {
	r.order = len(x.all)
	x.all = append(x.all, r)
	if len(r.pattern.words) == 0 || strings.Contains(r.pattern.words[0], "*") {
		x.rest = append(x.rest, r)
		return
	}
	if x.byProgram == nil {
		x.byProgram = make(map[string][]*commandRule)
	}
	for _, program := range r.pattern.programs() {
		x.byProgram[program] = append(x.byProgram[program], r)
	}
}

// programs are the names of the program of a pattern, in all its spellings.
func (p *commandPattern) programs() []string {
	names := []string{strings.ToLower(base(p.words[0]))}
	for _, words := range p.spelled {
		if name := strings.ToLower(base(words[0])); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// addShell takes the rules on commands of a part in.
func (x *index) addShell(p *part, f *File, t Tier, sc *scope) {
	x.commands.parts++
	roots := p.roots(f)
	for i, rule := range p.shell.rules.Rules {
		e := &entry{order: x.entries, rule: x.rules, m: &matcher{position: p.shell.places[i]}, effect: rule.Effect, title: rule.Title, tier: t, scope: sc}
		x.entries++
		x.rules++
		words := strings.Join(rule.Words, " ")
		e.says = sayso.Match{
			Effect: rule.Effect, Cause: sayso.CauseRule, Rule: "shell.rules: " + words, File: f.Name, Line: p.shell.places[i].line, Reason: reasons[rule.Effect],
		}
		if t == TierOrg && rule.Effect == sayso.Ask {
			e.says.Remember = sayso.RememberExact
		}
		r := &commandRule{entry: e, pattern: &p.shell.patterns[i], part: x.commands.parts, roots: roots}
		if len(rule.Paths) > 0 {
			r.named = []sayso.PathRoot{} // a name that nothing has is no path, not every path
		}
		for _, name := range rule.Paths {
			for _, root := range roots {
				if root.Name == name {
					r.named = append(r.named, root)
				}
			}
		}
		x.commands.put(r)
	}
}

// roots are the roots that a part of a file may name: its own, and those of the
// file.
func (p *part) roots(f *File) []sayso.PathRoot {
	var roots []sayso.PathRoot
	if p.paths != nil {
		roots = append(roots, p.paths.rules.Roots...)
	}
	if f.part.paths != nil && p != &f.part {
		for _, root := range f.part.paths.rules.Roots {
			if _, ok := (sayso.PathRules{Roots: roots}).Named(root.Name); !ok {
				roots = append(roots, root)
			}
		}
	}
	return roots
}

// candidates yields the rules that may speak of a command, in their order.
func (x *commandIndex) candidates(c *shell.Command, spelled []shell.Spelling, yield func(*commandRule)) {
	a, b := x.byProgram[strings.ToLower(c.Base())], x.rest
	for i := range spelled {
		if name := spelled[i].Base(); name != c.Base() {
			a = merged(a, x.byProgram[strings.ToLower(name)])
		}
	}
	for len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].order < b[0].order {
			yield(a[0])
			a = a[1:]
		} else {
			yield(b[0])
			b = b[1:]
		}
	}
}

// merged are the rules of two lists in their order, each once.
func merged(a, b []*commandRule) []*commandRule {
	if len(a) == 0 || len(b) == 0 {
		return append(a[:len(a):len(a)], b...)
	}
	all := append(slices.Clone(a), b...)
	slices.SortFunc(all, func(a, b *commandRule) int { return a.order - b.order })
	return slices.Compact(all)
}

// fits says how well a rule fits a command, where its paths are looked at too.
func (r *commandRule) fits(s *subject, c *shell.Command, spelled []shell.Spelling) shell.Fit {
	if r.effect == sayso.Allow {
		if s.isOutsideWorkspace() || !r.pattern.covers(c) || r.named != nil && s.within(c, r) != shell.Yes {
			return shell.No
		}
		return shell.Yes
	}
	fit := r.pattern.fits(c, spelled)
	if fit != shell.No && r.named != nil {
		fit = min(fit, s.within(c, r))
	}
	return fit
}
