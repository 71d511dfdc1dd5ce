package policy

import (
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
)

// searches reports whether the call looks at all that is beneath a folder.
func (s *subject) searches() bool {
	return s.kind == sayso.KindList || s.kind == sayso.KindSearch
}

// narrowing are the texts with which a list or a search is narrowed, under whichever
// names its host has for them; plain reports whether all of them are texts.
func (s *subject) narrowing() (texts []string, plain bool) {
	args := []byte(s.call.Args)
	if len(args) == 0 || !s.searches() {
		return nil, true
	}
	plain = true
	for _, name := range s.tool.Narrow {
		switch text, state := member(args, name); state {
		case argMissing:
		case argGiven:
			texts = append(texts, text)
		default:
			plain = false
		}
	}
	return texts, plain
}

// narrowed returns the patterns that narrow a list or a search, none if it has
// none; plain reports whether they are understood.
func (s *subject) narrowed() (globs []string, plain bool) {
	texts, plain := s.narrowing()
	if !plain {
		return nil, false
	}
	for _, text := range texts {
		more, ok := path.Globs(text)
		if s.kind == sayso.KindList && strings.ContainsAny(text, " !") {
			return nil, false
		}
		globs, plain = append(globs, more...), plain && ok
	}
	return slices.DeleteFunc(globs, func(g string) bool { return strings.HasPrefix(g, "!") }), plain
}

// floorStrays holds for a search that may look elsewhere than its path says.
var floorStrays = sayso.Match{
	Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood, Rule: "searches stay in their folder", Person: true,
	Reason: "the pattern of the search may lead out of its folder",
}

// leavesFolder reports whether the pattern of a list or a search may lead out of the
// folder that its path names.
func (s *subject) leavesFolder() bool {
	texts, _ := s.narrowing()
	return slices.ContainsFunc(texts, path.GlobLeaves)
}

// harmless reports whether a list or a search stays within the folder that its
// path names and shows nobody a secret.
func (s *subject) harmless() bool {
	if !s.searches() {
		return true
	}
	globs, plain := s.narrowed()
	return plain && !slices.ContainsFunc(globs, path.CredentialGlob)
}

// sourceTypes are the file types, as ripgrep names them, that no file with
// secrets has.
var sourceTypes = set("go", "js", "ts", "tsx", "jsx", "py", "rust", "java", "c", "cpp", "csharp", "cs", "ruby", "php", "css", "html", "md",
	"markdown", "swift", "kotlin", "scala", "lua", "elixir", "haskell", "vue", "svelte", "proto")

// showsSecrets reports whether a search would show lines of a file with secrets that
// lies beneath one of its folders, however deep, or may: where there was too much to
// look at, all but what is narrowed to the sources of a language.
func (s *subject) showsSecrets() bool {
	cut := s.facts.Truncated || slices.ContainsFunc(s.facts.Trees, func(t sayso.TreeFact) bool { return t.Cut })
	if s.kind != sayso.KindSearch || len(s.facts.Secrets) == 0 && !cut || !s.showsLines() {
		return false
	}
	if kind, state := member([]byte(s.call.Args), "type"); state == argGiven && sourceTypes[kind] {
		return false
	}
	globs, _ := s.narrowed()
	if len(globs) == 0 || s.facts.Truncated || cut && slices.ContainsFunc(globs, func(g string) bool { return !aimsAtSources(g) }) {
		return true
	}
	for _, secret := range s.facts.Secrets {
		for _, o := range s.facts.Operands {
			rel, ok := strings.CutPrefix(secret, strings.TrimSuffix(o.Resolved, "/")+"/")
			if ok && slices.ContainsFunc(globs, func(g string) bool { return path.GlobFits(g, rel) }) {
				return true
			}
		}
	}
	return false
}

// sourceEndings end the names of files of those languages, where the type is called
// otherwise.
var sourceEndings = set("rs", "h", "hh", "hpp", "cc", "cxx", "mjs", "cjs", "mts", "cts", "pyi", "kt", "kts", "ex", "exs", "hs", "rb", "scss", "htm", "sql")

// aimsAtSources reports whether a pattern fits nothing but sources of a language.
func aimsAtSources(g string) bool {
	name := path.GlobName(g)
	ending := name[strings.LastIndexByte(name, '.')+1:]
	return len(ending) < len(name) && (sourceTypes[ending] || sourceEndings[ending])
}

// showsLines reports whether a search returns what is in the files. That of
// Claude Code returns their names unless it is told otherwise, those of Copilot CLI
// and Gemini CLI where they are told to, and those of others never.
func (s *subject) showsLines() bool {
	args := []byte(s.call.Args)
	if len(args) == 0 {
		return true
	}
	switch mode, state := member(args, "output_mode"); s.call.Host {
	case "claude-code":
		return state != argMissing && (state != argGiven || !fileNameModes[mode])
	case "copilot":
		return state != argGiven || !fileNameModes[mode]
	case "gemini":
		only, state := rawMember(args, "names_only")
		return state != argGiven || string(only) != "true"
	}
	return true
}

// fileNameModes are the modes in which a search shows no lines.
var fileNameModes = set("files_with_matches", "count")

// reaches reports whether a list or a search may come upon what a pattern
// speaks of: its folder lies above such a place, and its own patterns do not
// keep it away from there.
func (m *matcher) reaches(s *subject) bool {
	if !s.searches() || m.path == nil {
		return false
	}
	globs, plain := s.narrowed()
	if !plain {
		globs = nil
	}
	if len(globs) > 0 && !slices.ContainsFunc(globs, m.path.meets) {
		return false
	}
	anchored := len(globs) > 0 && !slices.ContainsFunc(globs, func(g string) bool { return path.GlobFolder(g) == "" || !strings.Contains(g, "/") })
	for _, o := range s.facts.Operands {
		root := o.Path == s.arg || s.state == argLeftOut && o.Path == "."
		if o.Arg != s.tool.Primary || o.Resolved == "" || o.State == sayso.PathFile || anchored && root {
			continue
		}
		if m.path.beneath(o.Resolved, s.facts.Workspace, s.home) {
			return true
		}
	}
	return false
}

// meets reports whether a file that fits a pattern of a search may have the
// last name of this one.
func (p *pathPattern) meets(g string) bool {
	if len(p.names) == 0 {
		return true
	}
	last, name := p.names[len(p.names)-1], strings.ToLower(path.GlobName(g))
	return last == "**" || name == "**" || path.GlobsMeet(last, name)
}

// beneath reports whether something in a folder may fit the pattern.
func (p *pathPattern) beneath(folder, workspace, home string) bool {
	root := workspace
	switch p.anchor {
	case atRoot:
		root = "/"
	case atHome:
		root = home
	}
	folder, root = strings.ToLower(folder), strings.ToLower(root)
	if root == "" {
		return p.anchor == atWorkspace // nobody knows where it is
	}
	if sayso.Beneath(folder, root) {
		return true
	}
	if !sayso.Beneath(root, folder) {
		return false
	}
	names := p.names
	for name := range strings.SplitSeq(strings.Trim(strings.TrimPrefix(folder, root), "/"), "/") {
		switch {
		case len(names) == 0:
			return false
		case names[0] == "**":
			return true
		case !glob(names[0], name):
			return false
		}
		names = names[1:]
	}
	return len(names) > 0
}
