package modelstub

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/sse"
)

// responsesRequest is what the stub reads of a request of the Responses API.
type responsesRequest struct {
	Model string `json:"model"`
	Input []struct {
		Type   string         `json:"type"`
		CallID string         `json:"call_id"`
		Output jsontext.Value `json:"output"`
	} `json:"input"`
}

// asked is the request in the stub's words. Whether a call failed is in the text
// of its output alone.
func (r responsesRequest) asked() asked {
	a := asked{model: r.Model}
	for _, i := range r.Input {
		if i.CallID != "" && (i.Type == "function_call_output" || i.Type == "custom_tool_call_output") {
			a.results = append(a.results, ToolResult{ID: i.CallID, Content: outputText(i.Output)})
		}
	}
	return a
}

// outputText is the text of an output, which is a string or a list of parts.
func outputText(output jsontext.Value) string {
	if output.Kind() != '[' {
		return text(output)
	}
	var lines []string
	for _, p := range parts(output) {
		if p.Type == "input_text" {
			lines = append(lines, p.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// responses answers a request of the Responses API: POST …/responses, which is
// always streamed.
func (s *Stub) responses(w http.ResponseWriter, r *http.Request) {
	var req responsesRequest
	body, ok := read(w, r, &req)
	if !ok {
		return
	}
	turn, n := s.next(req.asked(), body)
	id := fmt.Sprintf("resp_%04d", n)
	w.Header().Set("Content-Type", "text/event-stream")
	events := sse.NewWriter(w, http.NewResponseController(w).Flush)
	send := func(event string, data map[string]any) {
		data["type"] = event
		if b, err := jcs.Marshal(data); err == nil {
			_ = events.Event("", event, b) // if the agent has gone, there is nobody to tell
		}
	}
	send("response.created", map[string]any{"response": map[string]any{"id": id}})
	for _, item := range turn.items() {
		send("response.output_item.done", map[string]any{"item": item})
	}
	usage := map[string]any{"input_tokens": 1, "input_tokens_details": nil, "output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2}
	send("response.completed", map[string]any{"response": map[string]any{"id": id, "usage": usage}})
}

// items are the turn as the API's output. A call whose input is no JSON object
// is one of a tool that takes text, and a name with a slash is that of a tool in
// a namespace.
func (t Turn) items() []map[string]any {
	if len(t.calls) == 0 {
		said := []any{map[string]any{"type": "output_text", "text": t.text}}
		return []map[string]any{{"type": "message", "role": "assistant", "id": "msg", "content": said}}
	}
	var items []map[string]any
	for _, c := range t.calls {
		item := map[string]any{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": c.Input}
		if space, name, ok := strings.Cut(c.Name, "/"); ok {
			item["namespace"], item["name"] = space, name
		}
		if _, err := jcs.Object([]byte(c.Input)); err != nil {
			item["type"], item["input"] = "custom_tool_call", c.Input
			delete(item, "arguments")
		}
		items = append(items, item)
	}
	return items
}
