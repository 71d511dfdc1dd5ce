package gemini_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/agent/agenttest"
	"github.com/sayso-dev/sayso/agent/gemini"
	"github.com/sayso-dev/sayso/present"
)

var update = flag.Bool("update", false, "write the golden files anew")

var adapter = agenttest.Adapter{
	Parse: func(text []byte) (agent.Hook, error) { return gemini.Parse(text) },
	Deny:  gemini.Deny,
	Sample: `{"session_id":"s1","cwd":"/home/dev/app","hook_event_name":"BeforeTool","timestamp":"2026-11-22T10:00:00Z",` +
		`"tool_name":"run_shell_command","tool_input":{"command":"git push","description":"Push","is_background":false}}`,
	Required: []string{"session_id", "hook_event_name", "tool_name", "tool_input"},
	Allowed:  `{"decision":"allow"}`,
	Edited:   `"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"git status","is_background":false,"description":"Push"}}`,
	Denied:   `{"decision":"deny","reason":"`,
	Exit:     2,
}

func TestAdapter(t *testing.T) { agenttest.Run(t, adapter) }

func TestPayloads(t *testing.T) {
	adapter.Payloads(t, "testdata/payloads/0.61.0", func(name string) bool { return !strings.HasPrefix(name, "AfterTool") }, *update)
}

func TestTools(t *testing.T) {
	adapter.Tools(t, gemini.Host, "testdata/tools-0.61.0.json", gemini.Said, map[string][]string{"run_shell_command": {"dir_path"}})
}

// A tool of a server is known by the server's name for it, and none that only
// looks like one is.
func TestParse_servers(t *testing.T) {
	const call = `{"session_id":"s1","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"mcp_lab_deploy","tool_input":{}`
	for text, want := range map[string][2]string{
		call + `,"mcp_context":{"server_name":"lab","tool_name":"deploy"}}`: {"deploy", "lab"},
		call + `}`: {"mcp_lab_deploy", ""},
	} {
		h, err := gemini.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if tool, server := h.Call.CanonicalName(); tool != want[0] || server != want[1] {
			t.Errorf("%s is %s of %s", text, tool, server)
		}
	}
	if _, err := gemini.Parse([]byte(call + `,"mcp_context":{"tool_name":"deploy"}}`)); err == nil {
		t.Error("a server without a name was taken")
	}
}

func TestPresent(t *testing.T) {
	facts := sayso.Facts{Operands: []sayso.PathFact{{Arg: "file_path", Path: "/w/a", Resolved: "/w/a", State: sayso.PathFile}}}
	holds := func(sayso.PathFact) (string, error) { return "a\nb\n", nil }
	for _, tt := range []struct {
		tool, args string
		want       sayso.Presentation
	}{
		{"run_shell_command", `{"command":"echo hi"}`, present.Command("echo hi", "/w", present.Understood("echo hi")...)},
		{"write_file", `{"file_path":"a","content":"c\n"}`, present.Diff("a", "a\nb\n", "c\n")},
		{"replace", `{"file_path":"a","old_string":"b","new_string":"B"}`, present.Diff("a", "a\nb\n", "a\nB\n")},
		{"replace", `{"file_path":"a","old_string":"b"}`, present.Structured([]byte(`{"file_path":"a","old_string":"b"}`))},
		{"write_file", `{"file_path":7,"content":"c\n"}`, present.Structured([]byte(`{"file_path":7,"content":"c\n"}`))},
		{"read_file", `{"file_path":"a"}`, present.Structured([]byte(`{"file_path":"a"}`))},
		{"web_fetch", `{"prompt":"see https://example.org"}`, present.Structured([]byte(`{"prompt":"see https://example.org"}`))},
	} {
		call := sayso.Call{Host: gemini.Host, Tool: tt.tool, Cwd: "/w", Args: sayso.Args(tt.args)}
		if diff := cmp.Diff(tt.want, gemini.Present(call, facts, holds)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.tool, tt.args, diff)
		}
	}
}
