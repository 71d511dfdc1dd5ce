package install

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// survey finds our hook that asks, and those of others beside it. Ours is
// installed only where it stands as we would write it: hosts have many words for
// a hook that nobody waits for, that is asked about some calls, or whose no does
// not count, and more with each release.
func (f format) survey(settings []byte) (Survey, error) {
	var s Survey
	if len(bytes.TrimSpace(settings)) == 0 {
		return s, nil
	}
	root, err := f.object(settings)
	if err != nil {
		return s, err
	}
	for _, entry := range elements(f.hooks(root).get(f.asks)) {
		for _, h := range f.handlers(entry) {
			f.look(settings, entry, h, &s)
		}
	}
	if s.Installed {
		s.Differs = "" // another beside it takes nothing away: the strictest answer wins
	}
	return s, nil
}

// look takes one handler into a survey.
func (f format) look(text []byte, entry, h *node, s *Survey) {
	hook, ours := f.hook(text, h)
	switch {
	case !ours && f.named(text, h):
		s.Differs = "it stands within another command"
	case !ours:
		s.OtherHooks = append(s.OtherHooks, called(text, h))
	default:
		differs := f.differs(text, entry, h, hook)
		if differs != "" && s.Installed {
			return
		}
		s.Program, s.State, s.Differs = hook.Program, hook.option("--state"), differs
		s.Installed = differs == ""
	}
}

// called is what a hook of somebody else is known by.
func called(text []byte, h *node) string {
	for _, name := range []string{"command", "bash", "url", "type"} {
		if word := stringOf(text, h.get(name)); word != "" {
			return word
		}
	}
	return ""
}

// hook is what a handler of ours starts, as it would have been given to us.
func (f format) hook(text []byte, h *node) (Hook, bool) {
	words := f.words(text, h)
	if f.program(text, h) == "" {
		return Hook{}, false
	}
	rest := words[2:]
	if filepath.Base(words[0]) == "sayso" {
		rest = words[3:]
	}
	if h.get("args") == nil {
		if end := slices.Index(rest, "||"); end >= 0 {
			rest = rest[:end] // what is said if it fails
		}
	}
	return Hook{Program: words[0], Place: rest}, true
}

// named reports whether a handler that does not start our hook names it all the
// same.
func (f format) named(text []byte, h *node) bool {
	raw := string(h.raw(text))
	return strings.Contains(raw, "sayso-hook") && strings.Contains(raw, f.host)
}

// differs says in what an entry with our handler differs from what we would
// write; nothing if in nothing that counts. Handlers of others may stand beside
// ours.
func (f format) differs(text []byte, entry, h *node, hook Hook) string {
	if why := hook.misplaced(); why != "" {
		return why
	}
	var wanted []byte
	for _, e := range f.events(hook) {
		if e.name == f.asks {
			wanted, _ = jcs.Marshal(e.value) // of strings and numbers; without, everything differs
		}
	}
	root, err := parse(wanted)
	if err != nil {
		return "what would be written is not known"
	}
	if why := differing(text, entry, wanted, root, "hooks"); why != "" || f.flat {
		return why
	}
	return differing(text, h, wanted, root.get("hooks").elements[0], "")
}

// differing is the first member in which an object differs from another, but for
// one.
func differing(text []byte, have *node, wanted []byte, want *node, but string) string {
	for _, m := range want.members {
		if m.name == but {
			continue
		}
		n := have.get(m.name)
		if n == nil {
			return fmt.Sprintf("%s is missing", m.name)
		}
		if !same(n.raw(text), m.value.raw(wanted)) {
			return fmt.Sprintf("%s is another", m.name)
		}
	}
	for _, m := range have.members {
		if m.name != but && want.get(m.name) == nil {
			return fmt.Sprintf("%s was added", m.name)
		}
	}
	return ""
}

func same(a, b jsontext.Value) bool {
	x, err := jcs.Canonicalize(a)
	if err != nil {
		return false
	}
	y, err := jcs.Canonicalize(b)
	return err == nil && bytes.Equal(x, y)
}

// misplaced says what is wrong with where a hook is told that the gate is:
// without it the variables count that a project can set.
func (h Hook) misplaced() string {
	for rest := h.Place; len(rest) > 0; {
		switch {
		case rest[0] == "--strict": // asks for more
			rest = rest[1:]
		case len(rest) > 1 && slices.Contains([]string{"--state", "--config", "--runtime", "--server", "--token-file"}, rest[0]):
			rest = rest[2:]
		default:
			return "its arguments are others"
		}
	}
	for _, name := range []string{"--state", "--config", "--runtime"} {
		if !filepath.IsAbs(h.option(name)) {
			return name + " is missing"
		}
	}
	if !filepath.IsAbs(h.Program) {
		return "its program has no absolute path"
	}
	return ""
}

// option is the value of an argument of the hook.
func (h Hook) option(name string) string {
	if i := slices.Index(h.Place, name); i >= 0 && i+1 < len(h.Place) {
		return h.Place[i+1]
	}
	return ""
}
