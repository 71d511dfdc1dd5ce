package cursor

import (
	"fmt"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Event names a hook event.
type Event string

// The events that the gate is installed for.
const (
	PreToolUse         Event = "preToolUse"
	PostToolUse        Event = "postToolUse"
	PostToolUseFailure Event = "postToolUseFailure"
	SessionStart       Event = "sessionStart"
	SessionEnd         Event = "sessionEnd"
)

// Hook is what one run of a hook was told.
type Hook struct {
	Event     Event
	Session   string
	Workspace string // the folder that the host works in, if it is one
	// Call is the call that is about to be made; of PreToolUse.
	Call sayso.Call
	// Said are the fields of the input that are not among the call's arguments,
	// to be put back when the arguments are edited.
	Said agent.Said
	// Outcome tells how a call ended; of PostToolUse and PostToolUseFailure.
	Outcome sayso.Outcome
}

// payload is the input of all events together.
type payload struct {
	Conversation string     `json:"conversation_id"`
	Event        Event      `json:"hook_event_name"`
	Roots        []string   `json:"workspace_roots"`
	Cwd          string     `json:"cwd"`
	Tool         string     `json:"tool_name"`
	Input        sayso.Args `json:"tool_input"`
	ToolUseID    string     `json:"tool_use_id"`
	Output       sayso.Args `json:"tool_output"`
	Error        string     `json:"error_message"`
	Interrupt    bool       `json:"is_interrupt"`
	Duration     float64    `json:"duration"` // in milliseconds
}

// members are the names that payload reads, to find others that differ from
// them in case alone.
var members = []string{
	"conversation_id", "hook_event_name", "workspace_roots", "cwd", "tool_name", "tool_input", "tool_use_id",
}

// Parse reads the input of a hook. Duplicate names at any depth, names that
// differ from a known one in case alone, an event that the gate is not installed
// for, and arguments that are no object are errors; on PreToolUse an error is a
// denial.
func Parse(text []byte) (Hook, error) {
	var p payload
	if err := agent.Read(text, members, &p); err != nil {
		return Hook{}, err
	}
	h := Hook{Event: p.Event, Session: p.Conversation}
	if h.Session == "" {
		return h, fmt.Errorf("%w: hook input: conversation_id is missing", sayso.ErrInvalid)
	}
	switch p.Event {
	case PreToolUse:
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
	if p.Tool == "" || p.ToolUseID == "" {
		return fmt.Errorf("%w: hook input: tool_name or tool_use_id is missing", sayso.ErrInvalid)
	}
	h.Call = sayso.Call{
		Host: Host, Tool: p.Tool, Cwd: p.Cwd, Session: p.Conversation, CallID: p.ToolUseID, Caller: Host + "/main",
	}
	if len(p.Roots) == 1 {
		h.Workspace = p.Roots[0]
	}
	if p.Cwd == "" {
		h.Call.Cwd = h.Workspace
	}
	var err error
	if h.Said, err = agent.Fill(&h.Call, "tool_input", p.Input, append(redundant(p.Input, h.Call.Cwd), said[p.Tool]...)); err != nil {
		return err
	}
	return h.Call.Validate()
}

// redundant names the argument that says again in which directory the call is
// made. One that names another directory stays, and is asked about.
func redundant(args []byte, cwd string) []string {
	var in struct {
		Dir string `json:"working_directory"`
	}
	if err := jcs.UnmarshalLenient(args, &in); err != nil || in.Dir == "" || in.Dir != cwd {
		return nil
	}
	return []string{"working_directory"}
}

// after reads how a call ended. Of its result only a digest is kept.
func (h *Hook) after(p *payload) {
	h.Outcome = sayso.Outcome{
		Session: p.Conversation, CallID: p.ToolUseID, Failed: p.Event == PostToolUseFailure, Interrupt: p.Interrupt,
		Took: time.Duration(p.Duration * float64(time.Millisecond)), Output: agent.Output([]byte(p.Error + strings.TrimSpace(string(p.Output)))),
	}
}
