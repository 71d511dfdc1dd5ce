package hook

import (
	"testing"

	"github.com/sayso-dev/sayso/agent"
)

// One hook serves Copilot CLI and VS Code, and neither is taken for the other.
func TestCopilotOrEditor(t *testing.T) {
	for text, want := range map[string]string{
		`{"sessionId":"s1","cwd":"/w","toolName":"bash","toolArgs":{"command":"ls"}}`:                                                              "copilot",
		`{"sessionId":"s1","cwd":"/w","hookEventName":"PreToolUse","tool_name":"run_in_terminal","tool_input":{"command":"ls"},"tool_use_id":"t"}`: "vscode",
		`{"sessionId":"s1","cwd":"/w","hookEventName":"PreToolUse","toolName":"bash","toolArgs":{"command":"ls"}}`:                                 "",
		`{"sessionId":"s1","cwd":"/w","hookEventName":7,"toolName":"bash","toolArgs":{"command":"ls"}}`:                                            "",
		`{"sessionId":"s1","cwd":"/w","tool_name":"run_in_terminal","tool_input":{"command":"ls"},"tool_use_id":"t"}`:                              "",
		`{"hookEventName":"PreToolUse","hookEventName":"SessionStart","sessionId":"s1","toolName":"bash","toolArgs":{}}`:                           "",
	} {
		h, err := copilotOrEditor([]byte(text))
		if want == "" {
			if err == nil {
				t.Errorf("%s: read %+v", text, h)
			}
			continue
		}
		if err != nil || h.Told().Moment != agent.Before || h.Told().Call.Host != want {
			t.Errorf("%s: %+v, %v", text, h, err)
		}
	}
}
