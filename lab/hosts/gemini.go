//go:build unix

package hosts

import "github.com/sayso-dev/sayso/internal/modelstub"

const geminiVersion = "0.61.0"

// Gemini is Gemini CLI, with an API key that nobody checks.
var Gemini = Host{
	Name: "gemini", Title: "Gemini CLI", Version: geminiVersion, Shell: "run_shell_command",
	Before: "BeforeTool", Events: []string{"BeforeTool", "AfterTool", "SessionStart", "SessionEnd"},
	Deny: `{"decision":"deny","reason":"lab"`, Word: `{"decision":"perhaps"}`,
	Wired: []string{".gemini/settings.json"},
	Switches: []Switch{
		{".gemini/settings.json", `{"hooksConfig":{"enabled":false}}`},
		{".gemini/settings.json", `{"hooksConfig":{"disabled":["sayso"]}}`},
	},
	program: fromNPM("Gemini CLI", geminiVersion, "gemini", "@google/gemini-cli"),
	arguments: func(prompt, _ string) []string {
		return []string{"-m", "gemini-2.5-flash", "--yolo", "--skip-trust", "-p", prompt}
	},
	environ: func(url, home string) []string {
		return []string{"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_NO_RELAUNCH=true"}
	},
	files: func(s Setup) map[string]any {
		hooks := map[string]any{}
		for event, line := range s.Hooks {
			hook := map[string]any{"type": "command", "command": line, "timeout": s.Wait * 1000}
			hooks[event] = []any{map[string]any{"matcher": "*", "hooks": []any{hook}}}
		}
		settings := map[string]any{"hooks": hooks, "security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}}}
		if s.MCP != "" {
			settings["mcpServers"] = map[string]any{"lab": map[string]any{"command": s.MCP, "env": mcpEnv, "trust": true}}
		}
		return map[string]any{".gemini/settings.json": settings}
	},
	trust: func(dir string) map[string]any {
		return map[string]any{".gemini/trustedFolders.json": map[string]any{dir: "TRUST_FOLDER"}}
	},
	deploy: modelstub.Call{Name: "mcp_lab_deploy", Input: `{"env":"prod"}`},
	inAgent: func(call modelstub.Call) Conversation {
		start := modelstub.Call{ID: "toolu_agent", Name: "invoke_agent", Input: `{"agent_name":"generalist","prompt":"Make the call."}`}
		end := modelstub.Call{ID: "toolu_end", Name: "complete_task", Input: `{"result":"made"}`}
		return inLine(start, call, modelstub.Use(end))
	},
}
