package policy

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// CheckName says of the name of one tool what a policy file is told of a rule for
// it: a mistake where the rule would protect nothing, a warning where nothing else
// is known of that name. Names of servers' tools are taken as given.
func CheckName(e sayso.Effect, name string) (warning string, mistake *Error) {
	if strings.HasPrefix(name, "mcp__") || len(toolsNamed(name)) > 0 {
		return "", nil
	}
	r := &reader{}
	r.unknownTool(e, &yaml.Node{}, name)
	if len(r.errs) > 0 {
		return "", r.errs[0]
	}
	return r.warnings[0].What, nil
}

// unknownTool says what is wrong with a name that nothing knows. Where it would
// allow or ask it is harmless. A deny that speaks of nothing is not: whoever
// wrote it believes to be protected.
func (r *reader) unknownTool(e sayso.Effect, n *yaml.Node, tool string) {
	if namesNoTool(tool) {
		r.fail(n, CodePattern, meantPattern(e, tool), "%s names no tool", quoted(tool))
		return
	}
	hint := correction(tool)
	sure := hint != ""
	stem, _, star := strings.Cut(tool, "*")
	if near := nearest(stem, toolNames()); !sure && near != "" {
		hint = "did you mean " + near + "?"
	}
	if meant := meantByWord[strings.ToLower(stem)]; meant != "" {
		hint = "did you mean " + meant + "?"
	}
	if e == sayso.Deny && (!star || sure) {
		if hint == "" {
			hint = "write the name that the host or sayso gives the tool"
		}
		r.fail(n, CodeTool, hint, "no tool is called %s, so this deny would protect nothing", quoted(tool))
		return
	}
	if hint != "" {
		hint = "; " + hint
	}
	r.warn(n, "no tool is called %s, so this may never match%s", quoted(tool), hint)
}

// ofSomeHosts warns of a deny that reads as if it were for all tools of a kind,
// and is what some hosts call one of theirs.
func (r *reader) ofSomeHosts(e sayso.Effect, n *yaml.Node, tool string) {
	if meant := meantByWord[tool]; e == sayso.Deny && meant != "" {
		r.warn(n, "%s is what some hosts call a tool of theirs, so this denies nothing of the others; for all of them write %s", quoted(tool), meant)
	}
}

// correction is what to write instead of a name that nothing knows and that is
// almost certainly meant otherwise: it is one letter away from a tool, or it is
// a program. Empty for all others, which may be tools of servers or of hosts that
// nobody here knows; so may every name that begins with a star.
func correction(tool string) string {
	stem, _, star := strings.Cut(tool, "*")
	if stem == "" {
		return ""
	}
	if len(shell.Uses(stem)) > 0 {
		return "write " + quoted("bash:"+stem+"*") + " for the program, or " + quoted("mcp__*__"+tool) + " for tools of servers"
	}
	best, family := "", ""
	for _, name := range toolNames() {
		if len(stem) > 2 && nameDistance(stem, name) <= 1 && (best == "" || distance(stem, name) < distance(stem, best)) {
			best = name
		}
		// A family of tools, as file-* is one.
		if begin, _, ok := strings.Cut(name, "-"); ok && star && strings.HasSuffix(stem, "-") && nameDistance(stem, begin+"-") <= 1 {
			family = begin + "-*"
		}
	}
	if best = cmp.Or(best, family); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}

// meantByWord are our tools by words that people write for them.
var meantByWord = map[string]string{
	"shell": "bash", "terminal": "bash", "fetch": "web-fetch",
	"read": "file-read", "write": "file-write", "edit": "file-edit", "delete": "file-delete",
	"read-file": "file-read", "write-file": "file-write", "edit-file": "file-edit", "delete-file": "file-delete",
}

// nameDistance is how far a name is from another, in whatever case.
func nameDistance(name, other string) int {
	return distance(strings.ToLower(name), strings.ToLower(other))
}

// namesNoTool reports whether a name has characters that no name of a tool has.
// Names of servers' tools are taken as given.
func namesNoTool(name string) bool {
	return strings.ContainsAny(name, " \t") || strings.ContainsAny(name, "()/") && !strings.HasPrefix(name, "mcp__")
}

// meantPattern is what to write instead of a text that names no tool: the
// pattern that was meant, if there is one that loads.
func meantPattern(e sayso.Effect, text string) string {
	tried := ""
	tool, rest, ok := strings.Cut(text, "(")
	if ok {
		tried = fromHost(tool, strings.TrimSuffix(rest, ")"))
	} else if word, words, _ := strings.Cut(text, " "); len(toolsNamed(word)) > 0 {
		tried = word + ":" + words
	} else if word != "" && len(shell.Uses(word)) > 0 {
		tried = "bash:" + text
	} else if strings.Contains(text, "/") && !strings.Contains(text, " ") {
		tried = "file-read:" + relative(text)
	}
	if _, err := Parse("", []byte(fileOf(ruleText(e, []string{tried})))); tried == "" || err != nil {
		return `write tool or tool:argument, as in "file-read:docs/**"`
	}
	return "write " + quoted(tried)
}

// fromHost is TOOL(ARGUMENT), as Claude Code writes its own rules, as a pattern of
// ours; empty if no tool is called so.
func fromHost(tool, arg string) string {
	known := toolsNamed(tool)
	if len(known) == 0 || strings.Contains(tool, "*") {
		return ""
	}
	name := known[0].Name
	switch arg = strings.TrimSpace(arg); operandOf(known[0]) {
	case sayso.OperandCommand:
		if start, ok := strings.CutSuffix(arg, "*"); ok { // "rm:*" and "rm *" are one
			arg = strings.TrimRight(start, ": ") + "*"
		}
	case sayso.OperandPath:
		arg = relative(arg)
	case sayso.OperandURL:
		if host, ok := strings.CutPrefix(arg, "domain:"); ok {
			arg = "https://" + host
		}
	}
	if arg == "" || arg == "*" || arg == "**" {
		return name
	}
	return name + ":" + arg
}

// relative is a path of a host's rule as patterns write it: two slashes begin
// one that is absolute, and one slash or ./ one in the project.
func relative(path string) string {
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		return "/" + rest
	}
	return strings.TrimPrefix(strings.TrimPrefix(path, "./"), "/")
}

func toolNames() []string {
	names := make(map[string]bool)
	sayso.EachTool(func(_, called string, t sayso.Tool) bool {
		names[called], names[t.Name] = true, true
		return true
	})
	return slices.Sorted(maps.Keys(names))
}
