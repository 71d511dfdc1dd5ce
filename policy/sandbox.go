package policy

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
)

// pathPart is where a file says that tools may read and write.
type pathPart struct {
	rules sayso.PathRules
	line  int // of sandbox.paths
}

// sandbox reads where tools may read and write; nil if the file does not say.
func (r *reader) sandbox(f *File, key, n *yaml.Node) *pathPart {
	var out *pathPart
	r.mapping(n, "sandbox", map[string]field{
		"paths":              func(k, n *yaml.Node) { out = r.paths(f, k, n) },
		"require_os_sandbox": func(k, n *yaml.Node) { r.osSandbox(k, n) },
	}, map[string]string{
		"network":             "where commands may connect to",
		"os_sandbox_fallback": "what to do without confinement by the system",
	})
	return out
}

// paths reads the roots, of which there must be one: no root at all would deny
// every file.
func (r *reader) paths(f *File, key, n *yaml.Node) *pathPart {
	out := &pathPart{line: key.Line}
	if n.Kind != yaml.MappingNode {
		r.fail(n, CodeType, "write for example paths: {notes: {root: ./notes, mode: rw}}", "paths must be a mapping of names to folders, not %s", kindOf(n))
		return out
	}
	if len(n.Content) == 0 {
		r.fail(n, CodePath, "write for example paths: {notes: {root: ./notes, mode: rw}}, or remove paths", "paths names no folder, so every file would be denied")
	}
	r.names(n, "a name", func(key, value *yaml.Node) {
		if root, ok := r.root(f, key, value); ok {
			out.rules.Roots = append(out.rules.Roots, root)
		}
	})
	return out
}

// root reads one root. Without more it is read and not written.
func (r *reader) root(f *File, key, n *yaml.Node) (sayso.PathRoot, bool) {
	out := sayso.PathRoot{Name: key.Value, File: f.Name, Line: key.Line, Read: sayso.Allow, Write: sayso.Ask}
	rw := false
	ok := r.mapping(n, "a path", map[string]field{
		"root": func(_, n *yaml.Node) { out.Root = r.rootFolder(n) },
		"mode": func(_, n *yaml.Node) {
			word, _ := r.word(n, "mode", "ro", "rw")
			rw = word == "rw"
		},
		"suffixes":       func(_, n *yaml.Node) { out.Suffixes = r.suffixes(n) },
		"read_approval":  func(_, n *yaml.Node) { out.Read, out.ReadSaid = r.approval(n, "read_approval") },
		"write_approval": func(_, n *yaml.Node) { out.Write, out.WriteSaid = r.approval(n, "write_approval") },
	}, nil)
	if !ok {
		return out, false
	}
	if !rw {
		out.Write, out.WriteSaid = sayso.Deny, true
	}
	if out.Root == "" {
		r.fail(key, CodePath, "write root: and a folder, as in root: ./"+key.Value, "%s has no root", quoted(key.Value))
		return out, false
	}
	return out, true
}

func (r *reader) approval(n *yaml.Node, what string) (sayso.Effect, bool) {
	if on, ok := r.boolean(n, what); ok && !on {
		return sayso.Allow, true
	}
	return sayso.Ask, true
}

func (r *reader) rootFolder(n *yaml.Node) string {
	text, ok := r.text(n, "root")
	if !ok {
		return ""
	}
	if what, write := badRoot(text); what != "" {
		r.fail(n, CodePath, write, "%s: %s", quoted(text), what)
	}
	return text
}

// badRoot says what is wrong with the folder of a root. A root is one folder,
// so nothing in it stands for anything but a tilde in front.
func badRoot(text string) (what, write string) {
	switch {
	case strings.ContainsAny(text, "*?$"):
		return "the folder is not written out", "write the name of one folder, without *, ? and $"
	case text[0] == '~' && text != "~" && !strings.HasPrefix(text, "~/"):
		return "it is another person's folder", "write it from the root"
	}
	return "", ""
}

// suffixes reads the endings that names must have.
func (r *reader) suffixes(n *yaml.Node) []string {
	var out []string
	for _, item := range r.items(n, "suffixes") {
		text, ok := r.text(item, "a suffix")
		switch {
		case !ok:
		case len(text) < 2 || text[0] != '.' || strings.ContainsAny(text, "/*?"):
			r.fail(item, CodePath, "write for example .txt", "%s is not the ending of a name", quoted(text))
		default:
			out = append(out, text)
		}
	}
	if len(out) == 0 && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		r.fail(n, CodePath, "remove it to allow any ending", "there is no suffix, so no file would fit")
	}
	return out
}
