package install

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Hook is how our hook is started: its program, an absolute path, and the
// arguments that say where the gate is. They stand in the settings because what
// a hook is told by variables a project's settings can set.
type Hook struct {
	Program string
	Place   []string
	// Prompts says that it is asked about what the host would prompt for alone, where
	// the host offers that.
	Prompts bool
}

// format is how the settings of a host hold hooks: an object with a list for each
// event. The list has groups, each with a matcher and handlers in its "hooks";
// or, if the format is flat, the handlers themselves.
type format struct {
	host   string // what our hook is told
	root   string // the name of the object; "hooks" if empty
	flat   bool
	blank  string             // settings without a hook, where there is no file yet; "{}" if empty
	events func(Hook) []event // those that we install
	asks   string             // the event in which our hook decides
}

// hooks is the object that the lists stand in, nil if there is none.
func (f format) hooks(root *node) *node { return root.get(f.name()) }

func (f format) name() string { return cmp.Or(f.root, "hooks") }

// event is what we install for an event: a group, or a handler if the format is
// flat.
type event struct {
	name  string
	value any
}

// handlers are those in an entry of an event's list.
func (f format) handlers(entry *node) []*node {
	if f.flat {
		return []*node{entry}
	}
	return elements(entry.get("hooks"))
}

// put returns settings with our hooks in them. Settings that have them already
// come back unchanged. Hooks of ours that are out of date are replaced.
func (f format) put(settings []byte, hook Hook) ([]byte, error) {
	if program := hook.Program; !filepath.IsAbs(program) {
		return nil, fmt.Errorf("%w: the hook's program must be an absolute path, not %q", sayso.ErrInvalid, program)
	}
	text := settings
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte(cmp.Or(f.blank, "{}") + "\n")
	}
	if done, err := f.present(text, hook); err != nil || done {
		return text, err
	}
	text, err := f.take(text)
	if err != nil {
		return nil, err
	}
	for _, e := range f.events(hook) {
		if text, err = f.add(text, e); err != nil {
			return nil, err
		}
	}
	if done, err := f.present(text, hook); err != nil || !done {
		return nil, fmt.Errorf("the edited settings do not hold the hooks (%v); nothing was written", err)
	}
	return text, nil
}

// present reports whether all our hooks stand in the settings, as they must,
// once.
func (f format) present(text []byte, hook Hook) (bool, error) {
	root, err := f.object(text)
	if err != nil {
		return false, err
	}
	for _, e := range f.events(hook) {
		want, err := canonical(e.value)
		if err != nil {
			return false, err
		}
		found := 0
		for _, g := range elements(f.hooks(root).get(e.name)) {
			if !slices.ContainsFunc(f.handlers(g), func(h *node) bool { return f.ours(text, h) }) {
				continue
			}
			got, err := jcs.Canonicalize(g.raw(text))
			if err != nil || !bytes.Equal(got, want) {
				return false, err
			}
			found++
		}
		if found != 1 {
			return false, nil
		}
	}
	return true, nil
}

func canonical(v any) ([]byte, error) {
	text, err := jcs.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jcs.Canonicalize(text)
}

// object parses settings and checks the parts that hooks stand in.
func (f format) object(text []byte) (*node, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	if root.kind != '{' {
		return nil, fmt.Errorf("%w: the settings are no JSON object", sayso.ErrInvalid)
	}
	hooks := f.hooks(root)
	if hooks == nil {
		return root, nil
	}
	if hooks.kind != '{' {
		return nil, fmt.Errorf("%w: %q is no object", sayso.ErrInvalid, f.name())
	}
	for _, m := range hooks.members {
		if m.value.kind != '[' {
			return nil, fmt.Errorf("%w: %q.%q is no list", sayso.ErrInvalid, f.name(), m.name)
		}
	}
	return root, nil
}

// add puts what we install for the event behind those that are there.
func (f format) add(text []byte, e event) ([]byte, error) {
	root, err := f.object(text)
	if err != nil {
		return nil, err
	}
	s := styleOf(text, root)
	value, err := jcs.Marshal(e.value)
	if err != nil {
		return nil, err
	}
	hooks := f.hooks(root)
	list := hooks.get(e.name)
	switch {
	case list != nil:
		return s.insert(text, list, 2, s.lay(value, 3)), nil
	case hooks != nil:
		return s.insert(text, hooks, 1, s.member(e.name, s.lay(slices.Concat([]byte("["), value, []byte("]")), 2))), nil
	}
	whole := slices.Concat([]byte(`{"`+e.name+`":[`), value, []byte(`]}`))
	return s.insert(text, root, 0, s.member(f.name(), s.lay(whole, 1))), nil
}

func (s style) member(name string, value []byte) []byte {
	colon := `": `
	if !s.spread {
		colon = `":`
	}
	return slices.Concat([]byte(`"`+name+colon), value)
}

// take returns settings without any hook of ours, whatever the program's path,
// and without the groups, lists and objects that are empty because of it.
func (f format) take(settings []byte) ([]byte, error) {
	text := settings
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	for {
		root, err := f.object(text)
		if err != nil {
			return nil, err
		}
		next, found := f.removeOne(text, root)
		if !found {
			return text, nil
		}
		text = next
	}
}

// removeOne takes the first hook of ours out.
func (f format) removeOne(text []byte, root *node) ([]byte, bool) {
	hooks := f.hooks(root)
	if hooks == nil {
		return text, false
	}
	for ei, e := range hooks.members {
		for gi, g := range e.value.elements {
			for hi, h := range f.handlers(g) {
				if f.ours(text, h) {
					return f.emptied(text, root, [3]int{ei, gi, hi}), true
				}
			}
		}
	}
	return text, false
}

// emptied cuts the outermost value that holds nothing but one hook.
func (f format) emptied(text []byte, root *node, at [3]int) []byte {
	hooks := f.hooks(root)
	list := hooks.members[at[0]].value
	entry := list.elements[at[1]]
	switch {
	case len(f.handlers(entry)) > 1:
		return cut(text, entry.get("hooks"), at[2])
	case len(list.elements) > 1:
		return cut(text, list, at[1])
	case len(hooks.members) > 1:
		return cut(text, hooks, at[0])
	}
	return cut(text, root, slices.IndexFunc(root.members, func(m member) bool { return m.name == f.name() }))
}

// ours reports whether a handler runs our hook.
func (f format) ours(text []byte, h *node) bool { return f.program(text, h) != "" }

// words are what a handler starts, as far as we read lines of a shell.
func (f format) words(text []byte, h *node) []string {
	command := stringOf(text, h.get("command"))
	args := h.get("args")
	if args == nil {
		return unwatched(unquoted(cmp.Or(command, stringOf(text, h.get("bash")))))
	}
	words := []string{command}
	for _, arg := range elements(args) {
		words = append(words, stringOf(text, arg))
	}
	return words
}

// program is the program of a handler that runs our hook; empty if it does not.
func (f format) program(text []byte, h *node) string {
	words := f.words(text, h)
	switch {
	case len(words) > 1 && filepath.Base(words[0]) == "sayso-hook" && words[1] == f.host:
		return words[0]
	case len(words) > 2 && filepath.Base(words[0]) == "sayso" && words[1] == "hook" && words[2] == f.host:
		return words[0]
	}
	return ""
}

func elements(n *node) []*node {
	if n == nil {
		return nil
	}
	return n.elements
}

// stringOf is the text of a JSON string; empty for anything else.
func stringOf(text []byte, n *node) string {
	if n == nil || n.kind != '"' {
		return ""
	}
	s, err := jsontext.AppendUnquote(nil, n.raw(text))
	if err != nil {
		return ""
	}
	return string(s)
}
