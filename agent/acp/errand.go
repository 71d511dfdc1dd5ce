package acp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/rpc"
	"github.com/sayso-dev/sayso/present"
)

// What an agent has its editor do. Each is judged as a call of its own.
const (
	WriteFile      = "fs/write_text_file"
	ReadFile       = "fs/read_text_file"
	CreateTerminal = "terminal/create"
	MessageMCP     = "mcp/message" // of a draft: to an MCP server that lives in the editor
)

// What an agent does with a terminal that it was let create.
const (
	TerminalExit    = "terminal/wait_for_exit"
	TerminalOutput  = "terminal/output"
	TerminalRelease = "terminal/release"
)

// judged are the methods that no other may be called nearly like.
var judged = []string{Ask, WriteFile, ReadFile, CreateTerminal, MessageMCP}

// Errand is something that an agent has its editor do: write or read a file, run a
// command. The zero Errand is refused.
type Errand struct {
	ID      jsontext.Value
	Session string // as the agent calls it
	Method  string

	args map[string]jsontext.Value
}

// Errand reports whether the message has the editor do something that is judged. Of
// what is said to an MCP server that are the calls of its tools, and what cannot be
// read.
func (m *Message) Errand() bool {
	switch m.Method {
	case WriteFile, ReadFile, CreateTerminal:
		return true
	case MessageMCP:
		method := ""
		err := rpc.Members(m.Params, []string{"method"}, func(name string, value jsontext.Value, _ int) error {
			if name == "method" {
				return rpc.ReadText(value, &method)
			}
			return nil
		})
		return err != nil || method == callTool || rpc.PosesAs(method, []string{callTool})
	}
	return false
}

// callTool is the method of MCP that calls a tool.
const callTool = "tools/call"

// ReadErrand reads what the editor is to do. With an error the Errand is still good
// for refusing it.
func (m *Message) ReadErrand() (Errand, error) {
	e := Errand{ID: m.ID.Clone(), Method: m.Method} // the line need not be kept
	if err := jcs.Unmarshal(m.Params, &e.args); err != nil {
		return e, e.wrong(err)
	}
	if err := rpc.Members(m.Params, members[m.Method], func(string, jsontext.Value, int) error { return nil }); err != nil {
		return e, e.wrong(err)
	}
	if m.Method == MessageMCP {
		return e, nil // the draft has no session here: it belongs to a connection
	}
	var ok bool
	if e.Session, ok = e.text("sessionId"); !ok || e.Session == "" {
		return e, e.wrong(errors.New("sessionId is missing"))
	}
	delete(e.args, "sessionId")
	if m.Method == CreateTerminal {
		return e, nil
	}
	if name, ok := e.text("path"); !ok || !strings.HasPrefix(name, "/") {
		return e, e.wrong(errors.New("path is no absolute path"))
	}
	if _, ok := e.text("content"); !ok && m.Method == WriteFile {
		return e, e.wrong(errors.New("content is no text"))
	}
	return e, nil
}

// members are the parameters whose meaning is known. Whatever else there is stands among
// the arguments, and has a person asked.
var members = map[string][]string{
	WriteFile:      {"sessionId", "path", "content"},
	ReadFile:       {"sessionId", "path", "line", "limit"},
	CreateTerminal: {"sessionId", "command", "args", "env", "cwd", "outputByteLimit"},
	MessageMCP:     {"connectionId", "method", "params"},
}

// Call is the call that the editor would carry out.
func (e Errand) Call(at Place) (sayso.Call, error) {
	c := sayso.Call{
		Host: Host, Tool: e.Method, Cwd: at.Cwd, CallID: at.CallID, Caller: at.Caller, Said: map[string]string{},
		Metadata: map[string]any{"agent": at.Agent.Name, "agent_version": at.Agent.Version},
	}
	if c.Session = SessionName(e.Session); e.Session == "" {
		c.Session = SessionName(e.Method)
	}
	args := maps.Clone(e.args)
	for name, value := range args { // what stands for nothing
		if value.Kind() == 'n' || name == "_meta" && string(value) == "{}" {
			delete(args, name)
		}
	}
	if e.Method == CreateTerminal {
		if err := e.terminal(&c, args); err != nil {
			return c, e.wrong(err)
		}
	}
	var err error
	if c.Args, err = jcs.Marshal(args); err != nil {
		return c, e.wrong(err)
	}
	if _, err := c.Digest(); err != nil {
		return c, e.wrong(err)
	}
	return c, c.Validate()
}

// terminal makes the one command line, which rules know, of what the editor is told to
// run, and takes the folder where it runs.
func (e Errand) terminal(c *sayso.Call, args map[string]jsontext.Value) error {
	command, ok := e.text("command")
	if !ok || strings.TrimSpace(command) == "" {
		return errors.New("command is no text")
	}
	var words []string
	if value, ok := args["args"]; ok {
		if err := jcs.Unmarshal(value, &words); err != nil {
			return fmt.Errorf("args: %w", err)
		}
	}
	var env []variable
	if value, ok := args["env"]; ok {
		if err := jcs.Unmarshal(value, &env); err != nil {
			return fmt.Errorf("env: %w", err)
		}
	}
	line, err := commandLine(command, words, env)
	if err != nil {
		return err
	}
	text, err := jcs.AppendString(nil, line)
	if err != nil {
		return err
	}
	args["command"] = text
	delete(args, "args")
	if !slices.ContainsFunc(env, variable.more) {
		delete(args, "env")
	}
	delete(args, "outputByteLimit") // how much of the output the editor keeps changes nothing that runs
	if cwd, ok := e.text("cwd"); ok && strings.HasPrefix(cwd, "/") {
		c.Cwd = cwd
		delete(args, "cwd")
	}
	return nil
}

// variable is one of the environment.
type variable struct {
	Name  string         `json:"name"`
	Value string         `json:"value"`
	Meta  jsontext.Value `json:"_meta"`
}

// more reports whether something is said of it that nobody knows: then it stays among the
// arguments, and has a person asked.
func (v variable) more() bool {
	return len(v.Meta) > 0 && v.Meta.Kind() != 'n' && string(v.Meta) != "{}"
}

// otherwise stands between the two commands that one may be.
const otherwise = "# or this, in an editor that hands it to a shell without quotes:"

// commandLine is the line of bash that says all of what may run.
//
// The protocol has a program and its arguments. Editors do not agree what that is:
// some start the program, others join the words, with quotes or without, and have a
// shell read them; and agents that have a line of shell send it as the program, with no
// arguments. So what a shell would take for more than a word is there both ways, and
// rules must allow both.
func commandLine(command string, args []string, env []variable) (string, error) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, v := range slices.SortedFunc(slices.Values(env), func(a, b variable) int { return strings.Compare(a.Name, b.Name) }) {
		if !isName(v.Name) || seen[v.Name] {
			return "", errors.New("env: a variable comes twice, or has a name that a shell would not take for one")
		}
		seen[v.Name] = true
		b.WriteString("export " + v.Name + "=" + quoted(v.Value) + "\n")
	}
	words := append([]string{command}, args...)
	for _, word := range words {
		if strings.ContainsRune(word, 0) {
			return "", errors.New("a word holds a zero byte")
		}
	}
	joined := strings.Join(words, " ")
	sets := strings.Contains(command, "=") // what a shell takes for a variable is a program where none reads it
	if len(args) == 0 || !sets && !slices.ContainsFunc(words, func(w string) bool { return quoted(w) != w }) {
		b.WriteString(joined)
		return b.String(), nil
	}
	b.WriteByte('(')
	for i, word := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if i == 0 && sets {
			b.WriteString(between(word))
		} else {
			b.WriteString(quoted(word))
		}
	}
	b.WriteString(")\n" + otherwise + "\n" + joined)
	return b.String(), nil
}

// isName reports whether a shell takes a name for that of a variable.
func isName(name string) bool {
	return name != "" && (name[0] < '0' || name[0] > '9') && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// quoted is a word as a shell reads it back. One that is nothing but a word, wherever it
// stands, stays as it is.
func quoted(word string) string {
	odd := func(r rune) bool {
		return !strings.ContainsRune("_@%+:,./-=", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if word != "" && word[0] != '=' && word[0] != '%' && !strings.ContainsFunc(word, odd) {
		return word
	}
	return between(word)
}

// between is a word between quotes.
func between(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// text is a parameter that is a text.
func (e Errand) text(name string) (text string, ok bool) {
	value, ok := e.args[name]
	if !ok || value.Kind() != '"' || jcs.Unmarshal(value, &text) != nil {
		return "", false
	}
	return text, true
}

// Present makes what a person is shown: the change to the file on disk, or the command.
// No other file is read than that of the facts by which the call is judged. What the
// editor holds and has not saved is not known.
func (e Errand) Present(c sayso.Call, f sayso.Facts, content present.Content) sayso.Presentation {
	if e.Method == WriteFile {
		name, _ := e.text("path")
		text, _ := e.text("content")
		return present.Found(f, "path", name, content).Written(text)
	}
	if p, ok := present.Call(c); ok {
		return p
	}
	return present.Structured(c.Args)
}

// What a refusal is called, besides the words for the model.
const (
	codeInvalid   = -32600
	codeCancelled = -32800
	codeRefused   = -32001
)

// Reply is the answer where the editor is not to do it: an error with the words that an
// agent is told everywhere, the note of a person among them. There is no other; what is
// allowed the editor answers.
func (e Errand) Reply(d sayso.Decision, err error) []byte {
	text := sayso.Told(d, err)
	if text == "" { // an answer of ours is never a yes
		text = sayso.Told(sayso.Decision{}, nil)
	}
	return failure(e.ID, codeRefused, text)
}

// Cancelled is the answer to one whose turn was cancelled.
func (e Errand) Cancelled() []byte {
	return failure(e.ID, codeCancelled, "Cancelled: nobody answered before it was taken back. Nothing ran.")
}

// wrong is the error of what cannot be read.
func (e Errand) wrong(err error) error {
	return fmt.Errorf("%w: %s: %w", sayso.ErrInvalid, e.Method, err)
}

// Terminal is the terminal that a message is about: in the parameters of a request, or in
// the result of terminal/create.
func (m *Message) Terminal() (session, id string) {
	var p struct {
		Session string `json:"sessionId"`
		ID      string `json:"terminalId"`
	}
	text := m.Params
	if text == nil {
		text = m.Result
	}
	if jcs.UnmarshalLenient(text, &p) != nil {
		return "", ""
	}
	return p.Session, p.ID
}

// Failed reports whether a response is an error.
func (m *Message) Failed() bool { return m.failed }

// Exit is how a command ended, as the answer to a request about its terminal says it. ok
// says that it has ended.
func (m *Message) Exit() (o sayso.Outcome, ok bool) {
	type exit struct {
		Code   *int    `json:"exitCode"`
		Signal *string `json:"signal"`
	}
	var r struct {
		exit
		Status *exit `json:"exitStatus"`
	}
	if m.Result == nil || jcs.UnmarshalLenient(m.Result, &r) != nil {
		return o, false
	}
	how := r.exit
	if r.Status != nil {
		how = *r.Status
	}
	if how.Code == nil && how.Signal == nil {
		return o, false
	}
	o.ExitStatus = how.Code
	o.Failed = how.Signal != nil || *how.Code != 0
	return o, true
}
