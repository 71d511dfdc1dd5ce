package sayso

import "strings"

// Operand is what the primary argument of a tool is; rules match on it.
type Operand string

// The operands.
const (
	OperandNone    Operand = ""
	OperandCommand Operand = "command" // a line of bash
	OperandPath    Operand = "path"
	OperandURL     Operand = "url"
	OperandText    Operand = "text"
)

// Tool is what is known of a tool by its name alone.
type Tool struct {
	Name    string  // canonical name
	Kind    Kind    //
	Primary string  // the argument that rules match on, if there is one
	Operand Operand // what that argument is
	// Optional says that the primary argument may be left out, for tools that
	// then work on the working directory.
	Optional bool
	// Args are the arguments whose meaning is known. A call that has others is
	// asked about. Nil for a tool whose arguments are not listed.
	Args []string
	// Narrow are the arguments with which a list or a search is narrowed, by patterns
	// of names.
	Narrow []string
	// Bookkeeping tools keep the host's own notes and touch nothing else.
	Bookkeeping bool
	// Patch says that the primary argument is a patch of apply_patch, and that the
	// paths are those of the files that it names.
	Patch bool
	// Attaches says that the host reads the files that the primary argument names
	// behind an @, and asks nobody about that.
	Attaches bool
	// OwnScreen tools are themselves a question to the person at the host.
	OwnScreen bool
}

// canonicalTools are the tools by our own names.
var canonicalTools = index([]Tool{
	{Name: "bash", Kind: KindShell, Primary: "command", Operand: OperandCommand,
		Args: []string{"command", "description", "timeout", "timeout_ms", "run_in_background"}},
	{Name: "file-read", Kind: KindRead, Primary: "path", Operand: OperandPath},
	{Name: "file-write", Kind: KindWrite, Primary: "path", Operand: OperandPath},
	{Name: "file-edit", Kind: KindEdit, Primary: "path", Operand: OperandPath},
	{Name: "file-delete", Kind: KindDelete, Primary: "path", Operand: OperandPath},
	{Name: "file-list", Kind: KindList, Primary: "path", Operand: OperandPath, Optional: true,
		Narrow: []string{"pattern", "glob", "include"}},
	{Name: "file-search", Kind: KindSearch, Primary: "path", Operand: OperandPath, Optional: true,
		Narrow: []string{"glob", "include", "include_pattern", "includePattern", "file_pattern"}},
	{Name: "web-fetch", Kind: KindFetch, Primary: "url", Operand: OperandURL,
		Args: []string{"url", "prompt", "description", "timeout", "timeout_ms", "max_length", "start_index", "offset", "limit", "format", "raw"}},
	{Name: "web-search", Kind: KindOther, Primary: "query", Operand: OperandText},
	{Name: "delegate", Kind: KindDelegate, Primary: "prompt", Operand: OperandText},
	{Name: "task-create", Kind: KindOther, Bookkeeping: true},
	{Name: "task-list", Kind: KindOther, Bookkeeping: true},
	{Name: "task-complete", Kind: KindOther, Bookkeeping: true},
	{Name: "task-update", Kind: KindOther, Bookkeeping: true},
	{Name: "task-add-note", Kind: KindOther, Bookkeeping: true},
	{Name: "task-view", Kind: KindOther, Bookkeeping: true},
})

// ownTools are the names of our own tools for the canonical ones.
var ownTools = map[string]string{
	"read_file": "file-read", "write_file": "file-write", "edit_file": "file-edit",
	"delete_file": "file-delete", "list_files": "file-list",
}

func index(tools []Tool) map[string]Tool {
	m := make(map[string]Tool, len(tools))
	for _, t := range tools {
		m[t.Name] = t
	}
	return m
}

// Known returns what is known of the call's tool. An unknown tool is of kind
// other, or mcp if it belongs to a server, under the name the caller gave.
func (c Call) Known() Tool {
	if c.Server != "" {
		return Tool{Name: ownName(c.Host, c.Server, c.Tool), Kind: KindMCP}
	}
	if tools, ok := hostTools[c.Host]; ok {
		if t, ok := tools[c.Tool]; ok {
			return t
		}
		if _, tool, ok := SplitMCP(c.Tool); ok {
			return Tool{Name: tool, Kind: KindMCP}
		}
		if callsPatch(c.Tool) {
			return patchTool("input")
		}
		return Tool{Name: foreign(c.Host, c.Tool), Kind: KindOther}
	}
	// No host, or one without a table: then the names are ours.
	name := c.Tool
	if own, ok := ownTools[name]; ok {
		name = own
	}
	if t, ok := canonicalTools[name]; ok {
		return t
	}
	if _, tool, ok := SplitMCP(name); ok {
		return Tool{Name: tool, Kind: KindMCP}
	}
	if callsPatch(name) {
		return patchTool("input")
	}
	return Tool{Name: name, Kind: KindOther}
}

// patchTool is apply_patch under whichever name its patch comes.
func patchTool(primary string, more ...string) Tool {
	return Tool{Name: "file-edit", Kind: KindEdit, Primary: primary, Operand: OperandPath, Patch: true, Args: append([]string{primary}, more...)}
}

// callsPatch reports whether a tool that no table has is called like apply_patch.
// It is taken for that: where it names its patch otherwise the call has no patch
// that can be read, and is asked about.
func callsPatch(tool string) bool {
	return len(tool) <= len("apply_patch") && strings.EqualFold(strings.NewReplacer("_", "", "-", "").Replace(tool), "applypatch")
}

// foreign is the name of a tool that its host's table does not have. One that is
// called like a tool of ours is not that tool, and no rule for ours is about it.
func foreign(host, tool string) string {
	_, canonical := canonicalTools[tool]
	_, own := ownTools[tool]
	if canonical || own {
		return host + "/" + tool
	}
	return tool
}

// ownName is the name that a server gives its tool, where the host's name for it
// has the server in front: mcp__SERVER__TOOL, at Gemini CLI mcp_SERVER_TOOL, at
// opencode SERVER_TOOL, with the server's name as hosts spell it.
func ownName(host, server, tool string) string {
	prefix := "mcp__" + SpelledMCP(server) + "__"
	switch host {
	case "gemini":
		prefix = "mcp_" + SpelledMCP(server) + "_"
	case "opencode":
		prefix = SpelledMCP(server) + "_"
	}
	if own, ok := strings.CutPrefix(tool, prefix); ok && own != "" {
		return own
	}
	return tool
}

// SpelledMCP is the name of an MCP server as hosts spell it in the names of its
// tools.
func SpelledMCP(server string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, server)
}

// CanonicalName returns the tool's canonical name and, for a tool of an MCP
// server, the server.
func (c Call) CanonicalName() (tool, server string) {
	t := c.Known()
	if t.Kind == KindMCP && c.Server == "" {
		server, tool, _ := SplitMCP(c.Tool)
		return tool, server
	}
	return t.Name, c.Server
}

// EffectiveKind is the table's kind, or the caller's where it is stricter.
func (c Call) EffectiveKind() Kind { return c.Known().Kind.Stricter(c.Kind) }

// SplitMCP takes the name mcp__SERVER__TOOL apart, at the first double
// underscore after the prefix.
func SplitMCP(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return "", "", false
	}
	server, tool, ok = strings.Cut(rest, "__")
	return server, tool, ok && server != "" && tool != ""
}
