package modelstub

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxBody is larger than any request an agent's first turns make.
const maxBody = 64 << 20

// ServeHTTP answers POST /v1/messages from the script, streaming or not, as
// the request says; counts tokens as one; and answers anything else an agent
// asks for with an empty object, which agents take as "nothing known".
func (s *Stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/v1/messages"):
		s.message(w, r)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/v1/messages/count_tokens"):
		reply(w, map[string]any{"input_tokens": 1})
	default:
		reply(w, map[string]any{})
	}
}

func (s *Stub) message(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, "cannot read the request: "+err.Error())
		return
	}
	var req request
	if err := json.Unmarshal(body, &req, jsontext.AllowDuplicateNames(true)); err != nil {
		refuse(w, "cannot read the request: "+err.Error())
		return
	}
	turn, n := s.next(req, body)
	msg := newMessage(fmt.Sprintf("msg_%04d", n), req.Model, turn)
	if req.Stream {
		stream(w, msg)
		return
	}
	reply(w, msg)
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.MarshalWrite(w, v, json.Deterministic(true)) // the agent has gone; nobody to tell
}

// refuse answers in the shape the API gives errors. The status is one that
// agents do not retry.
func refuse(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.MarshalWrite(w, map[string]any{
		"type":  "error",
		"error": map[string]any{"type": "invalid_request_error", "message": text},
	}, json.Deterministic(true))
}

// stream writes msg as the API's server-sent events, each block in one delta.
func stream(w http.ResponseWriter, m message) {
	w.Header().Set("Content-Type", "text/event-stream")
	var out bytes.Buffer
	send := func(event string, data map[string]any) {
		data["type"] = event
		b, err := json.Marshal(data, json.Deterministic(true))
		if err != nil {
			return // a script's input that is not JSON; the agent sees a stream without it
		}
		fmt.Fprintf(&out, "event: %s\ndata: %s\n\n", event, b)
	}
	start := m
	start.Content, start.StopReason = []block{}, nil
	send("message_start", map[string]any{"message": start})
	for i, b := range m.Content {
		send("content_block_start", map[string]any{"index": i, "content_block": b.opening()})
		send("content_block_delta", map[string]any{"index": i, "delta": b.delta()})
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": m.StopReason, "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": 1},
	})
	send("message_stop", map[string]any{})
	_, _ = w.Write(out.Bytes())
}
