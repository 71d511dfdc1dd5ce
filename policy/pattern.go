package policy

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
)

// matcher is one pattern, compiled: which tools it speaks of, and which
// arguments.
type matcher struct {
	line int
	text string // as written

	// Exactly one of these says which tools.
	name     string    // a tool that belongs to no server
	wild     string    // tools whose name fits
	server   string    // a server, and with it tool
	tool     string    //
	selector *selector // what the call is

	// operand says what the argument pattern speaks of; none for all arguments.
	operand sayso.Operand
	exact   string       // the whole text, for an allow on a command
	words   []string     // the words of a command, for the others
	more    bool         // further words may follow
	path    *pathPattern //
	url     *urlPattern  //
	glob    string       // any other text
}

// pattern reads tool or tool:argument.
func (r *reader) pattern(e sayso.Effect, n *yaml.Node, text string) matcher {
	m := matcher{text: text}
	tool, arg, hasArg := strings.Cut(text, ":")
	if tool == "" || strings.ContainsAny(tool, " \t") {
		r.fail(n, CodePattern, `write tool or tool:argument, as in "file-read:docs/**"`, "%s names no tool", quoted(text))
		return m
	}
	if hasArg && (arg == "" || arg != strings.TrimSpace(arg)) {
		r.fail(n, CodePattern, "remove the blanks, or the colon", "the argument of %s is empty, or begins or ends with a blank", quoted(text))
		return m
	}
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		r.mcp(n, &m, rest, hasArg)
		return m
	}
	if strings.Contains(tool, "*") {
		m.wild = tool
	} else {
		m.name = tool
	}
	known := toolsNamed(tool)
	if len(known) == 0 && tool != "*" {
		r.unknownTool(e, n, &m, tool)
	}
	if !hasArg {
		r.everyArgument(e, n, &m, known)
		return m
	}
	r.argument(e, n, &m, known, arg)
	return m
}

// mcp reads SERVER__TOOL. Names of servers and their tools are taken as given.
func (r *reader) mcp(n *yaml.Node, m *matcher, rest string, hasArg bool) {
	if rest == "*" {
		rest = "*__*"
	}
	server, tool, ok := strings.Cut(rest, "__")
	if !ok || server == "" || tool == "" {
		if server == "" {
			server = "SERVER"
		}
		r.fail(n, CodeMCP, "write mcp__"+server+"__* for every tool of a server", "%s is not mcp__SERVER__TOOL", quoted(m.text))
		return
	}
	if hasArg {
		r.fail(n, CodeArgument, "write the name alone", "patterns on the arguments of a server's tool are not yet understood")
		return
	}
	m.server, m.tool = server, tool
}

func (r *reader) unknownTool(e sayso.Effect, n *yaml.Node, m *matcher, tool string) {
	near := nearest(tool, toolNames())
	hint := ""
	if near != "" {
		hint = "did you mean " + near + "?"
	}
	if e == sayso.Deny && m.name != "" {
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

// everyArgument checks a pattern without an argument.
func (r *reader) everyArgument(e sayso.Effect, n *yaml.Node, m *matcher, known []sayso.Tool) {
	if e == sayso.Allow && m.name != "" && slices.ContainsFunc(known, isShell) {
		r.fail(n, CodeShellWide, `write the exact text of each command, as in "bash:git status"`, "this would allow every command")
	}
}

func isShell(t sayso.Tool) bool { return t.Kind == sayso.KindShell }

// argument compiles what stands behind the colon.
func (r *reader) argument(e sayso.Effect, n *yaml.Node, m *matcher, known []sayso.Tool, arg string) {
	var operands []sayso.Operand
	for _, t := range known {
		if o := operandOf(t); !slices.Contains(operands, o) {
			operands = append(operands, o)
		}
	}
	switch {
	case len(operands) > 1 || m.wild == "*":
		r.fail(n, CodeMixed, "write a pattern for each tool", "%s stands for tools whose arguments are not of one type", quoted(m.wild))
		return
	case len(operands) == 1 && operands[0] == sayso.OperandNone:
		r.fail(n, CodeArgument, "write the name alone", "%s has no argument that patterns speak of", quoted(known[0].Name))
		return
	}
	m.operand = sayso.OperandText
	if len(operands) == 1 {
		m.operand = operands[0]
	}
	switch m.operand {
	case sayso.OperandCommand:
		r.command(e, n, m, arg)
	case sayso.OperandPath:
		m.path = r.path(e, n, arg)
	case sayso.OperandURL:
		m.url = r.url(e, n, arg)
	default:
		m.glob = arg
		if e != sayso.Allow {
			m.glob = strings.ToLower(arg)
		}
	}
}

// command compiles a pattern on a command line. An allow is the exact text:
// nothing here understands a shell line well enough to allow more.
func (r *reader) command(e sayso.Effect, n *yaml.Node, m *matcher, arg string) {
	if e == sayso.Allow {
		switch {
		case strings.HasSuffix(arg, "*"):
			r.fail(n, CodeShellPrefix, "write the exact text of each command",
				"not yet: an allow on every command that begins like %s needs a reader of shell lines", quoted(strings.TrimRight(arg, "* ")))
		case strings.ContainsAny(arg, "$`"):
			r.fail(n, CodeShellDynamic, "write ask:, or spell it out", "not yet: an allow on a text with $ or ` may mean anything when it runs")
		}
		m.exact = arg
		return
	}
	bare, more := strings.CutSuffix(arg, "*")
	m.more = more
	line := readLine(bare)
	switch {
	case bare == "":
	case len(line.commands) != 1 || len(line.commands[0]) == 0 || line.broken:
		r.fail(n, CodePattern, "write a pattern for each command", "%s is not the words of one command", quoted(arg))
	default:
		for _, w := range line.commands[0] {
			m.words = append(m.words, w.text)
		}
		m.words[0] = strings.ToLower(base(m.words[0]))
	}
}

// operandOf is what patterns on a tool speak of. Whatever a shell is called, it
// runs commands.
func operandOf(t sayso.Tool) sayso.Operand {
	if isShell(t) && t.Primary != "" {
		return sayso.OperandCommand
	}
	return t.Operand
}

// toolsNamed returns the known tools that a name, which may hold stars, stands
// for: by their canonical names, or as their hosts call them.
func toolsNamed(name string) []sayso.Tool {
	var tools []sayso.Tool
	sayso.EachTool(func(_, called string, t sayso.Tool) bool {
		if glob(name, called) || glob(name, t.Name) {
			tools = append(tools, t)
		}
		return true
	})
	return tools
}

func toolNames() []string {
	names := make(map[string]bool)
	sayso.EachTool(func(_, called string, t sayso.Tool) bool {
		names[called], names[t.Name] = true, true
		return true
	})
	return slices.Sorted(maps.Keys(names))
}
