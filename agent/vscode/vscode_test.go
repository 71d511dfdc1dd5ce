package vscode_test

import (
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/agent/agenttest"
	"github.com/sayso-dev/sayso/agent/vscode"
	"github.com/sayso-dev/sayso/present"
)

var update = flag.Bool("update", false, "write the golden files anew")

var adapter = agenttest.Adapter{
	Parse: func(text []byte) (agent.Hook, error) { return vscode.Parse(text) },
	Deny:  vscode.Deny,
	Sample: `{"timestamp":"2026-02-09T10:30:00.000Z","cwd":"/w","sessionId":"s1","hookEventName":"PreToolUse","tool_name":"run_in_terminal",` +
		`"tool_input":{"command":"git push","explanation":"Push"},"tool_use_id":"t1"}`,
	Required: []string{"sessionId", "hookEventName", "tool_name", "tool_input", "tool_use_id"},
	Allowed:  `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`,
	Edited:   `"updatedInput":{"command":"git status","explanation":"Push"}}`,
	Denied:   `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"`,
	Exit:     2,
}

func TestAdapter(t *testing.T) { agenttest.Run(t, adapter) }

func TestPayloads(t *testing.T) {
	adapter.Payloads(t, "testdata/payloads/documented", func(string) bool { return true }, *update)
}

// What runs in the terminal of the editor is no line of bash.
func TestPresent_terminal(t *testing.T) {
	call := sayso.Call{Host: vscode.Host, Tool: "run_in_terminal", Cwd: "/w", Args: sayso.Args(`{"command":"dir"}`)}
	want := present.Command("dir", "/w")
	want.Language = ""
	if diff := cmp.Diff(want, vscode.Present(call, sayso.Facts{}, nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
