package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
	"github.com/sayso-dev/sayso/tool"
)

// model answers each request with the next output, and keeps what it was sent.
type model struct {
	outputs []string
	got     []string
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.got = append(m.got, string(body))
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"resp_%d","object":"response","status":"completed","model":"m","output":%s}`, len(m.got), m.outputs[0])
	m.outputs = m.outputs[1:]
}

func TestAgent(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("buy milk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &model{outputs: []string{
		`[{"type":"function_call","id":"fc_1","call_id":"call_1","name":"write_file","arguments":"{\"path\":\"notes.txt\",\"content\":\"buy bread\\n\"}","status":"completed"},
		  {"type":"function_call","id":"fc_2","call_id":"call_2","name":"delete_file","arguments":"{\"path\":\"notes.txt\"}","status":"completed"},
		  {"type":"mcp_approval_request","id":"mcpr_1","server_label":"shop","name":"order","arguments":"{\"item\":\"bread\"}"},
		  {"type":"mcp_approval_request","id":"mcpr_2","server_label":"shop","name":"order","arguments":"{\"item\":\"a yacht\"}"},
		  {"type":"mcp_approval_request","id":"mcpr_3","server_label":"shop","name":"order","arguments":"{\"item\":\"eggs\"}"}]`,
		`[{"type":"mcp_call","id":"mcp_1","approval_request_id":"mcpr_1","server_label":"shop","name":"order","arguments":"{\"item\":\"bread\"}","output":"ordered"},
		  {"type":"mcp_call","id":"mcp_3","approval_request_id":"mcpr_3","server_label":"shop","name":"order","arguments":"{\"item\":\"caviar\"}","output":"ordered"},
		  {"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"done","annotations":[]}]}]`,
	}}
	srv := httptest.NewServer(m)
	defer srv.Close()
	files, err := tool.OpenFiles(dir, sayso.PathRules{})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	b := saysotest.New(t)
	b.Approve("file-write:notes.txt")
	b.Deny("file-delete", "keep it")
	b.Approve(`shop/order:*`)
	b.Deny(`shop/order:*yacht*`, "no")
	a := newAgent(openai.NewClient(option.WithBaseURL(srv.URL), option.WithAPIKey("none")), b.Gate(), files)
	a.servers = []responses.ToolUnionParam{server("shop", "https://shop.example.org/mcp")}
	text, err := a.run(t.Context(), "go")
	if text != "done" || err != nil {
		t.Fatalf("got %q, %v", text, err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "notes.txt")); string(got) != "buy bread\n" {
		t.Errorf("the notes hold %q", got)
	}
	answers := answersIn(t, m.got[1])
	for id, want := range map[string]string{
		"call_1": "10 bytes are in notes.txt", "call_2": "Denied by person", "mcpr_1": "true ", "mcpr_2": "false Denied by person", "mcpr_3": "true ",
	} {
		if !strings.HasPrefix(answers[id], want) {
			t.Errorf("%s: the model was told %q, want %q", id, answers[id], want)
		}
	}
	if !strings.Contains(m.got[0], `"require_approval":"always"`) || !strings.Contains(m.got[0], `"additionalProperties":false`) {
		t.Errorf("the model was told of %s", m.got[0])
	}
	changed := 0
	for _, e := range b.Events(sayso.EventFinished) {
		if strings.Contains(string(e.Payload), `"changed":true`) {
			changed++
		}
	}
	if n := len(b.Events(sayso.EventFinished)); n != 3 || changed != 1 {
		t.Errorf("%d outcomes, of which %d say that something else ran", n, changed)
	}
}

// answersIn are what the model was told of its calls, by their ids.
func answersIn(t *testing.T, body string) map[string]string {
	var req struct {
		Input []struct {
			CallID    string `json:"call_id"`
			Output    string
			RequestID string `json:"approval_request_id"`
			Approve   bool
			Reason    string
		}
		Previous string `json:"previous_response_id"`
	}
	if err := json.Unmarshal([]byte(body), &req); err != nil {
		t.Fatal(err)
	}
	if req.Previous != "resp_1" {
		t.Errorf("the second request is behind %q", req.Previous)
	}
	out := map[string]string{}
	for _, i := range req.Input {
		if i.CallID != "" {
			out[i.CallID] = i.Output
		} else {
			out[i.RequestID] = fmt.Sprint(i.Approve, " ", i.Reason)
		}
	}
	return out
}

// TestReport_unapproved: a call that nobody was asked about is an error, not a
// line in a log.
func TestReport_unapproved(t *testing.T) {
	a := &agent{gate: saysotest.New(t).Gate()}
	if err := a.report(t.Context(), responses.ResponseOutputItemMcpCall{Name: "order", ServerLabel: "shop"}); err == nil {
		t.Error("it was taken")
	}
}
