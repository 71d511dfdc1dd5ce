package codex

import (
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Host is the name of this host in calls, and what our hook is told of who
// starts it.
const Host = "codex"

// Oldest is the first release whose hooks were seen to do what this package
// says.
const Oldest = "0.169.0"

// LeaveTimeout is how long this host waits for the last hook of a session; it allows
// no more.
const LeaveTimeout = 3 * time.Second

// Event names a hook event.
type Event string

// The events that the gate is installed for.
const (
	PreToolUse        Event = "PreToolUse"
	PermissionRequest Event = "PermissionRequest"
	PostToolUse       Event = "PostToolUse"
	SessionStart      Event = "SessionStart"
	SessionEnd        Event = "SessionEnd"
)

// Asks reports whether the host waits for an answer.
func (e Event) Asks() bool { return e == PreToolUse || e == PermissionRequest }

// Timeout is how long the host waits for the hook of an event.
func (e Event) Timeout() time.Duration {
	if e == SessionEnd {
		return LeaveTimeout
	}
	return agent.Timeout(e.Asks())
}

// Hook is what one run of a hook was told.
type Hook struct {
	Event   Event
	Session string
	// Call is the call that is about to be made, where the host asks.
	Call sayso.Call
	// Outcome tells how a call ended; of PostToolUse.
	Outcome sayso.Outcome
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
	Response  sayso.Args `json:"tool_response"`
}

// members are the names that decide something, to find others that differ from
// them in case alone.
var members = []string{
	"session_id", "cwd", "permission_mode", "hook_event_name", "tool_name", "tool_input", "tool_use_id", "agent_id", "agent_type",
}

// Parse reads the input of a hook. Duplicate names at any depth, names that
// differ from a known one in case alone, an event that the gate is not
// installed for, and arguments that are no object are errors; where the host
// asks, an error is a denial.
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
	case PreToolUse, PermissionRequest:
		return h, h.before(&p)
	case PostToolUse:
		h.after(&p)
		return h, nil
	case SessionStart, SessionEnd:
		return h, nil
	}
	return h, fmt.Errorf("%w: hook input: %q is no event of this hook", sayso.ErrInvalid, p.Event)
}

// before reads the call that is about to be made.
func (h *Hook) before(p *payload) error {
	if p.Tool == "" || p.ToolUseID == "" && p.Event == PreToolUse {
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
	if _, err := agent.Fill(&h.Call, "tool_input", p.Input, nil); err != nil {
		return err
	}
	if p.Event == PermissionRequest {
		if err := h.permission(); err != nil {
			return err
		}
	}
	return h.Call.Validate()
}

// permission names what a permission is about among the arguments: the tool may
// be allowed, and what its model asks for here is to run it outside of the
// host's sandbox. The reason that the model gives is not taken out of them: of a
// network access it is the only place that says where to.
//
// A tool of a server runs in no sandbox of the host: there the question is about
// the call itself.
func (h *Hook) permission() (err error) {
	if h.Call.Known().Kind == sayso.KindMCP {
		return nil
	}
	args, _, err := agent.Split(h.Call.Args, []string{escalation})
	if err != nil {
		return err
	}
	h.Call.Args, err = agent.Said{escalation: sayso.Args(`"require_escalated"`)}.Join(args)
	return err
}

// escalation is the field by which the host's models ask to leave its sandbox.
const escalation = "sandbox_permissions"

// after reads how a call ended. Of its result only a digest is kept. Whether a
// command failed is not told.
func (h *Hook) after(p *payload) {
	h.Outcome = sayso.Outcome{Session: p.SessionID, CallID: p.ToolUseID, Output: agent.Output(p.Response)}
	known := sayso.Call{Host: Host, Tool: p.Tool}.Known()
	if known.Args == nil && known.Kind != sayso.KindMCP {
		return
	}
	if _, err := jcs.Object(p.Input); err == nil {
		h.Outcome.Args = p.Input
	}
}
