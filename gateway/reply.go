package gateway

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// The codes of JSON-RPC errors.
const (
	codeRefused   = -1 // as the protocol has it for sampling that a person refused
	codeNotJSON   = -32700
	codeNoRequest = -32600
	codeNoParams  = -32602
	codeInternal  = -32603
)

// failure is an answer that is an error of the protocol.
func failure(id jsontext.Value, code int, text string) []byte {
	if id == nil {
		id = jsontext.Value("null")
	}
	return write(struct {
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

// words is one text of a result.
type words struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// toolError is the result of a tool that did not run, for the model to read.
type toolError struct {
	Type    string  `json:"resultType,omitempty"`
	Content []words `json:"content"`
	IsError bool    `json:"isError"`
}

// refusal is the answer to a call that does not run.
func refusal(c *called, text string) []byte {
	r := toolError{Content: []words{{"text", text}}, IsError: true}
	if c.meta.current {
		r.Type = "complete"
	}
	return write(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Result  toolError      `json:"result"`
	}{"2.0", c.id, r})
}

// progress tells a client that its call waits.
func progress(token jsontext.Value, n int, text string) []byte {
	type params struct {
		Token    jsontext.Value `json:"progressToken"`
		Progress float64        `json:"progress"`
		Message  string         `json:"message"`
	}
	return write(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  params `json:"params"`
	}{"2.0", "notifications/progress", params{token, float64(n) / 1e6, text}}) // small, so that those of the server go on rising
}

// write encodes a message of ours. What was read strictly can be written.
func write(v any) []byte {
	text, err := jcs.Marshal(v)
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the answer cannot be written"}}`)
	}
	return text
}
