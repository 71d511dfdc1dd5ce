package install

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// StatusMessage is what Claude Code shows while our hook waits.
const StatusMessage = "sayso waits: run sayso watch"

// handler is one hook in Claude Code's settings.
type handler struct {
	Type          string   `json:"type"`
	Command       string   `json:"command"`
	Args          []string `json:"args"`
	Timeout       int      `json:"timeout"` // in seconds
	OnFailure     string   `json:"onFailure,omitzero"`
	StatusMessage string   `json:"statusMessage,omitzero"`
}

type group struct {
	Matcher string    `json:"matcher,omitzero"`
	Hooks   []handler `json:"hooks"`
}

// event is a hook that we install: what it must do, and for how long.
type event struct {
	name claudecode.Event
	group
}

// host is the name under which our hook is told who calls it.
const host = claudecode.Host

// Hook is how our hook is started: its program, an absolute path, and the
// arguments that say where the gate is. They stand in the settings because what
// a hook is told by variables a project's settings can set.
type Hook struct {
	Program string
	Place   []string
}

// events are the hooks that we install. Only the first can block; the others
// keep the record and must never be in the way.
func events(h Hook) []event {
	list := []event{
		{claudecode.PreToolUse, group{Matcher: "*"}},
		{claudecode.PostToolUse, group{Matcher: "*"}},
		{claudecode.PostToolUseFailure, group{Matcher: "*"}},
		{claudecode.SessionStart, group{}},
		{claudecode.SessionEnd, group{}},
	}
	for i := range list {
		list[i].Hooks = []handler{h.handler(list[i].name)}
	}
	return list
}

// handler is our hook for an event.
func (h Hook) handler(e claudecode.Event) handler {
	own := handler{Type: "command", Command: h.Program, Args: append([]string{host}, h.Place...), Timeout: int(e.Timeout() / time.Second)}
	if e == claudecode.PreToolUse {
		own.OnFailure, own.StatusMessage = "block", StatusMessage
	}
	return own
}

// Claude returns Claude Code's settings with our hooks in them. Settings that have them already come back unchanged.
// Hooks of ours that are out of date are replaced.
func Claude(settings []byte, hook Hook) ([]byte, error) {
	if program := hook.Program; !filepath.IsAbs(program) {
		return nil, fmt.Errorf("%w: the hook's program must be an absolute path, not %q", sayso.ErrInvalid, program)
	}
	text := settings
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	if done, err := present(text, hook); err != nil || done {
		return text, err
	}
	text, err := Unclaude(text)
	if err != nil {
		return nil, err
	}
	for _, e := range events(hook) {
		if text, err = e.add(text); err != nil {
			return nil, err
		}
	}
	if done, err := present(text, hook); err != nil || !done {
		return nil, fmt.Errorf("the edited settings do not hold the hooks (%v); nothing was written", err)
	}
	return text, nil
}

// present reports whether all our hooks stand in the settings, as they must,
// once.
func present(text []byte, hook Hook) (bool, error) {
	root, err := object(text)
	if err != nil {
		return false, err
	}
	for _, e := range events(hook) {
		want, err := canonical(e.group)
		if err != nil {
			return false, err
		}
		found := 0
		for _, g := range elements(root.get("hooks").get(string(e.name))) {
			if !slices.ContainsFunc(elements(g.get("hooks")), func(h *node) bool { return ours(text, h) }) {
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
func object(text []byte) (*node, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	if root.kind != '{' {
		return nil, fmt.Errorf("%w: the settings are no JSON object", sayso.ErrInvalid)
	}
	hooks := root.get("hooks")
	if hooks == nil {
		return root, nil
	}
	if hooks.kind != '{' {
		return nil, fmt.Errorf("%w: \"hooks\" is no object", sayso.ErrInvalid)
	}
	for _, m := range hooks.members {
		if m.value.kind != '[' {
			return nil, fmt.Errorf("%w: \"hooks\".%q is no list", sayso.ErrInvalid, m.name)
		}
	}
	return root, nil
}

// add puts the event's group behind those that are there.
func (e event) add(text []byte) ([]byte, error) {
	root, err := object(text)
	if err != nil {
		return nil, err
	}
	s := styleOf(text, root)
	value, err := jcs.Marshal(e.group)
	if err != nil {
		return nil, err
	}
	hooks := root.get("hooks")
	list := hooks.get(string(e.name))
	switch {
	case list != nil:
		return s.insert(text, list, 2, s.lay(value, 3)), nil
	case hooks != nil:
		return s.insert(text, hooks, 1, s.member(string(e.name), s.lay(slices.Concat([]byte("["), value, []byte("]")), 2))), nil
	}
	whole := slices.Concat([]byte(`{"`+string(e.name)+`":[`), value, []byte(`]}`))
	return s.insert(text, root, 0, s.member("hooks", s.lay(whole, 1))), nil
}

func (s style) member(name string, value []byte) []byte {
	colon := `": `
	if !s.spread {
		colon = `":`
	}
	return slices.Concat([]byte(`"`+name+colon), value)
}

// Unclaude returns Claude Code's settings without any hook of ours, whatever
// the program's path, and without the groups, lists and objects that are empty
// because of it.
func Unclaude(settings []byte) ([]byte, error) {
	text := settings
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	for {
		root, err := object(text)
		if err != nil {
			return nil, err
		}
		next, found := removeOne(text, root)
		if !found {
			return text, nil
		}
		text = next
	}
}

// removeOne takes the first hook of ours out.
func removeOne(text []byte, root *node) ([]byte, bool) {
	hooks := root.get("hooks")
	if hooks == nil {
		return text, false
	}
	for ei, e := range hooks.members {
		for gi, g := range e.value.elements {
			handlers := g.get("hooks")
			for hi, h := range elements(handlers) {
				if ours(text, h) {
					return emptied(text, root, [3]int{ei, gi, hi}), true
				}
			}
		}
	}
	return text, false
}

// emptied cuts the outermost value that holds nothing but one hook.
func emptied(text []byte, root *node, at [3]int) []byte {
	hooks := root.get("hooks")
	list := hooks.members[at[0]].value
	handlers := list.elements[at[1]].get("hooks")
	switch {
	case len(handlers.elements) > 1:
		return cut(text, handlers, at[2])
	case len(list.elements) > 1:
		return cut(text, list, at[1])
	case len(hooks.members) > 1:
		return cut(text, hooks, at[0])
	}
	return cut(text, root, slices.IndexFunc(root.members, func(m member) bool { return m.name == "hooks" }))
}

// ours reports whether a handler runs our hook.
func ours(text []byte, h *node) bool {
	command := stringOf(text, h.get("command"))
	args := elements(h.get("args"))
	switch filepath.Base(command) {
	case "sayso-hook":
		return len(args) > 0 && stringOf(text, args[0]) == host
	case "sayso":
		return len(args) > 1 && stringOf(text, args[0]) == "hook" && stringOf(text, args[1]) == host
	}
	return command == "sayso-hook "+host || command == "sayso hook "+host
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
