package policy

import (
	"slices"

	"github.com/sayso-dev/sayso"
)

// mayBeElicited reports whether a call that the pattern speaks of may come by a client
// which can put the question to the person: through the gateway, or through the relay to
// an editor. A name that no table has may be one that an agent gives its editor.
func (m *matcher) mayBeElicited() bool {
	switch {
	case m.server != "":
		return true
	case m.selector != nil:
		return m.selector.mayBeElicited()
	case m.name != "":
		return inEditors(m.name) || len(toolsNamed(m.name)) == 0
	}
	return inEditors(m.wild)
}

// inEditors reports whether a tool of the table of editors fits a name.
func inEditors(pattern string) bool {
	return editorsHave(func(name string, t sayso.Tool) bool { return glob(pattern, name) || glob(pattern, t.Name) })
}

// editorsHave reports whether something holds of a tool of that table.
func editorsHave(holds func(name string, t sayso.Tool) bool) bool {
	found := false
	sayso.EachTool(func(host, name string, t sayso.Tool) bool {
		found = host == sayso.HostACP && holds(name, t)
		return !found
	})
	return found
}

// mayBeElicited is the same for a selector, all of which must hold.
func (s *selector) mayBeElicited() bool {
	by := func(host string) bool { return len(s.hosts) == 0 || anyGlob(s.hosts, host) }
	of := func(kind sayso.Kind) bool { return len(s.kinds) == 0 || slices.Contains(s.kinds, string(kind)) }
	if by(sayso.HostMCP) && of(sayso.KindMCP) {
		return true
	}
	if !by(sayso.HostACP) || len(s.servers) > 0 {
		return false
	}
	named := func(name string) bool { return inEditors(name) || len(toolsNamed(name)) == 0 }
	return (of(sayso.KindOther) || editorsHave(func(_ string, t sayso.Tool) bool { return of(t.Kind) })) &&
		(len(s.tools) == 0 || slices.ContainsFunc(s.tools, named))
}

// warnNotElicitable warns of a rule whose question no client can put.
func (r *reader) warnNotElicitable(ru *rule) {
	if ru.elicit && !slices.ContainsFunc(ru.matchers, (*matcher).mayBeElicited) {
		r.warnings = append(r.warnings, Warning{r.file, ru.elicitAt.line, ru.elicitAt.column,
			"elicit: true never counts here: no call that comes by an MCP client (sayso mcp) or an editor (sayso acp --editor) fits this rule; " +
				"write for example mcp__SERVER__TOOL, or remove it"})
	}
}

// unheard are the rules in the file of a project that let a client put the question:
// such files only tighten.
func (f *File) unheard() (out []Warning) {
	for _, part := range f.every() {
		for _, ru := range part.rules {
			if ru.elicit {
				out = append(out, Warning{f.Name, ru.elicitAt.line, ru.elicitAt.column, "elicit: true says nothing in the file of a project; write the rule into your own policy, or remove it"})
			}
		}
	}
	return out
}
