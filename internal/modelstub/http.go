package modelstub

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/sse"
)

// maxBody is larger than any request an agent's first turns make.
const maxBody = 64 << 20

// ServeHTTP answers a request for a message, of Anthropic's API, of Gemini's or
// of OpenAI's Responses API, from the script, streaming or not, as the request
// says; counts tokens as one; and answers anything else an agent asks for with an
// empty object, which agents take as "nothing known".
func (s *Stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/v1/messages"):
		s.message(w, r)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses"):
		s.responses(w, r)
	case r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/models/") && strings.Contains(r.URL.Path, ":"):
		s.gemini(w, r)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/v1/messages/count_tokens"):
		reply(w, map[string]any{"input_tokens": 1})
	default:
		reply(w, map[string]any{})
	}
}

func (s *Stub) message(w http.ResponseWriter, r *http.Request) {
	var req request
	body, ok := read(w, r, &req)
	if !ok {
		return
	}
	turn, n := s.next(asked{model: req.Model, side: req.side(), results: req.results()}, body)
	msg := newMessage(fmt.Sprintf("msg_%04d", n), req.Model, turn)
	if req.Stream {
		stream(w, msg)
		return
	}
	reply(w, msg)
}

// read reads a request into v, and answers one that cannot be read.
func read(w http.ResponseWriter, r *http.Request, v any) (body []byte, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = jcs.UnmarshalLenient(body, v)
	}
	if err != nil {
		refuse(w, "cannot read the request: "+err.Error())
	}
	return body, err == nil
}

func reply(w http.ResponseWriter, v any) {
	b, err := jcs.Marshal(v)
	if err != nil { // the script holds arguments that are not JSON
		refuse(w, "cannot write the turn: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // if the agent has gone, there is nobody to tell
}

// refuse answers in the shape the API gives errors. The status is one that
// agents do not retry.
func refuse(w http.ResponseWriter, text string) {
	b, err := jcs.Marshal(map[string]any{
		"type":  "error",
		"error": map[string]any{"type": "invalid_request_error", "message": text},
	})
	if err != nil {
		b = nil // a text that is not UTF-8; the status says enough
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(b)
}

// stream writes m as the API's server-sent events, each block in one delta.
// Arguments travel as a string there, so that a script may also hold ones that
// are cut short.
func stream(w http.ResponseWriter, m message) {
	w.Header().Set("Content-Type", "text/event-stream")
	events := sse.NewWriter(w, http.NewResponseController(w).Flush)
	send := func(event string, data map[string]any) {
		data["type"] = event
		if b, err := jcs.Marshal(data); err == nil {
			_ = events.Event("", event, b) // if the agent has gone, there is nobody to tell
		}
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
}
