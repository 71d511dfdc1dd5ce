package policy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
)

// matcher is one pattern, compiled: which tools it speaks of, and which
// arguments.
type matcher struct {
	position
	text string // as written

	// Exactly one of these says which tools.
	name     string    // a tool that belongs to no server
	wild     string    // tools whose name fits
	server   string    // a server, and with it tool
	tool     string    //
	selector *selector // what the call is

	// operand says what the argument pattern speaks of; none for all arguments.
	operand sayso.Operand
	command *commandPattern //
	exact   string          // the whole text, for an allow on a shell that is not bash
	path    *pathPattern    //
	url     *urlPattern     //
	glob    string          // any other text
}

// pattern reads tool or tool:argument.
func (r *reader) pattern(e sayso.Effect, n *yaml.Node, text string) matcher {
	m := matcher{text: text}
	tool, arg, hasArg := strings.Cut(text, ":")
	if tool == "" || namesNoTool(tool) {
		r.fail(n, CodePattern, meantPattern(e, text), "%s names no tool", quoted(text))
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
		r.unknownTool(e, n, tool)
	} else {
		r.ofSomeHosts(e, n, tool)
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
		r.fail(n, CodeArgument, "write the name alone, or a mapping with args, as in {server: "+server+", tool: "+tool+", args: {path: /tmp/*}}",
			"a server's tool has no argument that patterns speak of")
		return
	}
	m.server, m.tool = server, tool
}

// everyArgument checks a pattern without an argument.
func (r *reader) everyArgument(e sayso.Effect, n *yaml.Node, m *matcher, known []sayso.Tool) {
	if e != sayso.Allow || m.name == "" {
		return
	}
	if slices.ContainsFunc(known, func(t sayso.Tool) bool { return isShell(t) && !isBash(t) }) {
		r.fail(n, CodeShellWide, "write the exact text of each command behind a colon", "this would allow every command of a shell that nobody here can read")
	} else if slices.ContainsFunc(known, isBash) {
		r.warn(n, "%s allows every command that can be read to its end; write %s:PROGRAM* for each program", quoted(m.text), m.text)
	}
}

func isShell(t sayso.Tool) bool { return t.Kind == sayso.KindShell }

// isBash reports whether the commands of a tool are lines of bash.
func isBash(t sayso.Tool) bool { return isShell(t) && t.Operand == sayso.OperandCommand }

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
		r.commandArgument(e, n, m, known, arg)
	case sayso.OperandPath:
		m.path = r.path(e, n, arg)
	case sayso.OperandURL:
		m.url = r.url(n, arg)
	default:
		m.glob = arg
		if e != sayso.Allow {
			m.glob = strings.ToLower(arg)
		}
	}
}

// commandArgument compiles a pattern on commands. An allow on a shell that is
// not bash is the exact text, for nothing here reads such lines.
func (r *reader) commandArgument(e sayso.Effect, n *yaml.Node, m *matcher, known []sayso.Tool, arg string) {
	if e == sayso.Allow {
		m.exact = arg
		if !slices.ContainsFunc(known, isBash) {
			if strings.HasSuffix(arg, "*") {
				r.fail(n, CodeShellPrefix, "write the exact text of each command", "the lines of this shell cannot be read, so an allow on all that begin alike may mean anything")
			}
			m.command = newCommandPattern(nil, false)
			return
		}
	}
	m.command = r.command(e, n, arg)
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
