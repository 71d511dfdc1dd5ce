package modelstub

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/sse"
)

// geminiRequest is what the stub reads of a request of the Gemini API.
type geminiRequest struct {
	Contents []struct {
		Parts []struct {
			Response *struct {
				ID       string         `json:"id"`
				Name     string         `json:"name"`
				Response jsontext.Value `json:"response"`
			} `json:"functionResponse"`
		} `json:"parts"`
	} `json:"contents"`
	Tools []struct {
		Declarations []struct {
			Name string `json:"name"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

// asked is the request in the stub's words.
func (r geminiRequest) asked(model string) asked {
	a := asked{model: model, side: true}
	for _, t := range r.Tools {
		a.side = a.side && len(t.Declarations) == 0
	}
	for _, c := range r.Contents {
		for _, p := range c.Parts {
			if p.Response != nil {
				a.results = append(a.results, geminiResult(p.Response.ID, p.Response.Response))
			}
		}
	}
	return a
}

// geminiResult reads what a function returned: its output or its error.
func geminiResult(id string, response jsontext.Value) ToolResult {
	var r struct {
		Output *string `json:"output"`
		Error  *string `json:"error"`
	}
	res := ToolResult{ID: id, Content: string(response)}
	switch err := jcs.UnmarshalLenient(response, &r); {
	case err != nil:
	case r.Error != nil:
		res.Content, res.IsError = *r.Error, true
	case r.Output != nil:
		res.Content = *r.Output
	}
	return res
}

// gemini answers a request of the Gemini API: POST …/models/MODEL:METHOD.
func (s *Stub) gemini(w http.ResponseWriter, r *http.Request) {
	model, method, _ := strings.Cut(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], ":")
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, "cannot read the request: "+err.Error())
		return
	}
	if method == "countTokens" {
		reply(w, map[string]any{"totalTokens": 1})
		return
	}
	var req geminiRequest
	if err := jcs.UnmarshalLenient(body, &req); err != nil {
		refuse(w, "cannot read the request: "+err.Error())
		return
	}
	turn, n := s.next(req.asked(model), body)
	said := geminiResponse(fmt.Sprintf("msg_%04d", n), model, turn)
	if method != "streamGenerateContent" {
		reply(w, said)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if b, err := jcs.Marshal(said); err == nil {
		_ = sse.NewWriter(w, http.NewResponseController(w).Flush).Event("", "", b) // if the agent has gone, there is nobody to tell
	}
}

// geminiResponse is a turn as the API writes it, in one piece.
func geminiResponse(id, model string, t Turn) map[string]any {
	var parts []any
	for _, c := range t.calls {
		parts = append(parts, map[string]any{"functionCall": map[string]any{"id": c.ID, "name": c.Name, "args": jsontext.Value(c.Input)}})
	}
	if len(t.calls) == 0 {
		parts = []any{map[string]any{"text": t.text}}
	}
	return map[string]any{
		"responseId": id, "modelVersion": model,
		"candidates": []any{map[string]any{
			"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": parts},
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
}
