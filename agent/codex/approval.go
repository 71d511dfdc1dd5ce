package codex

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Approval is the question of the app-server whether something may be done.
type Approval struct {
	// Thread and Item are what it is about.
	Thread, Item string

	sort     approvalSort
	callback string // of several questions about one item
	cwd      string
	reason   string
	command  string         // of a command
	argv     []string       // the same, of the older questions
	network  jsontext.Value // where it would connect to
	root     string         // under which all writing would be allowed
	changes  []Change       // of the older questions
	wants    jsontext.Value // permissions
}

// approvalSort says how an approval is answered.
type approvalSort uint8

const (
	aCommand approvalSort = iota
	aInput                // typed into a program that runs
	aPatch
	aPermissions
	aServer
	anOldCommand
	anOldPatch
)

// approvals read the questions, by method. asks is false for one that is a
// question to the person by itself.
var approvals = map[string]func(jsontext.Value) (a Approval, asks bool, err error){
	"item/commandExecution/requestApproval": commandApproval,
	"item/fileChange/requestApproval":       patchApproval,
	"item/permissions/requestApproval":      permissionsApproval,
	"item/tool/requestUserInput":            serverApproval,
	"execCommandApproval":                   oldCommandApproval,
	"applyPatchApproval":                    oldPatchApproval,
}

// asked are the params of all questions together.
type asked struct {
	Thread       string         `json:"threadId"`
	Conversation string         `json:"conversationId"`
	Item         string         `json:"itemId"`
	CallID       string         `json:"callId"`
	Callback     *string        `json:"approvalId"`
	Kind         string         `json:"kind"`
	Cwd          *string        `json:"cwd"`
	Reason       *string        `json:"reason"`
	Command      *string        `json:"command"`
	Network      jsontext.Value `json:"networkApprovalContext"`
	Root         *string        `json:"grantRoot"`
	Permissions  jsontext.Value `json:"permissions"`
	Questions    []struct {
		ID string `json:"id"`
	} `json:"questions"`
}

var askedMembers = []string{
	"threadId", "conversationId", "itemId", "callId", "approvalId", "kind", "cwd", "reason", "command", "networkApprovalContext",
	"grantRoot", "permissions", "questions",
}

// readAsked reads params, and what all approvals have.
func readAsked(params jsontext.Value, p *asked) (a Approval, err error) {
	if err := agent.Read(params, askedMembers, p); err != nil {
		return a, err
	}
	a = Approval{Thread: p.Thread + p.Conversation, Item: p.Item + p.CallID, network: p.Network}
	if string(a.network) == "null" {
		a.network = nil
	}
	for to, from := range map[*string]*string{&a.callback: p.Callback, &a.cwd: p.Cwd, &a.reason: p.Reason, &a.command: p.Command, &a.root: p.Root} {
		if from != nil {
			*to = *from
		}
	}
	if a.Thread == "" {
		return a, fmt.Errorf("%w: an approval names no thread", sayso.ErrInvalid)
	}
	return a, nil
}

// named is an approval that must be about an item.
func named(a Approval, err error) (Approval, bool, error) {
	if err == nil && a.Item == "" {
		err = fmt.Errorf("%w: an approval is about nothing", sayso.ErrInvalid)
	}
	return a, true, err
}

func commandApproval(params jsontext.Value) (Approval, bool, error) {
	var p asked
	a, err := readAsked(params, &p)
	switch p.Kind {
	case "", "command":
	case "writeStdin":
		a.sort = aInput
	default:
		err = fmt.Errorf("%w: an approval of a kind that is not known", sayso.ErrInvalid)
	}
	if err == nil && a.command == "" && a.network == nil {
		err = fmt.Errorf("%w: an approval names no command", sayso.ErrInvalid)
	}
	return named(a, err)
}

func patchApproval(params jsontext.Value) (Approval, bool, error) {
	var p asked
	a, err := readAsked(params, &p)
	a.sort = aPatch
	return named(a, err)
}

func permissionsApproval(params jsontext.Value) (Approval, bool, error) {
	var p asked
	a, err := readAsked(params, &p)
	a.sort, a.wants = aPermissions, p.Permissions
	if _, bad := jcs.Object(a.wants); err == nil && bad != nil {
		err = fmt.Errorf("%w: permissions: %w", sayso.ErrInvalid, bad)
	}
	return named(a, err)
}

// AppOptions are those of a thread that is driven. They have Codex ask about the
// tools of MCP servers in a question that no server can ask: else it asks as if it
// were the server, and what a server itself asks can be dressed up as that.
func AppOptions() map[string]any {
	return map[string]any{"features.tool_call_mcp_elicitation": false}
}

// elicitation is a question of an MCP server, or one that cannot be told from it.
const elicitation = "mcpServer/elicitation/request"

// aboutTool begins the id of a question about the tool of a server; the id of the
// call ends it.
const aboutTool = "mcp_tool_call_approval_"

// The answers to it, as they are offered. There is none for no but that the person
// breaks the call off; the turn goes on.
const (
	toolRuns    = "Allow"
	toolRefused = "Cancel"
)

// serverApproval reads what Codex asks about a tool of an MCP server. The call is
// named by its id alone; what it is, Codex said when it began.
func serverApproval(params jsontext.Value) (Approval, bool, error) {
	var p asked
	a, err := readAsked(params, &p)
	if err != nil {
		return a, false, err
	}
	about := false
	for _, q := range p.Questions {
		about = about || strings.HasPrefix(q.ID, aboutTool)
	}
	if !about {
		return a, false, nil
	}
	a.sort = aServer
	if len(p.Questions) != 1 || p.Questions[0].ID != aboutTool+a.Item {
		err = fmt.Errorf("%w: an approval is about another call than it names", sayso.ErrInvalid)
	}
	return named(a, err)
}

func oldCommandApproval(params jsontext.Value) (Approval, bool, error) {
	var words struct {
		Command []string `json:"command"`
	}
	if err := jcs.UnmarshalLenient(params, &words); err != nil || len(words.Command) == 0 {
		return Approval{}, true, fmt.Errorf("%w: an approval names no command", sayso.ErrInvalid)
	}
	rest, _, err := agent.Split(sayso.Args(params), []string{"command"})
	if err != nil {
		return Approval{}, true, err
	}
	var p asked
	a, err := readAsked(jsontext.Value(rest), &p)
	a.sort, a.argv = anOldCommand, words.Command
	return named(a, err)
}

func oldPatchApproval(params jsontext.Value) (Approval, bool, error) {
	var p asked
	a, err := readAsked(params, &p)
	a.sort = anOldPatch
	if err != nil {
		return a, true, err
	}
	var files struct {
		Changes map[string]struct {
			Type    string  `json:"type"`
			Content string  `json:"content"`
			Diff    string  `json:"unified_diff"`
			To      *string `json:"move_path"`
		} `json:"fileChanges"`
	}
	if err := jcs.UnmarshalLenient(params, &files); err != nil {
		return a, true, fmt.Errorf("%w: fileChanges: %w", sayso.ErrInvalid, err)
	}
	for _, name := range slices.Sorted(maps.Keys(files.Changes)) {
		f := files.Changes[name]
		c := Change{Path: name, Do: f.Type, Diff: f.Content + f.Diff}
		if f.To != nil {
			c.To = *f.To
		}
		a.changes = append(a.changes, c)
	}
	return named(a, nil)
}

// About reports whether an approval is about an item that was started.
func (a Approval) About(i Item) bool {
	if a.sort != aServer {
		return a.Item == i.ID
	}
	return a.Item == i.ID && a.Thread == i.Thread && i.Type == "mcpToolCall" && i.Status == "inProgress"
}

// Call is what is asked about, as the hook of Codex would be told of it, in a
// session; i is the item that it is about, and zero if none is known.
//
// A question with a reason, a network or a root is about more than the tool: to
// leave the sandbox of the host or to go against its rules. So it is a call of its
// own, that names this among its arguments, and no rule for the tool covers it.
func (a Approval) Call(session string, i Item) (sayso.Call, error) {
	c := sayso.Call{Host: Host, Session: session, Cwd: a.cwd, CallID: a.Item, Caller: Host + "/main"}
	if a.Thread != session {
		c.Run = a.Thread
	}
	args := map[string]any{}
	switch a.sort {
	case aCommand, anOldCommand:
		c.Tool, args["command"] = "Bash", a.script()
	case aInput:
		c.Tool, args["input"] = "write_stdin", a.command
	case aPatch, anOldPatch:
		list := i.Changes
		if a.sort == anOldPatch {
			list = a.changes
		}
		text, err := patchOf(list)
		if err != nil {
			return c, err
		}
		c.Tool, args["command"] = "apply_patch", text
	case aPermissions:
		c.Tool, args["permissions"] = "request_permissions", a.wants
	case aServer:
		if !a.About(i) || i.Server == "" || i.Tool == "" {
			return c, fmt.Errorf("%w: a tool of a server is asked about that was not called", sayso.ErrInvalid)
		}
		c.Tool, c.Args = "mcp__"+i.Server+"__"+i.Tool, i.Args
		if c.Args == nil || string(c.Args) == "null" {
			c.Args = sayso.Args("{}")
		}
		if _, err := jcs.Object(c.Args); err != nil {
			return c, err
		}
		return c, c.Validate()
	}
	a.more(&c, args)
	text, err := jcs.Marshal(args)
	if err != nil {
		return c, err
	}
	c.Args = text
	return c, c.Validate()
}

// more names what is asked for beyond the tool, and gives the call an id of its own
// then: the tool itself may have been asked about under that of the item.
func (a Approval) more(c *sayso.Call, args map[string]any) {
	if a.callback != "" {
		c.CallID += "/" + a.callback
	}
	if a.reason == "" && a.network == nil && a.root == "" {
		return
	}
	args[escalation] = "require_escalated"
	if a.reason != "" {
		args["description"] = a.reason
	}
	if a.network != nil {
		args["network"] = a.network
	}
	if a.root != "" {
		args["grant_root"] = a.root
	}
	if a.sort != aPermissions {
		c.CallID += beyond
	}
}

// beyond ends the id of a call that asks for more than its tool.
const beyond = "/permission"

// CallIDs are the ids under which the call of an item may have been asked about,
// but for those of parts of it.
func (i Item) CallIDs() []string { return []string{i.ID, i.ID + beyond} }

// script is the command as the hook is told of it: without the shell that Codex
// puts in front.
func (a Approval) script() string {
	words := a.argv
	if words == nil {
		var ok bool
		if words, ok = splitWords(a.command); !ok {
			return a.command
		}
	}
	if len(words) == 3 && slices.Contains([]string{"bash", "sh", "zsh"}, path.Base(words[0])) && (words[1] == "-lc" || words[1] == "-c") {
		return words[2]
	}
	if a.argv == nil {
		return a.command
	}
	return joinWords(words)
}

// splitWords takes a command apart that was put together of words that are quoted
// where they must be. One that is more than that is not taken apart.
func splitWords(s string) (words []string, ok bool) {
	var word strings.Builder
	in, begun := rune(0), false
	rs := []rune(s)
	for i := 0; i < len(rs); i++ {
		r := rs[i]
		switch {
		case in == '\'' && r == '\'' || in == '"' && r == '"':
			in = 0
		case in == '\'':
			word.WriteRune(r)
		case in == '"' && r == '\\' && i+1 < len(rs) && strings.ContainsRune("$`\"\\", rs[i+1]), in == 0 && r == '\\' && i+1 < len(rs) && rs[i+1] != '\n':
			i++
			word.WriteRune(rs[i])
			begun = true
		case in == '"' && (r == '$' || r == '`'):
			return nil, false
		case in == '"':
			word.WriteRune(r)
		case r == '\'' || r == '"':
			in, begun = r, true
		case r == ' ':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		case unicode.IsSpace(r) || strings.ContainsRune("|&;()<>$`*?[]#~!{}\\", r):
			return nil, false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, in == 0 && len(words) > 0
}

// joinWords is the command line that has these words, for a shell.
func joinWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if w != "" && strings.IndexFunc(w, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./=:@%+,", r)
		}) < 0 {
			out[i] = w
			continue
		}
		out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(out, " ")
}

// patchOf is a patch that makes the changes, as apply_patch is given one.
func patchOf(list []Change) (string, error) {
	if len(list) == 0 {
		return "", fmt.Errorf("%w: it is not known which files would be changed", sayso.ErrInvalid)
	}
	var b strings.Builder
	b.WriteString("*** Begin Patch\n")
	for _, c := range list {
		if c.Path == "" || strings.ContainsFunc(c.Path+c.To, unicode.IsControl) {
			return "", fmt.Errorf("%w: the name of a file that would be changed cannot be read", sayso.ErrInvalid)
		}
		switch c.Do {
		case "add":
			b.WriteString("*** Add File: " + c.Path + "\n")
			for line := range strings.Lines(c.Diff) {
				b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
			}
		case "delete":
			b.WriteString("*** Delete File: " + c.Path + "\n")
		case "update":
			b.WriteString("*** Update File: " + c.Path + "\n")
			if c.To != "" {
				b.WriteString("*** Move to: " + c.To + "\n")
			}
			if err := hunks(&b, c.Diff); err != nil {
				return "", err
			}
		default:
			return "", fmt.Errorf("%w: a file would be changed in a way that is not known", sayso.ErrInvalid)
		}
	}
	b.WriteString("*** End Patch\n")
	return b.String(), nil
}

// hunks writes those of a unified difference without the numbers of their lines.
func hunks(b *strings.Builder, diff string) error {
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "@@"):
			b.WriteString("@@\n")
		case strings.HasPrefix(line, `\`): // no line feed at the end
		case line == "", strings.IndexByte(" +-", line[0]) < 0:
			return fmt.Errorf("%w: the change of a file cannot be read", sayso.ErrInvalid)
		default:
			b.WriteString(line + "\n")
		}
	}
	return nil
}

// Reply answers an approval. Everything but a decision that allows as it was asked,
// without an error, declines. Nothing is remembered at the host, and no rule of its
// own is written: remembering is the gate's.
func (a Approval) Reply(id jsontext.Value, d sayso.Decision, err error) []byte {
	yes := err == nil && d.Allowed() && len(d.Args) == 0
	switch a.sort {
	case aPermissions:
		granted := jsontext.Value("{}")
		if yes {
			granted = a.wants
		}
		return appResult(id, map[string]any{"permissions": granted, "scope": "turn"})
	case aServer:
		word := toolRefused
		if yes {
			word = toolRuns
		}
		return appResult(id, map[string]any{"answers": map[string]any{aboutTool + a.Item: map[string]any{"answers": []string{word}}}})
	case anOldCommand, anOldPatch:
		if yes {
			return appResult(id, map[string]any{"decision": "approved"})
		}
		words := agent.Words(sayso.Told(d, err))
		return appResult(id, map[string]any{"decision": map[string]any{"denied": map[string]any{"rejection": words}}})
	}
	if yes {
		return appResult(id, map[string]any{"decision": "accept"})
	}
	return appResult(id, map[string]any{"decision": "decline"})
}
