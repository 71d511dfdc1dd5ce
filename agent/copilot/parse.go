package copilot

import (
	"fmt"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Event names a hook event.
type Event string

// The events that the gate is installed for, in the spelling that gets the
// payload that this package reads.
const (
	PreToolUse   Event = "preToolUse"
	SessionStart Event = "sessionStart"
	SessionEnd   Event = "sessionEnd"
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
	// Text says that the host gave the input of apply_patch as a text, which is then
	// the argument input.
	Text bool
}

// payload is the input of all events together.
type payload struct {
	SessionID string     `json:"sessionId"`
	Cwd       string     `json:"cwd"`
	Tool      string     `json:"toolName"`
	Input     sayso.Args `json:"toolArgs"`
	Source    string     `json:"source"` // of a session that starts
	Reason    string     `json:"reason"` // of one that ends
	AgentID   string     `json:"agentId"`
	AgentType string     `json:"agentType"`
}

// members are the names that payload reads, to find others that differ from
// them in case alone.
var members = []string{"sessionId", "cwd", "toolName", "toolArgs", "source", "reason", "agentId", "agentType"}

// Parse reads the input of a hook. Duplicate names at any depth, names that
// differ from a known one in case alone, and arguments that are no object are
// errors. What is not certainly the start or the end of a session is a call, and
// then an error is a denial.
func Parse(text []byte) (Hook, error) {
	var p payload
	if err := agent.Read(text, members, &p); err != nil {
		return Hook{}, err
	}
	h := Hook{Event: p.event(), Session: p.SessionID}
	if h.Session == "" {
		return h, fmt.Errorf("%w: hook input: sessionId is missing", sayso.ErrInvalid)
	}
	if h.Event != PreToolUse {
		return h, nil
	}
	return h, h.before(&p)
}

// event tells by the members that only one event has.
func (p *payload) event() Event {
	switch {
	case p.Tool != "" || len(p.Input) > 0:
	case p.Source != "" && p.Reason == "":
		return SessionStart
	case p.Reason != "" && p.Source == "":
		return SessionEnd
	}
	return PreToolUse
}

// before reads the call that is about to be made.
func (h *Hook) before(p *payload) error {
	if p.Tool == "" {
		return fmt.Errorf("%w: hook input: toolName is missing", sayso.ErrInvalid)
	}
	var patch string
	if h.Text = p.Tool == "apply_patch" && jcs.Unmarshal(p.Input, &patch) == nil && string(p.Input) != "null"; h.Text {
		var err error
		if p.Input, err = jcs.Marshal(map[string]string{"input": patch}); err != nil {
			return fmt.Errorf("%w: hook input: toolArgs: %w", sayso.ErrInvalid, err)
		}
	}
	h.Call = sayso.Call{Host: Host, Tool: p.Tool, Cwd: p.Cwd, Session: p.SessionID, Caller: Host + "/main"}
	if p.AgentID != "" {
		h.Call.Caller, h.Call.Run = Host+"/"+p.AgentType, p.AgentID
	}
	var err error
	if h.Said, err = agent.Fill(&h.Call, "toolArgs", p.Input, said[p.Tool]); err != nil {
		return err
	}
	return h.Call.Validate()
}
