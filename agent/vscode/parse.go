package vscode

import (
	"bytes"
	"fmt"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
)

// Event names a hook event.
type Event string

// The events that the gate is installed for.
const (
	PreToolUse   Event = "PreToolUse"
	PostToolUse  Event = "PostToolUse"
	SessionStart Event = "SessionStart"
)

// Hook is what one run of a hook was told.
type Hook struct {
	Event   Event
	Session string
	// Call is the call that is about to be made; of PreToolUse.
	Call sayso.Call
	// Said are the fields of the input that are not among the call's arguments,
	// to be put back when the arguments are edited.
	Said agent.Said
	// Outcome tells how a call ended; of PostToolUse.
	Outcome sayso.Outcome
}

// payload is the input of all events together.
type payload struct {
	SessionID string     `json:"sessionId"`
	Cwd       string     `json:"cwd"`
	Event     Event      `json:"hookEventName"`
	Tool      string     `json:"tool_name"`
	Input     sayso.Args `json:"tool_input"`
	ToolUseID string     `json:"tool_use_id"`
	Response  sayso.Args `json:"tool_response"`
}

// members are the names that payload reads, to find others that differ from
// them in case alone.
var members = []string{"sessionId", "cwd", "hookEventName", "tool_name", "tool_input", "tool_use_id"}

// Parse reads the input of a hook. Duplicate names at any depth, names that
// differ from a known one in case alone, an event that the gate is not installed
// for, and arguments that are no object are errors; on PreToolUse an error is a
// denial.
func Parse(text []byte) (Hook, error) {
	var p payload
	if err := agent.Read(text, members, &p); err != nil {
		return Hook{}, err
	}
	h := Hook{Event: p.Event, Session: p.SessionID}
	if h.Session == "" {
		return h, fmt.Errorf("%w: hook input: sessionId is missing", sayso.ErrInvalid)
	}
	switch p.Event {
	case PreToolUse:
		return h, h.before(&p)
	case PostToolUse:
		h.Outcome = sayso.Outcome{Session: p.SessionID, CallID: p.ToolUseID, Output: agent.Output(bytes.TrimSpace(p.Response))}
		return h, nil
	case SessionStart:
		return h, nil
	}
	return h, fmt.Errorf("%w: hook input: %q is no event of this hook", sayso.ErrInvalid, p.Event)
}

// before reads the call that is about to be made.
func (h *Hook) before(p *payload) error {
	if p.Tool == "" || p.ToolUseID == "" {
		return fmt.Errorf("%w: hook input: tool_name or tool_use_id is missing", sayso.ErrInvalid)
	}
	h.Call = sayso.Call{Host: Host, Tool: p.Tool, Cwd: p.Cwd, Session: p.SessionID, CallID: p.ToolUseID, Caller: Host + "/main"}
	var err error
	if h.Said, err = agent.Fill(&h.Call, "tool_input", p.Input, said[p.Tool]); err != nil {
		return err
	}
	return h.Call.Validate()
}
