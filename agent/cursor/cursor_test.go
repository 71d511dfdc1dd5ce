package cursor_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/agent/agenttest"
	"github.com/sayso-dev/sayso/agent/cursor"
	"github.com/sayso-dev/sayso/present"
)

var update = flag.Bool("update", false, "write the golden files anew")

var adapter = agenttest.Adapter{
	Parse: func(text []byte) (agent.Hook, error) { return cursor.Parse(text) },
	Deny:  cursor.Deny,
	Sample: `{"conversation_id":"c1","generation_id":"g1","hook_event_name":"preToolUse","workspace_roots":["/w"],"tool_name":"Shell",` +
		`"tool_input":{"command":"git push","working_directory":"/w"},"tool_use_id":"t1","cwd":"/w"}`,
	Required: []string{"conversation_id", "hook_event_name", "tool_name", "tool_input", "tool_use_id"},
	Allowed:  `{"permission":"allow"}`,
	Edited:   `"updated_input":{"command":"git status","working_directory":"/w"}}`,
	Denied:   `{"permission":"deny","user_message":"`,
}

func TestAdapter(t *testing.T) { agenttest.Run(t, adapter) }

func TestPayloads(t *testing.T) {
	adapter.Payloads(t, "testdata/payloads/documented", func(string) bool { return true }, *update)
}

// The directory of a command is one of its arguments only where it is another
// than that of the call: then it is asked about.
func TestParse_directory(t *testing.T) {
	for dir, want := range map[string]string{
		"/w":   `{"command":"git push"}`,
		"/etc": `{"command":"git push","working_directory":"/etc"}`,
	} {
		text := strings.Replace(adapter.Sample, `"working_directory":"/w"`, `"working_directory":"`+dir+`"`, 1)
		h, err := cursor.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(h.Call.Args); got != want || h.Call.Cwd != "/w" {
			t.Errorf("in %s the arguments are %s, and the directory %s", dir, got, h.Call.Cwd)
		}
	}
}

// A hook of this host never says nothing, which would block.
func TestNoOpinion(t *testing.T) {
	if a := cursor.NoOpinion(); string(a.Stdout) != adapter.Allowed || a.Exit != 0 {
		t.Errorf("no opinion is %+v", a)
	}
	if a := cursor.Deny("why"); !strings.Contains(string(a.Stdout), `"agent_message":"why"`) {
		t.Errorf("the model is told nothing: %s", a.Stdout)
	}
}

func TestPresent(t *testing.T) {
	for _, tt := range []struct {
		tool, args string
		want       sayso.Presentation
	}{
		{"Shell", `{"command":"echo hi"}`, present.Command("echo hi", "/w", present.Understood("echo hi")...)},
		{"MCP:deploy", `{"env":"prod"}`, present.Structured([]byte(`{"env":"prod"}`))},
	} {
		call := sayso.Call{Host: cursor.Host, Tool: tt.tool, Cwd: "/w", Args: sayso.Args(tt.args)}
		if diff := cmp.Diff(tt.want, cursor.Present(call, sayso.Facts{}, nil)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.tool, diff)
		}
	}
}
