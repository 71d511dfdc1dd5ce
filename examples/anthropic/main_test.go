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

	anthropic "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/saysotest"
)

// model answers each request with the next turn, and keeps what it was sent.
type model struct {
	turns []string
	got   []string
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.got = append(m.got, string(body))
	w.Header().Set("Content-Type", "application/json")
	stop := "end_turn"
	if strings.Contains(m.turns[0], "tool_use") {
		stop = "tool_use"
	}
	fmt.Fprintf(w, `{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":%s,"stop_reason":%q,"usage":{"input_tokens":1,"output_tokens":1}}`,
		len(m.got), m.turns[0], stop)
	m.turns = m.turns[1:]
}

func TestAgent(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("buy milk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &model{turns: []string{
		`[{"type":"tool_use","id":"toolu_1","name":"read_file","input":{"path":"notes.txt"}},
		  {"type":"tool_use","id":"toolu_2","name":"write_file","input":{"path":"notes.txt","content":"buy bread\n"}},
		  {"type":"tool_use","id":"toolu_3","name":"bash","input":{"command":"rm notes.txt"}},
		  {"type":"tool_use","id":"toolu_4","name":"read_file","input":{"path":"notes.txt","path":"/etc/passwd"}}]`,
		`[{"type":"text","text":"done"}]`,
	}}
	srv := httptest.NewServer(m)
	defer srv.Close()
	b := saysotest.New(t)
	b.Approve("file-read")
	b.Approve("file-write:notes.txt")
	b.Deny("bash:rm *", "not with rm")
	tools, err := open(b.Gate(), dir, "s1")
	if err != nil {
		t.Fatal(err)
	}
	a := agent{tools: tools, model: anthropic.NewClient(option.WithoutEnvironmentDefaults(), option.WithBaseURL(srv.URL), option.WithAPIKey("none"))}
	text, err := a.run(t.Context(), "go")
	if text != "done" || err != nil {
		t.Fatalf("got %q, %v", text, err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "notes.txt")); string(got) != "buy bread\n" {
		t.Errorf("the notes hold %q", got)
	}
	results := resultsIn(t, m.got[1])
	for id, want := range map[string]string{
		"toolu_1": "buy milk\n", "toolu_2": "10 bytes are in notes.txt", "toolu_3": "!Denied by person", "toolu_4": "!read_file: invalid input: arguments",
	} {
		if !strings.HasPrefix(results[id], want) {
			t.Errorf("%s: the model was told %q, want %q", id, results[id], want)
		}
	}
	for _, r := range b.Asked() {
		if !strings.HasPrefix(r.CallID, "toolu_") || r.SessionID != "s1" {
			t.Errorf("asked about call %q of session %q", r.CallID, r.SessionID)
		}
	}
	if n := len(b.Events(sayso.EventFinished)); n != 2 {
		t.Errorf("%d outcomes", n)
	}
}

// resultsIn are the tool results in a request, by call; those of errors begin
// with an exclamation mark.
func resultsIn(t *testing.T, body string) map[string]string {
	var req struct {
		Messages []struct {
			Content []struct {
				Type      string
				ToolUseID string `json:"tool_use_id"`
				IsError   bool   `json:"is_error"`
				Content   []struct{ Text string }
			}
		}
		Tools []struct {
			Name        string
			InputSchema map[string]any `json:"input_schema"`
		}
	}
	if err := json.Unmarshal([]byte(body), &req); err != nil {
		t.Fatal(err)
	}
	if len(req.Tools) != 7 || req.Tools[0].InputSchema["additionalProperties"] != false {
		t.Errorf("the model was told of %+v", req.Tools)
	}
	out := map[string]string{}
	for _, m := range req.Messages {
		for _, c := range m.Content {
			if c.Type == "tool_result" {
				out[c.ToolUseID] = map[bool]string{true: "!"}[c.IsError] + c.Content[0].Text
			}
		}
	}
	return out
}
