package policy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
)

// shellPart is what a file says of commands.
type shellPart struct {
	rules    sayso.ShellRules
	patterns []commandPattern // of the rules, in their order
	places   []position
	line     int  // of the default
	said     bool // the file says what the default is
}

// shell reads what a file says of commands. What it leaves open asks.
func (r *reader) shell(f *File, p *part, key, n *yaml.Node) *shellPart {
	out := &shellPart{line: key.Line, rules: sayso.ShellRules{Default: sayso.Ask}}
	r.mapping(n, "shell", map[string]field{
		"default": func(k, n *yaml.Node) {
			out.line, out.said = k.Line, true
			out.rules.Default = r.allowance(n, "shell.default", nil)
		},
		"rules": func(_, n *yaml.Node) {
			for _, item := range r.items(n, "shell.rules") {
				r.shellRule(f, p, out, item)
			}
		},
	}, map[string]string{"network": "where commands may connect to"})
	return out
}

// allowance reads allowed and approval, and what else may stand beside them:
// neither means that a person is asked.
func (r *reader) allowance(n *yaml.Node, where string, more map[string]field) sayso.Effect {
	allowed, approval := true, true
	fields := map[string]field{
		"allowed":  func(_, n *yaml.Node) { allowed, _ = r.boolean(n, "allowed") },
		"approval": func(_, n *yaml.Node) { approval = r.asks(n) },
	}
	for name, read := range more {
		fields[name] = read
	}
	r.mapping(n, where, fields, nil)
	switch {
	case !allowed:
		return sayso.Deny
	case approval:
		return sayso.Ask
	}
	return sayso.Allow
}

func (r *reader) asks(n *yaml.Node) bool {
	on, ok := r.boolean(n, "approval")
	return on || !ok
}

func (r *reader) shellRule(f *File, p *part, out *shellPart, n *yaml.Node) {
	rule := sayso.ShellRule{File: f.Name, Line: n.Line}
	var pattern, paths *yaml.Node
	rule.Effect = r.allowance(n, "a rule on commands", map[string]field{
		"pattern":       func(_, n *yaml.Node) { pattern = n },
		"description":   func(_, n *yaml.Node) { rule.Title, _ = r.text(n, "description") },
		"sandbox_paths": func(_, n *yaml.Node) { paths = n },
	})
	if n.Kind != yaml.MappingNode {
		return
	}
	if pattern == nil {
		r.fail(n, CodePattern, "write pattern: and the first words of the command, as in pattern: git status", "the rule has no pattern, so it could never match")
		return
	}
	text, ok := r.text(pattern, "pattern")
	if !ok {
		return
	}
	rule.Words = r.commandWords(rule.Effect, pattern, strings.TrimLeft(strings.TrimRight(text, "* "), " "))
	if paths != nil {
		rule.Paths = r.rootNames(f, p, paths)
	}
	out.rules.Rules = append(out.rules.Rules, rule)
	out.patterns = append(out.patterns, *newCommandPattern(rule.Words, true))
	out.places = append(out.places, at(pattern))
}

// rootNames reads the names of roots, which must be declared in the same file.
func (r *reader) rootNames(f *File, p *part, n *yaml.Node) []string {
	var names []string
	for _, item := range r.items(n, "sandbox_paths") {
		name, ok := r.text(item, "the name of a path")
		if !ok {
			continue
		}
		names = append(names, name)
		r.pending = append(r.pending, func() { r.knownRoot(f, p, item, name) })
	}
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		r.fail(n, CodeRootName, "remove it, or name a path", "sandbox_paths names no path, so the rule could never match")
	}
	return names
}

func (r *reader) knownRoot(f *File, p *part, n *yaml.Node, name string) {
	var known []string
	for _, roots := range []*pathPart{p.paths, f.part.paths} {
		if roots == nil {
			continue
		}
		if _, ok := roots.rules.Named(name); ok {
			return
		}
		for _, root := range roots.rules.Roots {
			if !slices.Contains(known, root.Name) {
				known = append(known, root.Name)
			}
		}
	}
	write := "declare it, as in sandbox: {paths: {" + name + ": {root: ./" + name + "}}}"
	if near := nearest(name, known); near != "" {
		write = "did you mean " + near + "?"
	} else if len(known) > 0 {
		write = "the paths are " + strings.Join(known, ", ")
	}
	r.fail(n, CodeRootName, write, "no path is called %s", quoted(name))
}
