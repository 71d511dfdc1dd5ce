//go:build unix

package hosts

import "github.com/sayso-dev/sayso/internal/modelstub"

const copilotVersion = "1.0.102"

// Copilot is GitHub's Copilot CLI, with a model provider of its own.
var Copilot = Host{
	Name: "copilot", Title: "Copilot CLI", Version: copilotVersion, Shell: "bash",
	Before: "preToolUse",
	Events: []string{"preToolUse", "postToolUse", "postToolUseFailure", "sessionStart", "sessionEnd"},
	Deny:   `{"permissionDecision":"deny","permissionDecisionReason":"lab"`, Word: `{"permissionDecision":"perhaps"}`,
	Wired: []string{".copilot/hooks/sayso.json"},
	Switches: []Switch{
		{".github/copilot/settings.json", `{"disableAllHooks":true}`},
		{".github/copilot/settings.local.json", `{"disableAllHooks":true}`},
		{".claude/settings.json", `{"disableAllHooks":true}`},
		{".claude/settings.local.json", `{"disableAllHooks":true}`},
	},
	program: fromNPM("Copilot CLI", copilotVersion, "copilot", "@github/copilot"),
	arguments: func(prompt, _ string) []string {
		return []string{"-p", prompt, "--allow-all-tools", "--allow-all-paths"}
	},
	environ: func(url, _ string) []string {
		return []string{
			"COPILOT_PROVIDER_BASE_URL=" + url, "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_API_KEY=x",
			"COPILOT_MODEL=claude-sonnet-5", "COPILOT_OFFLINE=true",
		}
	},
	files: func(s Setup) map[string]any {
		hooks := map[string]any{}
		for event, line := range s.Hooks {
			hooks[event] = []any{map[string]any{"type": "command", "bash": line, "timeoutSec": s.Wait}}
		}
		files := map[string]any{".copilot/hooks/lab.json": map[string]any{"version": 1, "hooks": hooks}}
		if s.MCP != "" {
			files[".copilot/mcp-config.json"] = map[string]any{"mcpServers": map[string]any{
				"lab": map[string]any{"type": "local", "command": s.MCP, "args": []any{}, "env": mcpEnv, "tools": []any{"*"}},
			}}
		}
		return files
	},
	trust: func(dir string) map[string]any {
		return map[string]any{".copilot/config.json": map[string]any{"trusted_folders": []any{dir}, "trustedFolders": []any{dir}}}
	},
	deploy: modelstub.Call{Name: "lab-deploy", Input: `{"env":"prod"}`},
	inAgent: func(call modelstub.Call) Conversation {
		start := modelstub.Call{ID: "toolu_agent", Name: "task", Input: `{"name":"make","description":"Make a call","prompt":"Make the call.","agent_type":"general-purpose"}`}
		return inLine(start, call, modelstub.Say("made"))
	},
}
