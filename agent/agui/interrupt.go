package agui

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Channel is that of people who answer through an application. A program can answer
// there as well as a person.
const Channel = "ag-ui"

// Interrupt is what a run waits for.
type Interrupt struct {
	ID             string         `json:"id"`
	Reason         string         `json:"reason"`
	Message        string         `json:"message,omitempty"`
	ToolCallID     string         `json:"toolCallId,omitempty"`
	ResponseSchema sayso.Args     `json:"responseSchema,omitzero"`
	ExpiresAt      *time.Time     `json:"expiresAt,omitempty"`
	Metadata       map[string]any `json:"metadata,omitempty"`
}

// The reasons for which a yes or a no is wanted.
const (
	reasonToolCall     = "tool_call"
	reasonConfirmation = "confirmation"
)

// The schemas of answers: to a call whose arguments may be edited, and to others.
const (
	schemaEdit = `{"type":"object","properties":{"approved":{"type":"boolean"},"editedArgs":{"type":"object","description":"Full replacement of the arguments."},` +
		`"note":{"type":"string"}},"required":["approved"],"additionalProperties":false}`
	schemaPlain = `{"type":"object","properties":{"approved":{"type":"boolean"},"note":{"type":"string"}},"required":["approved"],"additionalProperties":false}`
)

// Of is the interrupt of a request that waits for people. It shows what a person may
// see of it, and names what exactly an answer is about.
func Of(r sayso.Request) Interrupt {
	i := Interrupt{
		ID: string(r.ID), Reason: reasonConfirmation, ToolCallID: r.CallID, ExpiresAt: r.Deadline, ResponseSchema: sayso.Args(schemaPlain),
		Metadata: map[string]any{"sayso": map[string]any{
			"ticket": r.ShortID, "tool": r.Tool, "server": r.Server, "kind": r.Kind, "risk": r.Risk, "danger": r.Danger, "cwd": r.Cwd, "rule": r.Rule,
			"preview": r.Preview, "redactions": r.Redactions, "warnings": r.Warnings, "digest": r.Digest, "content": r.Content,
		}},
	}
	if r.CallID != "" {
		i.Reason = reasonToolCall
	}
	if r.CanEdit {
		i.ResponseSchema = sayso.Args(schemaEdit)
	}
	what := r.Tool
	if r.Server != "" {
		what = r.Server + " " + r.Tool
	}
	i.Message = fmt.Sprintf("May %s run? (ticket %s)", what, r.ShortID)
	if r.Description != "" {
		i.Message = fmt.Sprintf("%s? (%s, ticket %s)", r.Description, what, r.ShortID)
	}
	return i
}

// finished is the event with which a run ends.
type finished struct {
	Type     string  `json:"type"`
	ThreadID string  `json:"threadId"`
	RunID    string  `json:"runId"`
	Outcome  outcome `json:"outcome"`
}

type outcome struct {
	Type       string      `json:"type"`
	Interrupts []Interrupt `json:"interrupts"`
}

// Finished is the event with which a run ends that waits for answers. Before it the
// server sends the snapshots of its state and its messages.
func Finished(threadID, runID string, waits []Interrupt) ([]byte, error) {
	if len(waits) == 0 {
		return nil, fmt.Errorf("%w: a run that is interrupted waits for something", sayso.ErrInvalid)
	}
	return jcs.Marshal(finished{"RUN_FINISHED", threadID, runID, outcome{"interrupt", waits}})
}

// Failed is the event with which a run ends whose input cannot be taken.
func Failed(err error) []byte {
	event := func(message string) ([]byte, error) {
		return jcs.Marshal(struct {
			Type    string `json:"type"`
			Message string `json:"message"`
			Code    string `json:"code"`
		}{"RUN_ERROR", message, code(err)})
	}
	text, bad := event(err.Error())
	if bad != nil { // the error quotes what is no text
		text, _ = event("the answers cannot be taken")
	}
	return text
}

// ReadFinished reads the interrupts of a RUN_FINISHED event: none of a run that ended
// otherwise.
func ReadFinished(event []byte) ([]Interrupt, error) {
	var e struct {
		Type    string `json:"type"`
		Outcome *struct {
			Type       string           `json:"type"`
			Interrupts []jsontext.Value `json:"interrupts"`
		} `json:"outcome"`
	}
	if err := jcs.UnmarshalLenient(event, &e); err != nil {
		return nil, fmt.Errorf("%w: RUN_FINISHED: %w", sayso.ErrInvalid, err)
	}
	if e.Type != "RUN_FINISHED" || e.Outcome == nil || e.Outcome.Type != "interrupt" {
		return nil, nil
	}
	if len(e.Outcome.Interrupts) == 0 {
		return nil, fmt.Errorf("%w: RUN_FINISHED: an interrupt that waits for nothing", sayso.ErrInvalid)
	}
	all := make([]Interrupt, len(e.Outcome.Interrupts))
	ids := map[string]bool{}
	for n, text := range e.Outcome.Interrupts {
		if err := jcs.UnmarshalLenient(text, &all[n]); err != nil {
			return nil, fmt.Errorf("%w: interrupt: %w", sayso.ErrInvalid, err)
		}
		if all[n].ID == "" || ids[all[n].ID] {
			return nil, fmt.Errorf("%w: interrupt: an id is missing, or comes twice", sayso.ErrInvalid)
		}
		ids[all[n].ID] = true
	}
	return all, nil
}
