package policy

import (
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Schema returns the JSON Schema of a policy file, with a text for each key that
// editors show. It says what a file may look like; what it may mean, [Parse]
// says.
func Schema() ([]byte, error) {
	s := schemaOf(fileShape)
	defs := map[string]any{}
	for shape, name := range defined {
		defs[name] = schemaOf(shape)
	}
	s["$defs"] = defs
	return titled(s, "policy.schema.json", "sayso policy")
}

// TestsSchema is to a file of tests what [Schema] is to a policy; what it may
// mean, [ParseTests] says.
func TestsSchema() ([]byte, error) {
	return titled(schemaOf(testsShape), "policy_test.schema.json", "sayso policy tests")
}

func titled(s map[string]any, file, title string) ([]byte, error) {
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["$id"] = "https://github.com/sayso-dev/sayso/" + file
	s["title"] = title
	return jcs.MarshalIndent(s)
}

// schemaShape is what may stand in one place of a file.
type schemaShape struct {
	where string // what the reader calls the mapping; empty for what is none
	doc   string
	keys  []key          // of a mapping, in the order of the page
	named *schemaShape   // of a mapping whose keys the person chooses
	items *schemaShape   // of a list
	plain map[string]any // anything else, as the schema has it
	any   []*schemaShape // one of several
	need  []string       // keys that must be there
}

// key is one key of a mapping.
type key struct {
	name string
	doc  string
	of   *schemaShape
}

// defined are the shapes that stand in more than one place, by their names.
var defined = map[*schemaShape]string{
	ruleShape: "rule", shellShape: "commands", sandboxShape: "sandbox", matcherShape: "matcher", matchersShape: "patterns", patternShape: "pattern",
}

// reference is the schema of a shape where it is used.
func reference(s *schemaShape) map[string]any {
	if name, ok := defined[s]; ok {
		return map[string]any{"$ref": "#/$defs/" + name}
	}
	return schemaOf(s)
}

func words(values ...any) *schemaShape { return &schemaShape{plain: map[string]any{"enum": values}} }

func listOf(s *schemaShape) *schemaShape { return &schemaShape{items: s} }

// oneOrMore is a value that may stand alone or in a list.
func oneOrMore(s *schemaShape) *schemaShape { return &schemaShape{any: []*schemaShape{s, listOf(s)}} }

var (
	aText   = &schemaShape{plain: map[string]any{"type": "string", "minLength": 1}}
	aBool   = &schemaShape{plain: map[string]any{"type": "boolean"}}
	aNumber = &schemaShape{plain: map[string]any{"type": "integer", "minimum": 1}}
	aValue  = &schemaShape{plain: map[string]any{"type": []any{"string", "number", "boolean"}}}
	aCall   = &schemaShape{plain: map[string]any{"type": "string", "pattern": `^\s*\{`}}
	aTime   = &schemaShape{plain: map[string]any{"type": "string", "pattern": `^(none|[0-9]+d|([0-9]+(\.[0-9]+)?(h|m|s))+)$`}}
	aSuffix = &schemaShape{plain: map[string]any{"type": "string", "pattern": `^\.[^/*?]+$`}}
)

var fileShape = &schemaShape{
	where: "a policy", doc: "What agents may do: allow, deny, or ask a person.", need: []string{"version"},
	keys: append([]key{
		{"version", "The version of the format. Write 1.", words(1)},
		{"default", "What happens to a call that nothing speaks about.", words("ask", "deny", "allow")},
		{"deadline", "How long a request waits for people, and where it leads then.", deadlineShape},
		{"mode", "What happens to asks where nobody has set another mode. strict denies what would be asked.", words("interactive", "strict")},
		{"approve_all", "false forbids the mode of that name, whoever would set it.", aBool},
		{"redaction", "What is hidden and cut besides, before anything is shown.", redactionShape},
		{"servers", "MCP servers by name, and what of theirs is trusted.", &schemaShape{named: serverShape}},
		{"notices", "Who elsewhere is told what waits: webhooks and chats.", listOf(noticeShape)},
		{"delegate", "For the organisation's file: patterns for which a lower tier's allow silences an ask of this file.", oneOrMore(patternShape)},
		{"workspaces", "Rules of single projects, by their folder (~/src/app). All whose folder holds the workspace speak.", &schemaShape{named: workspaceShape}},
		{"require_os_sandbox", "true refuses to start without confinement by the system, which this version cannot give.", aBool},
	}, partKeys...),
}

var partKeys = []key{
	{"rules", "Every rule that matches speaks; the strictest wins, and a deny is final.", listOf(ruleShape)},
	{"shell", "What is said of single commands, wherever in a line they stand.", shellShape},
	{"sandbox", "Where tools may read and write.", sandboxShape},
}

var deadlineShape = &schemaShape{where: "deadline", keys: []key{
	{"after", "30m, 1h30m, 3d, or none. Without it, 1h.", aTime},
	{"then", "What a passed deadline is: an expiry, or a denial.", words("expire", "deny")},
}}

var redactionShape = &schemaShape{where: "redaction", keys: []key{
	{"names", "More key names whose values are hidden.", listOf(aText)},
	{"max_string", "Bytes of a text in a preview.", aNumber},
	{"max_items", "Items of a list in a preview.", aNumber},
}}

var noticeShape = &schemaShape{where: "a notice", doc: "A webhook or a chat that is told what waits.", need: []string{"name"}, keys: []key{
	{"name", "What lists and metrics call it.", aText},
	{"webhook", "Where the webhook is: its address, or where that is kept.", &schemaShape{any: []*schemaShape{aText, heldShape}}},
	{"secret", "Where the secret is kept that the notices of a webhook are signed with: whsec_ and base64.", heldShape},
	{"chat", "Where the shoutrrr address of a chat is kept.", heldShape},
	{"on", "What it is told of. Without it, of requests that are opened.", oneOrMore(words(anyWords(noticeEvents)...))},
	{"detail", "How much it is told: none (that something waits), title (what the policy and the program call it; no arguments), preview (arguments too, with secrets hidden). Without it, title.", words(anyWords(noticeDetails)...)},
}}

var heldShape = &schemaShape{where: "a secret", doc: "Where a secret is kept: in a file, or in a variable of the server's environment.", keys: []key{
	{"file", "A file that only you can read, from / or ~/.", aText},
	{"env", "The name of a variable.", aText},
}}

var serverShape = &schemaShape{where: "a server", keys: []key{
	{"trust", "annotations: what the server says of its tools may loosen, not only tighten.", listOf(words("annotations"))},
}}

var workspaceShape = &schemaShape{where: "a workspace", doc: "What holds in this project.", keys: partKeys}

var patternShape = &schemaShape{doc: "tool or tool:argument, as in bash:git status*, file-edit:src/**, web-fetch:https://*.example.org/*, mcp__SERVER__TOOL.", plain: map[string]any{"type": "string", "minLength": 1}}

var annotationsShape = &schemaShape{where: "annotations", keys: []key{
	{"read_only", "The tool changes nothing. Not said counts as false.", aBool},
	{"destructive", "The tool may destroy. Not said counts as true.", aBool},
	{"idempotent", "Calling it twice is like calling it once. Not said counts as false.", aBool},
	{"open_world", "The tool talks to the world. Not said counts as true.", aBool},
}}

var matcherShape = &schemaShape{where: "a matcher", doc: "What the call is; all that is given must hold.", keys: []key{
	{"tool", "Names of tools; * stands for any characters.", oneOrMore(aText)},
	{"kind", "What sort of call.", oneOrMore(words(anyWords(kinds)...))},
	{"server", "Names of MCP servers.", oneOrMore(aText)},
	{"host", "The agent's host, as claude-code.", oneOrMore(aText)},
	{"caller", "Who calls.", oneOrMore(aText)},
	{"session", "The session.", oneOrMore(aText)},
	{"tags", "Tags that the call must all have.", oneOrMore(aText)},
	{"annotations", "What the server says of the tool. An allow needs a server that is trusted.", annotationsShape},
	{"args", "Values that arguments must have; one that is missing is no match.", &schemaShape{named: oneOrMore(aValue)}},
}}

var matchersShape = &schemaShape{any: []*schemaShape{patternShape, matcherShape, listOf(&schemaShape{any: []*schemaShape{patternShape, matcherShape}})}}

var ruleShape = &schemaShape{where: "a rule", doc: "One of allow, ask and deny, and what goes with it.", keys: []key{
	{"allow", "Calls that need no person.", matchersShape},
	{"ask", "Calls that a person decides.", matchersShape},
	{"deny", "Calls that nobody can allow.", matchersShape},
	{"name", "What the rule is called in verdicts and in the log.", aText},
	{"note", "The reason that people and agents are told.", aText},
	{"title", "What the request is called on the screen.", aText},
	{"description", "The same as title.", aText},
	{"remember", "How far a yes may be remembered: never, exact (this call), any.", words("never", "exact", "any")},
	{"danger", "true: the answer takes the slow way.", aBool},
	{"elicit", "true: the person may answer in the MCP client that made the call, where a program may answer in their place. Never for danger.", aBool},
	{"requirement", "Whose answers decide.", requirementShape},
	{"when", `A condition in CEL over call and facts, as in call.cwd.startsWith("/srv").`, aText},
	{"covers", "Examples: calls as JSON that the rule must match, checked when the file is loaded.", listOf(aCall)},
}}

var requirementShape = &schemaShape{where: "requirement", keys: []key{
	{"count", "How many must allow. Only 1 so far.", words(1)},
}}

var shellShape = &schemaShape{where: "shell", keys: []key{
	{"default", "What happens to a command that no rule speaks about. Without it, a person is asked.", shellDefaultShape},
	{"rules", "For each command the first that matches speaks; one with allowed: false wins wherever it stands.", listOf(shellRuleShape)},
}}

var shellDefaultShape = &schemaShape{where: "shell.default", keys: allowanceKeys}

var allowanceKeys = []key{
	{"allowed", "false denies.", aBool},
	{"approval", "false needs no person. Without it, a person is asked.", aBool},
}

var shellRuleShape = &schemaShape{where: "a rule on commands", need: []string{"pattern"}, keys: append([]key{
	{"pattern", "The first words of the command, as in git status.", aText},
	{"description", "What the request is called on the screen.", aText},
	{"sandbox_paths", "Names of paths that every operand must lie in for the rule to speak.", listOf(aText)},
}, allowanceKeys...)}

var sandboxShape = &schemaShape{where: "sandbox", keys: []key{
	{"paths", "Folders by name. What lies outside of all of them is denied.", &schemaShape{named: rootShape}},
	{"require_os_sandbox", "true refuses to start without confinement by the system, which this version cannot give.", aBool},
}}

var rootShape = &schemaShape{where: "a path", need: []string{"root"}, keys: []key{
	{"root", "The folder: from the workspace, from / or from ~/.", aText},
	{"mode", "ro: it is read. rw: it may be written too.", words("ro", "rw")},
	{"suffixes", "Endings that the names of files must have.", listOf(aSuffix)},
	{"read_approval", "true: a person is asked before a file is read. Without it, nobody is.", aBool},
	{"write_approval", "false: nobody is asked before a file is written. Without it, a person is.", aBool},
}}

var testsShape = &schemaShape{
	where: "a file of tests", doc: "Calls, and what the policy has to say of them.", need: []string{"version", "cases"},
	keys: []key{
		{"version", "The version of the format. Write 1.", words(1)},
		{"home", "Where the person is at home, which ~ stands for. Without it, " + testHome + ".", aText},
		{"workspace", "The project of the calls: from / or ~/. Without it, ~/" + testProject + ".", aText},
		{"host", "The agent's host of the calls, as claude-code. Their tools are then called as the host calls them.", aText},
		{"session", "The session of the calls.", aText},
		{"files", "What is on the machine, by name: from the workspace, from / or ~/. All else is missing.", &schemaShape{named: &schemaShape{any: []*schemaShape{words(isFile, isDir), linkShape}}}},
		{"cases", "The calls, and what is expected of each.", listOf(caseShape)},
	},
}

var linkShape = &schemaShape{where: "a file", need: []string{"link"}, keys: []key{
	{"link", "Where the link leads.", aText},
}}

var caseShape = &schemaShape{where: "a case", need: []string{"call", "expect"}, keys: []key{
	{"name", "What the case is about.", aText},
	{"call", "A tool with the argument that rules match on, as {bash: git status}, or with all arguments, as {file-search: {path: docs}}; or a whole call as JSON. Or a list of them.", oneOrMore(callShape)},
	{"expect", "What has to come out.", words("allow", "ask", "deny")},
	{"rule", "The rule that has to decide, as verdicts call it.", aText},
	{"cause", "The cause that the answer has to have.", words(anyWords(testCauses)...)},
	{"danger", "All that has to be dangerous about it; [] for nothing.", listOf(words(anyWords(testDangers)...))},
	{"workspace", "The project of the call, if it is another.", aText},
	{"cwd", "The directory of the call: from the workspace, from / or ~/. Without it, the workspace.", aText},
	{"host", "The agent's host, if it is another.", aText},
	{"session", "The session, if it is another.", aText},
	{"server", "The MCP server that the tool belongs to.", aText},
}}

var callShape = &schemaShape{plain: map[string]any{"type": []any{"object", "string"}, "minProperties": 1}}

func anyWords(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

// schemaOf is the schema of one place.
func schemaOf(s *schemaShape) map[string]any {
	out := map[string]any{}
	for k, v := range s.plain {
		out[k] = v
	}
	switch {
	case s.keys != nil:
		properties := map[string]any{}
		for _, k := range s.keys {
			of := reference(k.of)
			of["description"] = k.doc
			properties[k.name] = of
		}
		out["type"], out["properties"], out["additionalProperties"] = "object", properties, false
	case s.named != nil:
		out["type"], out["additionalProperties"] = "object", reference(s.named)
	case s.items != nil:
		out["type"], out["items"] = "array", reference(s.items)
	case s.any != nil:
		var of []any
		for _, one := range s.any {
			of = append(of, reference(one))
		}
		out["anyOf"] = of
	}
	if s.need != nil {
		out["required"] = anyWords(s.need)
	}
	if s.doc != "" {
		out["description"] = s.doc
	}
	return out
}
