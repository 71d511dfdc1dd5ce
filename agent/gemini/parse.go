package gemini

import (
	"fmt"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
)

// Event names a hook event.
type Event string

// The events that the gate is installed for.
const (
	BeforeTool   Event = "BeforeTool"
	SessionStart Event = "SessionStart"
	SessionEnd   Event = "SessionEnd"
)

// Hook is what one run of a hook was told.
type Hook struct {
	Event   Event
	Session string
	// Call is the call that is about to be made; of BeforeTool.
	Call sayso.Call
	// Said are the fields of the input that are not among the call's arguments,
	// to be put back when the arguments are edited.
	Said agent.Said
}

// payload is the input of all events together.
type payload struct {
	SessionID string     `json:"session_id"`
	Cwd       string     `json:"cwd"`
	Event     Event      `json:"hook_event_name"`
	Tool      string     `json:"tool_name"`
	Input     sayso.Args `json:"tool_input"`
	MCP       *struct {
		Server string `json:"server_name"`
		Tool   string `json:"tool_name"`
	} `json:"mcp_context"`
}

// members are the names that payload reads, to find others that differ from
// them in case alone.
var members = []string{"session_id", "cwd", "hook_event_name", "tool_name", "tool_input", "mcp_context"}

// Parse reads the input of a hook. Duplicate names at any depth, names that
// differ from a known one in case alone, an event that the gate is not installed
// for, and arguments that are no object are errors; on BeforeTool an error is a
// denial.
func Parse(text []byte) (Hook, error) {
	var p payload
	if err := agent.Read(text, members, &p); err != nil {
		return Hook{}, err
	}
	h := Hook{Event: p.Event, Session: p.SessionID}
	if h.Session == "" {
		return h, fmt.Errorf("%w: hook input: session_id is missing", sayso.ErrInvalid)
	}
	switch p.Event {
	case BeforeTool:
		return h, h.before(&p)
	case SessionStart, SessionEnd:
		return h, nil
	}
	return h, fmt.Errorf("%w: hook input: %q is no event of this hook", sayso.ErrInvalid, p.Event)
}

// before reads the call that is about to be made.
func (h *Hook) before(p *payload) error {
	if p.Tool == "" {
		return fmt.Errorf("%w: hook input: tool_name is missing", sayso.ErrInvalid)
	}
	h.Call = sayso.Call{Host: Host, Tool: p.Tool, Cwd: p.Cwd, Session: p.SessionID, Caller: Host + "/main"}
	if p.MCP != nil {
		if p.MCP.Server == "" || p.MCP.Tool == "" {
			return fmt.Errorf("%w: hook input: mcp_context does not say which server and tool", sayso.ErrInvalid)
		}
		h.Call.Server = p.MCP.Server
	}
	var err error
	if h.Said, err = agent.Fill(&h.Call, "tool_input", p.Input, said[p.Tool]); err != nil {
		return err
	}
	return h.Call.Validate()
}
