package policy

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
)

// selector matches calls by what they are rather than by the tool's name.
type selector struct {
	kind   sayso.Kind
	server string
	host   string
}

func (s *selector) matches(c *subject) bool {
	return (s.kind == "" || s.kind == c.kind) && (s.server == "" || glob(s.server, c.server)) && (s.host == "" || s.host == c.call.Host)
}

var kinds = []string{"shell", "read", "write", "edit", "delete", "list", "fetch", "search", "delegate", "mcp", "other"}

// selector reads {kind: …, server: …, host: …}.
func (r *reader) selector(e sayso.Effect, n *yaml.Node) matcher {
	s := &selector{}
	var words []string
	add := func(key, value string) { words = append(words, key+": "+value) }
	r.mapping(n, "a matcher", map[string]field{
		"kind": func(_, n *yaml.Node) {
			word, ok := r.word(n, "kind", kinds...)
			if ok && word == string(sayso.KindShell) && e == sayso.Allow {
				r.fail(n, CodeShellWide, `write the exact text of each command, as in "bash:git status"`, "this would allow every command")
			}
			s.kind = sayso.Kind(word)
			add("kind", word)
		},
		"server": func(_, n *yaml.Node) { s.server, _ = r.text(n, "server"); add("server", s.server) },
		"host":   func(_, n *yaml.Node) { s.host, _ = r.text(n, "host"); add("host", s.host) },
	}, map[string]string{
		"annotations": "what a server says of its tools", "caller": "who calls", "session": "the session",
		"tags": "tags of the call", "args": "conditions on arguments", "tool": "tools of a server by name",
	})
	if len(n.Content) == 0 {
		r.fail(n, CodePattern, "write for example {kind: delete}", "an empty matcher says nothing")
	}
	return matcher{text: "{" + strings.Join(words, ", ") + "}", selector: s}
}
