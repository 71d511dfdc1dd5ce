package modelstub

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// request is what the stub reads of a request for a message. The rest of the
// API's members are the model's business.
type request struct {
	Model    string  `json:"model"`
	Stream   bool    `json:"stream"`
	Tools    []tool  `json:"tools"`
	Messages []entry `json:"messages"`
}

type tool struct {
	Name   string         `json:"name"`
	Schema jsontext.Value `json:"input_schema"`
}

type entry struct {
	Role    string         `json:"role"`
	Content jsontext.Value `json:"content"`
}

// part is one block of an entry's content.
type part struct {
	Type    string         `json:"type"`
	Text    string         `json:"text"`
	ToolID  string         `json:"tool_use_id"`
	Content jsontext.Value `json:"content"`
	IsError bool           `json:"is_error"`
}

// side reports whether r is a request the agent makes beside the conversation:
// it offers the model no tool that the agent itself would run.
func (r request) side() bool {
	for _, t := range r.Tools {
		if len(t.Schema) > 0 {
			return false
		}
	}
	return true
}

// results returns the tool results in all messages of r, in order.
func (r request) results() []ToolResult {
	var out []ToolResult
	for _, m := range r.Messages {
		for _, p := range parts(m.Content) {
			if p.Type == "tool_result" {
				out = append(out, ToolResult{ID: p.ToolID, Content: text(p.Content), IsError: p.IsError})
			}
		}
	}
	return out
}

// parts reads content that is a list of blocks; a plain string has none.
func parts(content jsontext.Value) []part {
	if content.Kind() != '[' {
		return nil
	}
	var ps []part
	if err := jcs.UnmarshalLenient(content, &ps); err != nil {
		return nil
	}
	return ps
}

// text returns the text of content, which is a string or a list of blocks.
func text(content jsontext.Value) string {
	if content.Kind() == '"' {
		var s string
		_ = jcs.UnmarshalLenient(content, &s) // its kind says that it is a string
		return s
	}
	var lines []string
	for _, p := range parts(content) {
		if p.Type == "text" {
			lines = append(lines, p.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// message is the API's reply.
type message struct {
	ID         string         `json:"id"`
	Type       string         `json:"type"`
	Role       string         `json:"role"`
	Model      string         `json:"model"`
	Content    []block        `json:"content"`
	StopReason *string        `json:"stop_reason"`
	StopSeq    *string        `json:"stop_sequence"`
	Usage      map[string]int `json:"usage"`
}

// block is text or a tool use.
type block struct {
	Type  string         `json:"type"`
	Text  *string        `json:"text,omitzero"`
	ID    string         `json:"id,omitzero"`
	Name  string         `json:"name,omitzero"`
	Input jsontext.Value `json:"input,omitzero"`
}

func newMessage(id, model string, t Turn) message {
	reason := "end_turn"
	m := message{ID: id, Type: "message", Role: "assistant", Model: model,
		Usage: map[string]int{"input_tokens": 1, "output_tokens": 1}}
	for _, c := range t.calls {
		reason = "tool_use"
		m.Content = append(m.Content, block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: jsontext.Value(c.Input)})
	}
	if len(t.calls) == 0 {
		m.Content = []block{{Type: "text", Text: &t.text}}
	}
	m.StopReason = &reason
	return m
}

// opening is the block as a stream announces it, without its content.
func (b block) opening() block {
	if b.Type == "text" {
		empty := ""
		b.Text = &empty
		return b
	}
	b.Input = jsontext.Value("{}")
	return b
}

// delta is the block's whole content as one piece of a stream.
func (b block) delta() map[string]any {
	if b.Type == "text" {
		return map[string]any{"type": "text_delta", "text": *b.Text}
	}
	return map[string]any{"type": "input_json_delta", "partial_json": string(b.Input)}
}
