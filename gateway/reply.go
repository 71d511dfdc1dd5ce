package gateway

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// The codes of JSON-RPC errors.
const (
	codeRefused        = -1 // as the protocol has it for sampling that a person refused
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeInvalidParams  = -32602
	codeInternal       = -32603
)

// errorResponse is an answer that is an error of the protocol.
func errorResponse(id jsontext.Value, code int, text string) []byte {
	if id == nil {
		id = jsontext.Value("null")
	}
	return encode(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Error   struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}{"2.0", id, struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{code, text}})
}

// textContent is one text of a result.
type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// toolResult is the result of a tool that did not run, for the model to read.
type toolResult struct {
	Type    string        `json:"resultType,omitempty"`
	Content []textContent `json:"content"`
	IsError bool          `json:"isError"`
}

// refusalResult is the result of a call that does not run, for a client of 2026-07-28.
func refusalResult(text string) jsontext.Value {
	return encode(toolResult{Type: "complete", Content: []textContent{{"text", text}}, IsError: true})
}

// refusal is the answer to a call that does not run.
func refusal(c *toolCall, text string) []byte {
	r := toolResult{Content: []textContent{{"text", text}}, IsError: true}
	if c.meta.current {
		r.Type = "complete"
	}
	return encode(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Result  toolResult     `json:"result"`
	}{"2.0", c.id, r})
}

// progress tells a client that its call waits.
func progress(token jsontext.Value, n int, text string) []byte {
	type params struct {
		Token    jsontext.Value `json:"progressToken"`
		Progress float64        `json:"progress"`
		Message  string         `json:"message"`
	}
	return encode(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  params `json:"params"`
	}{"2.0", "notifications/progress", params{token, float64(n) / 1e6, text}}) // small, so that those of the server go on rising
}

// encode encodes a message of ours. What was read strictly can be written.
func encode(v any) []byte {
	text, err := jcs.Marshal(v)
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the answer cannot be written"}}`)
	}
	return text
}

// codeMissingCapability says that the client did not declare what an answer takes.
const codeMissingCapability = -32021

// errorObject is an error of the protocol, as a member of something else.
func errorObject(code int, text string) jsontext.Value {
	return encode(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{code, text})
}

// missingExtension is the answer to a client that did not declare an extension.
func missingExtension(id jsontext.Value, extension string) []byte {
	type none struct{}
	type capabilities struct {
		Extensions map[string]none `json:"extensions"`
	}
	type data struct {
		Required capabilities `json:"requiredCapabilities"`
	}
	type problem struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    data   `json:"data"`
	}
	return encode(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Error   problem        `json:"error"`
	}{"2.0", id, problem{codeMissingCapability, "This takes a client that declares " + extension + " with the request.", data{capabilities{map[string]none{extension: {}}}}}})
}

// emptyResponse is the answer to a request of which there is nothing to say.
func emptyResponse(id jsontext.Value) []byte {
	return resultResponse(id, jsontext.Value(`{"resultType":"complete"}`))
}

// resultResponse is the answer to a request.
func resultResponse(id, result jsontext.Value) []byte {
	return encode(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Result  jsontext.Value `json:"result"`
	}{"2.0", id, result})
}

// result is the answer that says how a task stands. The relay's mutex is held.
func (t *task) result(id jsontext.Value, kind string) []byte {
	out := struct {
		Type     string         `json:"resultType"`
		ID       string         `json:"taskId"`
		Status   taskStatus     `json:"status"`
		Message  string         `json:"statusMessage,omitempty"`
		Created  string         `json:"createdAt"`
		Changed  string         `json:"lastUpdatedAt"`
		TTL      *int64         `json:"ttlMs"`
		Poll     int64          `json:"pollIntervalMs"`
		Result   jsontext.Value `json:"result,omitempty"`
		Error    jsontext.Value `json:"error,omitempty"`
		Requests jsontext.Value `json:"inputRequests,omitempty"`
	}{
		Type: kind, ID: string(t.id), Status: t.status, Message: t.message,
		Created: timestamp(t.id.Time()), Changed: timestamp(t.changed), Poll: pollInterval(time.Since(t.changed)).Milliseconds(),
	}
	if !t.until.IsZero() {
		out.TTL = new(t.until.Add(keepTasks).Sub(t.id.Time()).Milliseconds())
	}
	switch t.status {
	case completed:
		out.Result = t.outcome
	case taskFailed:
		out.Error = t.outcome
	case inputRequired:
		out.Requests = t.outcome
	}
	return resultResponse(id, encode(out))
}

func timestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
