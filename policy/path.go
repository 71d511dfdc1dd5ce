package policy

import (
	stdpath "path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
)

// pathPattern is a pattern on paths, component by component. A component is a
// name that may hold stars, or ** for any number of names.
type pathPattern struct {
	anchor anchor
	names  []string
}

// anchor says what a pattern is relative to.
type anchor uint8

const (
	atWorkspace anchor = iota
	atRoot
	atHome
)

// path compiles a pattern on paths.
func (r *reader) path(e sayso.Effect, n *yaml.Node, arg string) *pathPattern {
	p := &pathPattern{}
	rest := strings.TrimPrefix(arg, "./")
	if folder, ok := strings.CutSuffix(rest, "/"); ok && folder != "" && folder != "~" {
		rest = folder + "/**" // a folder is all that is in it
	}
	switch {
	case strings.HasPrefix(rest, "~/"):
		p.anchor, rest = atHome, rest[2:]
	case strings.HasPrefix(rest, "/"):
		p.anchor, rest = atRoot, rest[1:]
	}
	if rest == "" || rest == "." {
		return p
	}
	for name := range strings.SplitSeq(rest, "/") {
		if what, write := badName(name); what != "" {
			r.fail(n, CodePath, write, "%s in %s", what, quoted(arg))
			return p
		}
		if e != sayso.Allow {
			name = strings.ToLower(name)
		}
		if last := len(p.names) - 1; name == "**" && last >= 0 && p.names[last] == "**" {
			continue
		}
		p.names = append(p.names, name)
	}
	return p
}

// badName says what is wrong with one component of a pattern.
func badName(name string) (what, write string) {
	switch {
	case name == "":
		return "there are two slashes in a row, or one at the end", "for all that is in a folder, write folder/**"
	case name == "." || name == "..":
		return "there is a " + name, "write the path from the workspace, without " + name
	case name[0] == '~':
		return "there is another person's folder", "write it from the root"
	case strings.Contains(name, "**") && name != "**":
		return "there is a ** that is not a whole name", "write * for any part of a name, ** for any folders"
	case strings.ContainsAny(name, "?[]{}\\"):
		return "there is a ?, a bracket, a brace or a backslash", "only * and ** stand for something; write * for one name"
	}
	return "", ""
}

// matches reports whether an absolute, clean path fits.
func (p *pathPattern) matches(path, workspace, home string, fold bool) bool {
	root := workspace
	switch p.anchor {
	case atRoot:
		root = "/"
	case atHome:
		root = home
	}
	if fold {
		path, root = strings.ToLower(path), strings.ToLower(root)
	}
	if !sayso.Beneath(root, path) {
		return false
	}
	return fits(p.names, strings.TrimPrefix(strings.TrimPrefix(path, root), "/"))
}

// fits compares the names of a path with those of a pattern. It goes back to
// the last ** only, which is enough.
func fits(names []string, path string) bool {
	n, star, from := 0, -1, ""
	for path != "" {
		name, rest, _ := strings.Cut(path, "/")
		switch {
		case n < len(names) && names[n] == "**":
			star, from = n, path
			n++
		case n < len(names) && glob(names[n], name):
			n, path = n+1, rest
		case star >= 0:
			_, from, _ = strings.Cut(from, "/")
			n, path = star+1, from
		default:
			return false
		}
	}
	for n < len(names) && names[n] == "**" {
		n++
	}
	return n == len(names)
}

// matchPath compares a pattern with everything that the operand of a call may
// lead to: an allow must fit all of it, another effect any of it, or the path
// as it is written.
func (m *matcher) matchPath(s *subject, allow bool) bool {
	found := false
	for _, o := range s.facts.Operands {
		if o.Arg != s.tool.Primary || o.Resolved == "" {
			continue
		}
		fit := m.path.matches(o.Resolved, s.facts.Workspace, s.home, !allow)
		if fit != allow {
			return fit // one that fits is enough to deny, one that does not is too much to allow
		}
		found = true
	}
	if allow {
		return found
	}
	for written := range s.eachWritten {
		if m.path.matches(written, s.facts.Workspace, s.home, true) {
			return true
		}
	}
	return false
}

// written is the path of the call made absolute without looking at the disk.
func (s *subject) written() string {
	if s.lexical == "" {
		s.lexical = s.arg
		if s.arg[0] != '/' {
			s.lexical = s.call.Cwd + "/" + s.arg
		}
		s.lexical = stdpath.Clean(s.lexical)
	}
	return s.lexical
}
