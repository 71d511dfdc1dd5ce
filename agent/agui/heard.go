package agui

import (
	"fmt"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Host is the name of the protocol in calls, in the place of a host's. The names of
// tools are the agent's own.
const Host = "ag-ui"

// Heard is what an agent proposed on one thread. It is for one reader. The zero Heard
// is ready.
type Heard struct {
	calls map[string]*proposed
}

// proposed is a call as its events tell it.
type proposed struct {
	tool string
	args []byte
	over bool // all of it was told
	bad  bool // too much was, or it was told twice
}

// Hear takes down one event. One that is not about a call is passed over.
func (h *Heard) Hear(event []byte) error {
	var e struct {
		Type  string `json:"type"`
		ID    string `json:"toolCallId"`
		Name  string `json:"toolCallName"`
		Delta string `json:"delta"`
	}
	if err := jcs.UnmarshalLenient(event, &e); err != nil {
		return fmt.Errorf("%w: event: %w", sayso.ErrInvalid, err)
	}
	c := h.calls[e.ID]
	switch e.Type {
	case "TOOL_CALL_START":
		h.start(e.ID, e.Name)
	case "TOOL_CALL_ARGS":
		if c != nil {
			c.bad = c.bad || c.over || len(c.args)+len(e.Delta) > sayso.MaxCall
			if !c.bad {
				c.args = append(c.args, e.Delta...)
			}
		}
	case "TOOL_CALL_END":
		if c != nil {
			c.over = true
		}
	case "TOOL_CALL_RESULT":
		delete(h.calls, e.ID)
	}
	return nil
}

// start takes down that a call begins. One that began before could be two calls.
func (h *Heard) start(id, name string) {
	if h.calls == nil {
		h.calls = map[string]*proposed{}
	}
	h.calls[id] = &proposed{tool: name, bad: h.calls[id] != nil}
}

// Place is where calls are made.
type Place struct {
	Thread string // as the agent calls it
	Agent  string // the name of the agent
	Cwd    string // empty if the calls work in no folder
}

// Admission is what the gate is asked about an interrupt: the call that it waits with,
// as it was proposed. It waits for people as long as the interrupt is good for. An
// interrupt that is over, that takes no yes or no, or whose call was not heard to its
// end, is an error, and is answered by [Resume] with that.
func (h *Heard) Admission(i Interrupt, at Place, now time.Time) (sayso.Admission, error) {
	var a sayso.Admission
	edits, takes := i.takes()
	if !takes {
		return a, fmt.Errorf("%w: interrupt %q takes no yes or no", sayso.ErrInvalid, i.Reason)
	}
	if i.ExpiresAt != nil {
		if a.Patience = i.ExpiresAt.Sub(now); a.Patience <= 0 {
			return sayso.Admission{}, fmt.Errorf("the interrupt: %w", sayso.ErrExpired)
		}
	}
	c := h.calls[i.ToolCallID]
	if i.ToolCallID == "" || c == nil || c.bad || !c.over {
		return sayso.Admission{}, fmt.Errorf("%w: the call that the interrupt is about was not heard to its end", sayso.ErrInvalid)
	}
	args := sayso.Args(c.args)
	if len(args) == 0 {
		args = sayso.Args("{}")
	}
	a.Call = sayso.Call{
		Tool: c.tool, Host: Host, Args: args, Cwd: at.Cwd, Session: "agui-" + at.Thread, CallID: i.ToolCallID, Caller: Host + "/" + at.Agent,
	}
	if i.Message != "" {
		a.Call.Said = map[string]string{"message": i.Message}
	}
	if _, err := a.Call.Digest(); err != nil {
		return sayso.Admission{}, err
	}
	a.CanEdit, a.Immediate = edits, true
	return a, a.Call.Validate()
}
