package policy

import (
	"slices"
	"strings"
	"sync"

	"github.com/sayso-dev/sayso"
)

// alike returns our names for the tools that some host or we call name, in
// whatever case. A call whose tool no table has may be one of these: what is
// said against them is said of it too, and nothing that is said for them.
func alike(name string) []sayso.Tool { return tools()[strings.ToLower(name)] }

var tools = sync.OnceValue(func() map[string][]sayso.Tool {
	byName := map[string][]sayso.Tool{}
	for _, name := range everyTool() {
		key := strings.ToLower(name.called)
		if !slices.ContainsFunc(byName[key], func(t sayso.Tool) bool { return t.Name == name.tool.Name }) {
			byName[key] = append(byName[key], name.tool)
		}
	}
	return byName
})

// calledTool is a tool under a name that somebody calls it by.
type calledTool struct {
	called string
	tool   sayso.Tool
}

// everyTool lists the tools of all tables, in a fixed order.
func everyTool() []calledTool {
	var all []calledTool
	sayso.EachTool(func(_, name string, t sayso.Tool) bool {
		all = append(all, calledTool{name, t})
		return true
	})
	slices.SortFunc(all, func(a, b calledTool) int {
		return strings.Compare(a.called+"\x00"+a.tool.Name+"\x00"+string(a.tool.Kind), b.called+"\x00"+b.tool.Name+"\x00"+string(b.tool.Kind))
	})
	return all
}

// unheard reports whether no table has the tool of the call.
func (s *subject) unheard() bool {
	t := s.tool
	return s.server == "" && t.Kind == sayso.KindOther && t.Primary == "" && t.Args == nil && !t.Bookkeeping && !t.OwnScreen
}

// against returns what the rules say against the tools that are called alike.
func (x *index) against(s *subject, named []*entry) []*entry {
	if !s.unheard() {
		return named
	}
	all := slices.Clone(named)
	for _, t := range alike(s.call.Tool) {
		if t.Name == s.canonical || t.Name == s.call.Tool {
			continue
		}
		for _, e := range x.named[t.Name] {
			if e.effect != sayso.Allow {
				all = append(all, e)
			}
		}
	}
	slices.SortFunc(all, func(a, b *entry) int { return a.order - b.order })
	return all
}
