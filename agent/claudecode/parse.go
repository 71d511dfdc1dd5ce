package claudecode

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Event names a hook event.
type Event string

// The events that the gate is installed for.
const (
	PreToolUse         Event = "PreToolUse"
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
	Said map[string]sayso.Args
	// OwnScreen says that the tool is itself a question to the person at the
	// host: no opinion is the right answer.
	OwnScreen bool
	// Outcome tells how a call ended; of PostToolUse and PostToolUseFailure.
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
	MCP       *struct {
		Name   string `json:"name"`
		Source string `json:"source"`
	} `json:"mcp_server"`
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
	if err := refuseLookalikes(text); err != nil {
		return Hook{}, err
	}
	var p payload
	if err := jcs.UnmarshalLenient(text, &p); err != nil {
		return Hook{}, fmt.Errorf("%w: hook input: %w", sayso.ErrInvalid, err)
	}
	h := Hook{Event: p.Event, Session: p.SessionID, Cwd: p.Cwd, Mode: p.Mode}
	if h.Session == "" {
		return h, fmt.Errorf("%w: hook input: session_id is missing", sayso.ErrInvalid)
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

// refuseLookalikes refuses a member that another reader could take for one of
// ours.
func refuseLookalikes(text []byte) error {
	var names map[string]sayso.Args
	if err := jcs.Unmarshal(text, &names); err != nil {
		return fmt.Errorf("%w: hook input: %w", sayso.ErrInvalid, err)
	}
	for name := range names {
		for _, known := range members {
			if name != known && strings.EqualFold(name, known) {
				return fmt.Errorf("%w: hook input: a member differs from %s in case alone", sayso.ErrInvalid, known)
			}
		}
	}
	return nil
}

// before reads the call that is about to be made.
func (h *Hook) before(p *payload) error {
	if p.Tool == "" || p.ToolUseID == "" {
		return fmt.Errorf("%w: hook input: tool_name or tool_use_id is missing", sayso.ErrInvalid)
	}
	if _, err := jcs.Object(p.Input); err != nil {
		return fmt.Errorf("%w: hook input: tool_input: %w", sayso.ErrInvalid, err)
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
	if err := h.split(p.Input); err != nil {
		return err
	}
	return h.Call.Validate()
}

// split takes the model's words about the call out of its arguments. The
// arguments keep the order and the spelling that they came in.
func (h *Hook) split(input sayso.Args) error {
	words := said[h.Call.Tool]
	if len(words) == 0 || h.Call.Server != "" {
		h.Call.Args = input
		return nil
	}
	args, err := without(input, words, func(name string, value sayso.Args) {
		if h.Said == nil {
			h.Said, h.Call.Said = map[string]sayso.Args{}, map[string]string{}
		}
		h.Said[name] = value
		var text string
		if err := jcs.Unmarshal(value, &text); err != nil {
			text = string(value) // no string: shown as the JSON that it is
		}
		h.Call.Said[name] = text
	})
	h.Call.Args = args
	return err
}

// without returns a JSON object without some of its members, which it hands to
// taken.
func without(object sayso.Args, names []string, taken func(string, sayso.Args)) (sayso.Args, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := dec.ReadToken(); err != nil {
		return nil, fmt.Errorf("%w: tool_input: %w", sayso.ErrInvalid, err)
	}
	out := []byte{'{'}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("%w: tool_input: %w", sayso.ErrInvalid, err)
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, fmt.Errorf("%w: tool_input: %w", sayso.ErrInvalid, err)
		}
		if slices.Contains(names, key) {
			taken(key, sayso.Args(bytes.Clone(value)))
			continue
		}
		if out, err = appendMember(out, key, value); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendMember(out []byte, key string, value []byte) ([]byte, error) {
	if len(out) > 1 {
		out = append(out, ',')
	}
	out, err := jsontext.AppendQuote(out, key)
	if err != nil {
		return nil, fmt.Errorf("%w: tool_input: %w", sayso.ErrInvalid, err)
	}
	return append(append(out, ':'), value...), nil
}

// after reads how a call ended. Of its result only a digest is kept.
func (h *Hook) after(p *payload) {
	h.Outcome = sayso.Outcome{
		Session: p.SessionID, CallID: p.ToolUseID, Failed: p.Event == PostToolUseFailure, Interrupt: p.Interrupt,
		Took: time.Duration(p.Duration * float64(time.Millisecond)),
	}
	switch {
	case p.Error != "":
		h.Outcome.Output = sayso.HashOf("sayso/output/1", []byte(p.Error))
	case len(p.Response) > 0:
		h.Outcome.Output = sayso.HashOf("sayso/output/1", p.Response)
	}
	h.Call = sayso.Call{Host: Host, Tool: p.Tool, Cwd: p.Cwd, Session: p.SessionID, CallID: p.ToolUseID}
	if p.MCP != nil {
		h.Call.Server = p.MCP.Name
	}
	if known := h.Call.Known(); known.Args == nil && known.Kind != sayso.KindMCP {
		return // the host changes the input of some tools on the way; those of the table it does not
	}
	if _, err := jcs.Object(p.Input); err != nil || h.split(p.Input) != nil {
		return
	}
	h.Outcome.Args = h.Call.Args
}
