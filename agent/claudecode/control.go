package claudecode

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// Line is one line that Claude Code writes where it is driven by another program
// (--output-format stream-json): one JSON object. Questions to that program stand
// among what it tells; they are the control protocol.
type Line struct {
	Kind LineKind
	// ID is of a question, or of the one that is taken back.
	ID string
	// Hook is what a hook of the control protocol was told; of HookRuns.
	Hook Hook
	// Permission is asked for; of Asks.
	Permission Permission
	// Server is the MCP server that wants something from the person; of Elicits.
	Server string
	// Err is why something of ours was refused, in the host's words; of Responds.
	Err string
	// Answer is what the host answered; of Responds.
	Answer jsontext.Value `json:"-"`
	// What follows is told. None of it decides anything.
	Session, Version string // of Began
	Said             []string
	Uses             []Use // that the model asks for; of Says
	Done             []Use // that have ended; of Tells
	Failed           bool  // of Over
}

// LineKind says what a line is.
type LineKind uint8

// The kinds of lines. The zero one tells nothing that matters here.
const (
	Other     LineKind = iota
	Began              // a session
	Says               // the model speaks, or asks for tools
	Tells              // how calls ended
	Over               // a turn
	HookRuns           // a hook of ours is called
	Asks               // whether a call may run
	Elicits            // an MCP server asks the person for something
	Wants              // anything else that must be answered
	TakesBack          // a question
	Responds           // to what we asked
)

// Use is one use of a tool.
type Use struct {
	ID, Name string
	Failed   bool
	Input    sayso.Args `json:"-"` // as the model wrote it; of Says
}

// Permission is the question of the control protocol, and of the tool that
// --permission-prompt-tool names, whether a call may run.
type Permission struct {
	Tool   string
	Input  sayso.Args // as the host has it, with the model's words
	UseID  string
	Server string // of an MCP tool, if the host says it
}

// envelope is what all lines may have.
type envelope struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
	Version string `json:"claude_code_version"`
	Failed  bool   `json:"is_error"`
	ID      string `json:"request_id"`
	Message struct {
		Content jsontext.Value `json:"content"`
	} `json:"message"`
	Response struct {
		Subtype string `json:"subtype"`
		ID      string `json:"request_id"`
		Error   string `json:"error"`

		Answer jsontext.Value `json:"response"`
	} `json:"response"`
}

// question is what the host asks of whoever drives it.
type question struct {
	ID      string `json:"request_id"`
	Request struct {
		Subtype  string     `json:"subtype"`
		Callback string     `json:"callback_id"`
		Told     sayso.Args `json:"input"` // of a hook, or a tool
		Tool     string     `json:"tool_name"`
		UseID    string     `json:"tool_use_id"`
		MCP      *struct {
			Name string `json:"name"`
		} `json:"mcp_server"`
		Server string `json:"mcp_server_name"`
	} `json:"request"`
}

// ParseLine reads one line. A line that is no JSON object is an error, and so is a
// question that could be read in two ways; then the line still has the question's
// id, if that is certain, so that it can be refused.
func ParseLine(text []byte) (Line, error) {
	var e envelope
	if err := jcs.UnmarshalLenient(text, &e); err != nil || e.Type == "" {
		return unread(text), fmt.Errorf("%w: a line of the host is no message", sayso.ErrInvalid)
	}
	switch e.Type {
	case "control_request":
		return e.question(text)
	case "control_cancel_request":
		return Line{Kind: TakesBack, ID: e.ID}, nil
	case "control_response":
		return Line{Kind: Responds, ID: e.Response.ID, Err: e.refusal(), Answer: e.Response.Answer}, nil
	case "system":
		if e.Subtype == "init" {
			return Line{Kind: Began, Session: e.Session, Version: e.Version}, nil
		}
	case "result":
		return Line{Kind: Over, Failed: e.Failed || e.Subtype != "success"}, nil
	case "assistant", "user":
		return e.blocks()
	}
	return Line{}, nil
}

// unread is what is certain of a line that cannot be read: whether it is a question,
// and which.
func unread(text []byte) (l Line) {
	var kind, id string
	err := rpc.Members(text, []string{"type", "request_id", "request"}, func(name string, value jsontext.Value, _ int) error {
		switch name {
		case "type":
			return rpc.ReadText(value, &kind)
		case "request_id":
			return rpc.ReadText(value, &id)
		}
		return nil
	})
	if kind == "control_request" {
		if l.Kind = Wants; err == nil {
			l.ID = id
		}
	}
	return l
}

func (e *envelope) refusal() string {
	switch {
	case e.Response.Subtype == "success":
		return ""
	case e.Response.Error == "":
		return "it gave no reason"
	}
	return e.Response.Error
}

// question reads what must be answered.
func (e *envelope) question(text []byte) (Line, error) {
	l := Line{Kind: Wants, ID: e.ID}
	var q question
	if err := agent.Read(text, []string{"type", "request_id", "request"}, &q); err != nil {
		return l, err
	}
	r := &q.Request
	switch r.Subtype {
	case "hook_callback":
		var err error
		l.Kind = HookRuns
		l.Hook, err = Parse(r.Told)
		return l, err
	case "can_use_tool":
		l.Kind = Asks
		l.Permission = Permission{Tool: r.Tool, Input: r.Told, UseID: r.UseID}
		if r.MCP != nil {
			l.Permission.Server = r.MCP.Name
		}
		return l, l.Permission.check()
	case "elicitation":
		l.Kind, l.Server = Elicits, r.Server
	}
	return l, nil
}

// blocks reads what the model says, and how calls ended.
func (e *envelope) blocks() (Line, error) {
	l := Line{Kind: Says, Session: e.Session}
	if e.Type == "user" {
		l.Kind = Tells
	}
	var blocks []struct {
		Type   string `json:"type"`
		Text   string `json:"text"`
		ID     string `json:"id"`
		Name   string `json:"name"`
		UseID  string `json:"tool_use_id"`
		Failed bool   `json:"is_error"`

		Input sayso.Args `json:"input"`
	}
	if e.Message.Content.Kind() != '[' || jcs.UnmarshalLenient(e.Message.Content, &blocks) != nil {
		return l, nil // a text, which is no use of a tool
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			l.Said = append(l.Said, b.Text)
		case "tool_use":
			l.Uses = append(l.Uses, Use{ID: b.ID, Name: b.Name, Input: b.Input})
		case "tool_result":
			l.Done = append(l.Done, Use{ID: b.UseID, Failed: b.Failed})
		}
	}
	return l, nil
}

// ParsePermission reads the arguments of the tool that --permission-prompt-tool
// names.
func ParsePermission(args []byte) (Permission, error) {
	var in struct {
		Tool  string     `json:"tool_name"`
		Input sayso.Args `json:"input"`
		UseID string     `json:"tool_use_id"`
	}
	if err := agent.Read(args, []string{"tool_name", "input", "tool_use_id"}, &in); err != nil {
		return Permission{}, err
	}
	p := Permission{Tool: in.Tool, Input: in.Input, UseID: in.UseID}
	return p, p.check()
}

func (p Permission) check() error {
	if p.Tool == "" || p.UseID == "" {
		return fmt.Errorf("%w: tool_name or tool_use_id is missing", sayso.ErrInvalid)
	}
	if _, err := jcs.Object(p.Input); err != nil {
		return fmt.Errorf("%w: input: %w", sayso.ErrInvalid, err)
	}
	return nil
}

// Hook is the call that is asked about, as the hook before it was told of it: its
// session, its folder, and who makes it. The arguments are those of the question,
// which are the ones that will run.
func (p Permission) Hook(before Hook) (Hook, error) {
	b := payload{
		SessionID: before.Session, Cwd: before.Cwd, Mode: before.Mode, Event: PreToolUse,
		Tool: p.Tool, Input: p.Input, ToolUseID: p.UseID, MCP: before.mcp,
	}
	if p.Server != "" {
		b.MCP = &mcpServer{Name: p.Server}
	}
	b.AgentID, b.AgentType = before.agentID, before.agentType
	h := Hook{Event: PreToolUse, Session: before.Session, Cwd: before.Cwd, Mode: before.Mode}
	return h, h.before(&b)
}

// ruling is what a permission is answered with.
type ruling struct {
	Behavior string     `json:"behavior"`
	Updated  sayso.Args `json:"updatedInput,omitempty"`
	Message  string     `json:"message,omitempty"`
}

// Rule is the answer to a permission: {"behavior": …}. Everything but a decision
// that allows, without an error, is a denial with words for the model. An allow
// gives the arguments back, edited or as they came. What the host suggests to
// remember is never given back: remembering is the gate's.
func (p Permission) Rule(h Hook, d sayso.Decision, err error) []byte {
	if err != nil || !d.Allowed() {
		return p.Refuse(sayso.Told(d, err))
	}
	r := ruling{Behavior: "allow", Updated: p.Input}
	if len(d.Args) > 0 {
		if r.Updated, err = h.Said.Join(d.Args); err != nil {
			return p.Refuse(sayso.Told(sayso.Decision{}, err))
		}
	}
	text, err := jcs.Marshal(r)
	if err != nil {
		return p.Refuse(sayso.Told(sayso.Decision{}, err))
	}
	return text
}

// Refuse is a denial with words for the model.
func (Permission) Refuse(reason string) []byte {
	text, err := jcs.Marshal(ruling{Behavior: "deny", Message: agent.Words(reason)})
	if err != nil { // the words are no text
		return []byte(`{"behavior":"deny","message":"denied"}`)
	}
	return text
}

// Prompt is what the person says.
func Prompt(text string) ([]byte, error) {
	return jcs.Marshal(map[string]any{
		"type": "user", "session_id": "", "parent_tool_use_id": nil, "message": map[string]any{"role": "user", "content": text},
	})
}

// Respond answers a question of the control protocol.
func Respond(id string, response []byte) []byte {
	return control("control_response", "", "response", map[string]any{"subtype": "success", "request_id": id, "response": jsontext.Value(response)})
}

// RespondError answers one that cannot be answered, which the host takes as a no.
func RespondError(id, reason string) []byte {
	return control("control_response", "", "response", map[string]any{"subtype": "error", "request_id": id, "error": agent.Words(reason)})
}

// control is a line of the control protocol.
func control(kind, id, member string, value any) []byte {
	line := map[string]any{"type": kind, member: value}
	if id != "" {
		line["request_id"] = id
	}
	text, err := jcs.Marshal(line)
	if err != nil {
		return nil // a host that gets no answer does not go on
	}
	return text
}
