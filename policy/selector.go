package policy

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
)

// selector matches calls by what they are rather than by the tool's name. All
// that it names must hold.
type selector struct {
	tools       []string
	kinds       []string
	servers     []string
	hosts       []string
	callers     []string
	sessions    []string
	tags        []string // the call must have all of them
	annotations []annotation
	trusted     map[string]bool // servers whose annotations count for an allow
	args        []argument
}

// annotation is one thing that a server says of its tool.
type annotation struct {
	name string
	want bool
}

// matches reports whether the call is one that the selector speaks of.
func (s *selector) matches(c *subject, allow bool) bool {
	return s.matchesTool(c, allow) &&
		(len(s.kinds) == 0 || slices.Contains(s.kinds, string(c.kind)) || !allow && slices.Contains(s.kinds, string(c.claimed()))) &&
		(len(s.servers) == 0 || c.server != "" && anyGlob(s.servers, c.server)) &&
		(len(s.hosts) == 0 || anyGlob(s.hosts, c.call.Host)) &&
		(len(s.callers) == 0 || anyGlob(s.callers, c.call.Caller)) &&
		(len(s.sessions) == 0 || anyGlob(s.sessions, c.call.Session)) &&
		s.matchesTags(c) && s.matchesAnnotations(c, allow) && s.matchesArgs(c, allow)
}

// matchesTool compares names. A name without a server is that of a tool of no
// server; all but an allow look at servers' tools too.
func (s *selector) matchesTool(c *subject, allow bool) bool {
	if len(s.tools) == 0 {
		return true
	}
	if c.server == "" {
		return anyGlob(s.tools, c.canonical) || anyGlob(s.tools, c.call.Tool)
	}
	if allow && len(s.servers) == 0 {
		return false
	}
	return anyGlob(s.tools, c.canonical) || !allow && anyGlob(s.tools, "mcp__"+c.server+"__"+c.canonical)
}

func anyGlob(patterns []string, s string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return glob(p, s) })
}

func (s *selector) matchesTags(c *subject) bool {
	for _, want := range s.tags {
		if !slices.ContainsFunc(c.call.Tags, func(tag string) bool { return glob(want, tag) }) {
			return false
		}
	}
	return true
}

// matchesAnnotations compares what the server says. An allow takes the word of
// a trusted server alone; for the others, what is not said is the worst.
func (s *selector) matchesAnnotations(c *subject, allow bool) bool {
	if len(s.annotations) == 0 {
		return true
	}
	if allow && (c.guessed || !s.trusted[c.server]) {
		return false
	}
	said := worst(c.call.Annotations)
	for _, a := range s.annotations {
		if said[a.name] != a.want {
			return false
		}
	}
	return true
}

// worst is what annotations say, and the worst where they say nothing.
func worst(a *sayso.Annotations) map[string]bool {
	said := map[string]bool{"read_only": false, "destructive": true, "idempotent": false, "open_world": true}
	if a == nil {
		return said
	}
	for name, value := range map[string]*bool{"read_only": a.ReadOnly, "destructive": a.Destructive, "idempotent": a.Idempotent, "open_world": a.OpenWorld} {
		if value != nil {
			said[name] = *value
		}
	}
	return said
}

var kinds = []string{"shell", "read", "write", "edit", "delete", "list", "fetch", "search", "delegate", "mcp", "other"}

// selector reads {kind: …, server: …, …}.
func (r *reader) selector(f *File, e sayso.Effect, n *yaml.Node) matcher {
	s := &selector{}
	var words []string
	globs := func(into *[]string) field {
		return func(k, n *yaml.Node) {
			for _, item := range r.choices(k, n) {
				if text, ok := r.text(item, k.Value); ok {
					*into = append(*into, text)
				}
			}
			words = append(words, k.Value+": "+strings.Join(*into, ", "))
		}
	}
	r.mapping(n, "a matcher", map[string]field{
		"tool": func(k, n *yaml.Node) {
			globs(&s.tools)(k, n)
			r.pending = append(r.pending, func() { r.selectedTools(e, s, n) })
		},
		"kind": func(k, n *yaml.Node) {
			for _, item := range r.choices(k, n) {
				if word, ok := r.word(item, "kind", kinds...); ok {
					s.kinds = append(s.kinds, word)
				}
			}
			words = append(words, "kind: "+strings.Join(s.kinds, ", "))
		},
		"server":  globs(&s.servers),
		"host":    globs(&s.hosts),
		"caller":  globs(&s.callers),
		"session": globs(&s.sessions),
		"tags":    globs(&s.tags),
		"annotations": func(k, n *yaml.Node) {
			s.annotations = r.annotations(n)
			words = append(words, "annotations: "+annotationsText(s.annotations))
			r.pending = append(r.pending, func() { r.trusts(f, e, s, k) })
		},
		"args": func(_, n *yaml.Node) {
			s.args = r.arguments(e, n)
			words = append(words, "args: "+argumentsText(s.args))
		},
	}, nil)
	if len(n.Content) == 0 {
		r.fail(n, CodePattern, "write for example {kind: delete}", "an empty matcher says nothing")
	}
	return matcher{text: "{" + strings.Join(words, ", ") + "}", selector: s}
}

// choices are the values of a key, of which there must be one: an empty list
// would be read as no condition at all.
func (r *reader) choices(key, n *yaml.Node) []*yaml.Node {
	items := list(n)
	if len(items) == 0 {
		r.fail(n, CodePattern, "write the value that it must have, or remove "+key.Value, "there is no value for %s", key.Value)
	}
	return items
}

// selectedTools looks for names that nothing knows. Names of servers' tools are
// taken as given.
func (r *reader) selectedTools(e sayso.Effect, s *selector, n *yaml.Node) {
	if len(s.servers) > 0 {
		return
	}
	for i, name := range s.tools {
		if name != "*" && !strings.HasPrefix(name, "mcp__") && len(toolsNamed(name)) == 0 {
			r.unknownTool(e, list(n)[i], name)
		} else {
			r.ofSomeHosts(e, list(n)[i], name)
		}
	}
}

func (r *reader) annotations(n *yaml.Node) []annotation {
	var out []annotation
	read := func(k, n *yaml.Node) {
		if want, ok := r.boolean(n, k.Value); ok {
			out = append(out, annotation{k.Value, want})
		}
	}
	ok := r.mapping(n, "annotations", map[string]field{"read_only": read, "destructive": read, "idempotent": read, "open_world": read}, nil)
	if ok && len(n.Content) == 0 {
		r.fail(n, CodePattern, "write for example annotations: {read_only: true}", "there is no annotation, so this says nothing")
	}
	return out
}

func annotationsText(as []annotation) string {
	var words []string
	for _, a := range as {
		words = append(words, a.name+": "+strconv.FormatBool(a.want))
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// trusts refuses an allow that takes the word of a server that the file does
// not trust.
func (r *reader) trusts(f *File, e sayso.Effect, s *selector, key *yaml.Node) {
	s.trusted = f.servers
	if e != sayso.Allow {
		return
	}
	server := "NAME"
	missing := len(f.servers) == 0
	for _, name := range s.servers {
		if !f.servers[name] {
			server, missing = name, true
		}
	}
	if missing {
		r.fail(key, CodeTrust, "write servers: {"+server+": {trust: [annotations]}} if what it says of its tools can be relied on",
			"an allow relies on what a server says of its tools, and this one is not trusted")
	}
}

// without are selectors that name one list less of what the call is, each with a
// list from which that is taken out. A list of which nothing would be left is
// none of them: without it the selector would speak of more.
func (s *selector) without(c *subject) []*selector {
	var out []*selector
	less := func(list func(*selector) *[]string, is func(string) bool) {
		fewer := *s
		words := list(&fewer)
		*words = slices.DeleteFunc(slices.Clone(*words), is)
		if n := len(*words); n > 0 && n < len(*list(s)) {
			out = append(out, &fewer)
		}
	}
	fits := func(text string) func(string) bool { return func(p string) bool { return glob(p, text) } }
	less(func(s *selector) *[]string { return &s.tools }, func(p string) bool {
		return glob(p, c.canonical) || glob(p, c.call.Tool) || c.server != "" && glob(p, "mcp__"+c.server+"__"+c.canonical)
	})
	less(func(s *selector) *[]string { return &s.kinds }, fits(string(c.kind)))
	less(func(s *selector) *[]string { return &s.servers }, fits(c.server))
	less(func(s *selector) *[]string { return &s.hosts }, fits(c.call.Host))
	less(func(s *selector) *[]string { return &s.callers }, fits(c.call.Caller))
	less(func(s *selector) *[]string { return &s.sessions }, fits(c.call.Session))
	return out
}

// written is the selector as a file has it.
func (s *selector) written() string {
	var keys []string
	add := func(key string, words []string) {
		if len(words) == 0 {
			return
		}
		text := strings.Join(words, ", ")
		if len(words) > 1 {
			text = "[" + text + "]"
		}
		keys = append(keys, key+": "+text)
	}
	add("tool", quotedWords(s.tools))
	add("kind", s.kinds)
	add("server", quotedWords(s.servers))
	add("host", quotedWords(s.hosts))
	add("caller", quotedWords(s.callers))
	add("session", quotedWords(s.sessions))
	add("tags", quotedWords(s.tags))
	if len(s.annotations) > 0 {
		keys = append(keys, "annotations: "+annotationsText(s.annotations))
	}
	if len(s.args) > 0 {
		keys = append(keys, "args: "+argumentsWritten(s.args))
	}
	return "{" + strings.Join(keys, ", ") + "}"
}

func quotedWords(words []string) []string {
	var out []string
	for _, w := range words {
		out = append(out, yamlQuoted(w))
	}
	return out
}
