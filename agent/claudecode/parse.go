package claudecode

import (
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
)

// Event names a hook event.
type Event string

// The events that the gate is installed for.
const (
	PreToolUse         Event = "PreToolUse"
	PermissionRequest  Event = "PermissionRequest" // in the place of PreToolUse: only what the host would prompt for
	PostToolUse        Event = "PostToolUse"
	PostToolUseFailure Event = "PostToolUseFailure"
	SessionStart       Event = "SessionStart"
	SessionEnd         Event = "SessionEnd"
)

// Hook is what one run of a hook was told.
type Hook struct {
	Event   Event
	Session string
	Cwd     string
	Mode    string // the host's permission mode
	// Call is the call that is about to be made; of PreToolUse.
	Call sayso.Call
	// Said are the fields of the input that are not among the call's arguments,
	// to be put back when the arguments are edited.
	Said agent.Said
	// OwnScreen says that the tool is itself a question to the person at the
	// host: no opinion is the right answer.
	OwnScreen bool
	// Outcome tells how a call ended; of PostToolUse and PostToolUseFailure.
	Outcome sayso.Outcome

	agentID, agentType string
	mcp                *mcpServer
}

// mcpServer is the server of an MCP tool.
type mcpServer struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

// payload is the input of all events together. Members that are not here may
// come with any release and are passed over; none decides anything.
type payload struct {
	SessionID string     `json:"session_id"`
	Cwd       string     `json:"cwd"`
	Mode      string     `json:"permission_mode"`
	Event     Event      `json:"hook_event_name"`
	Tool      string     `json:"tool_name"`
	Input     sayso.Args `json:"tool_input"`
	ToolUseID string     `json:"tool_use_id"`
	AgentID   string     `json:"agent_id"`
	AgentType string     `json:"agent_type"`
	MCP       *mcpServer `json:"mcp_server"`
	Response  sayso.Args `json:"tool_response"`
	Error     string     `json:"error"`
	Interrupt bool       `json:"is_interrupt"`
	Duration  float64    `json:"duration_ms"`
}

// members are the names that payload reads, to find others that differ from
// them in case alone.
var members = []string{
	"session_id", "cwd", "permission_mode", "hook_event_name", "tool_name", "tool_input", "tool_use_id",
	"agent_id", "agent_type", "mcp_server",
}

// Parse reads the input of a hook. Duplicate names at any depth, names that
// differ from a known one in case alone, an event that the gate is not
// installed for, and arguments that are no object are errors; on PreToolUse an
// error is a denial.
func Parse(text []byte) (Hook, error) {
	var p payload
	if err := agent.Read(text, members, &p); err != nil {
		return Hook{}, err
	}
	h := Hook{Event: p.Event, Session: p.SessionID, Cwd: p.Cwd, Mode: p.Mode, agentID: p.AgentID, agentType: p.AgentType, mcp: p.MCP}
	if h.Session == "" {
		return h, fmt.Errorf("%w: hook input: session_id is missing", sayso.ErrInvalid)
	}
	switch p.Event {
	case PreToolUse, PermissionRequest:
		return h, h.before(&p)
	case PostToolUse, PostToolUseFailure:
		h.after(&p)
		return h, nil
	case SessionStart, SessionEnd:
		return h, nil
	}
	return h, fmt.Errorf("%w: hook input: %q is no event of this hook", sayso.ErrInvalid, p.Event)
}

// before reads the call that is about to be made.
func (h *Hook) before(p *payload) error {
	if p.Tool == "" || p.ToolUseID == "" && p.Event != PermissionRequest {
		return fmt.Errorf("%w: hook input: tool_name or tool_use_id is missing", sayso.ErrInvalid)
	}
	h.Call = sayso.Call{
		Host: Host, Tool: p.Tool, Cwd: p.Cwd, Session: p.SessionID, CallID: p.ToolUseID, Caller: Host + "/main",
		Metadata: map[string]any{"permission_mode": p.Mode},
	}
	if p.AgentID != "" {
		h.Call.Caller = Host + "/" + p.AgentType
		h.Call.Run = p.AgentID
	}
	if p.MCP != nil {
		h.Call.Server = p.MCP.Name
	}
	h.OwnScreen = h.Call.Known().OwnScreen
	var err error
	if h.Said, err = agent.Fill(&h.Call, "tool_input", p.Input, said[p.Tool]); err != nil {
		return err
	}
	return h.Call.Validate()
}

// after reads how a call ended. Of its result only a digest is kept.
func (h *Hook) after(p *payload) {
	h.Outcome = sayso.Outcome{
		Session: p.SessionID, CallID: p.ToolUseID, Failed: p.Event == PostToolUseFailure, Interrupt: p.Interrupt,
		Took: time.Duration(p.Duration * float64(time.Millisecond)),
	}
	if h.Outcome.Output = agent.Output(p.Response); p.Error != "" {
		h.Outcome.Output = agent.Output([]byte(p.Error))
	}
	h.Call = sayso.Call{Host: Host, Tool: p.Tool, Cwd: p.Cwd, Session: p.SessionID, CallID: p.ToolUseID}
	if p.MCP != nil {
		h.Call.Server = p.MCP.Name
	}
	if known := h.Call.Known(); known.Args == nil && known.Kind != sayso.KindMCP {
		return // the host changes the input of some tools on the way; those of the table it does not
	}
	h.Said, _ = agent.Fill(&h.Call, "tool_input", p.Input, said[p.Tool]) // without them it is not compared what ran
	h.Outcome.Args = h.Call.Args
}
