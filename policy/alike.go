package policy

import (
	"slices"
	"strings"
	"sync"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// toolsLike returns our names for the tools that some host or we call name, in
// whatever case. A call whose tool no table has may be one of these: what is
// said against them is said of it too, and nothing that is said for them.
func toolsLike(name string) []sayso.Tool { return tools()[strings.ToLower(name)] }

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
	host   string // empty for us
	called string
	tool   sayso.Tool
}

// toolsMeant returns what the hosts, and we, may mean by a name, in whatever case:
// the tools of [alike], each as the one who has it calls it.
func toolsMeant(name string) []calledTool { return toolsByCaller()[strings.ToLower(name)] }

var toolsByCaller = sync.OnceValue(func() map[string][]calledTool {
	byName := map[string][]calledTool{}
	for _, t := range everyTool() {
		key := strings.ToLower(t.called)
		byName[key] = append(byName[key], t)
	}
	return byName
})

// everyTool lists the tools of all tables, in a fixed order.
func everyTool() []calledTool {
	var all []calledTool
	sayso.EachTool(func(host, name string, t sayso.Tool) bool {
		all = append(all, calledTool{host, name, t})
		return true
	})
	slices.SortFunc(all, func(a, b calledTool) int {
		return strings.Compare(a.called+"\x00"+a.tool.Name+"\x00"+a.host, b.called+"\x00"+b.tool.Name+"\x00"+b.host)
	})
	return all
}

// isUnknownTool reports whether no table has the tool of the call.
func (s *subject) isUnknownTool() bool {
	t := s.tool
	return s.server == "" && t.Kind == sayso.KindOther && t.Primary == "" && t.Args == nil && !t.Bookkeeping && !t.OwnScreen
}

// assumeShell takes a tool that nobody knows for the shell that it is called like,
// if it is given a command: so that what is said against commands can be said of
// this one. Nothing is allowed by it.
func (s *subject) assumeShell() {
	args := []byte(s.call.Args)
	readable := len(args) > 0 && jcs.Check(args) == nil
	for _, t := range toolsLike(s.call.Tool) {
		s.kind = s.kind.Stricter(t.Kind)
		if !readable || !isBash(t) || s.strange {
			continue
		}
		if _, state := member(args, t.Primary); state == argGiven {
			s.strange = true
			s.tool.Primary, s.tool.Operand = t.Primary, t.Operand
		}
	}
}

// mayBeTool reports whether the tool of the call may be the one with a name,
// called by somebody whose tools nobody knows.
func (s *subject) mayBeTool(name string) bool {
	return s.unheard && slices.ContainsFunc(toolsLike(s.call.Tool), func(t sayso.Tool) bool { return t.Name == name })
}

// against returns what the rules say against the tools that are called alike.
func (x *index) against(s *subject, named []*entry) []*entry {
	if !s.unheard {
		return named
	}
	all := slices.Clone(named)
	for _, t := range toolsLike(s.call.Tool) {
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
