//go:build unix

package hosts

import (
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/claude"
)

// Claude is Claude Code.
var Claude = Host{
	Name: "claude-code", Title: "Claude Code", Version: claude.Version, Often: true, Shell: "Bash",
	Before: "PreToolUse",
	Events: []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionStart", "SessionEnd"},
	Deny:   `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"lab"}`,
	Word:   `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"perhaps"}}`,
	Wired:  []string{".claude/settings.json"},
	Switches: []Switch{
		{".claude/settings.json", `{"disableAllHooks":true}`},
		{".claude/settings.local.json", `{"disableAllHooks":true}`},
	},
	program: claude.Binary,
	arguments: func(prompt, _ string) []string {
		return []string{"-p", prompt, "--model", "claude-sonnet-5", "--permission-mode", "bypassPermissions", "--output-format", "json"}
	},
	environ: func(url, _ string) []string {
		return []string{
			"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_AUTOUPDATER=1", "ENABLE_TOOL_SEARCH=false",
			"IS_SANDBOX=1", // else bypassPermissions is refused to root, which CI often is
		}
	},
	files: func(s Setup) map[string]any {
		hooks := map[string]any{}
		for event, line := range s.Hooks {
			hook := map[string]any{"type": "command", "command": line, "timeout": s.Wait}
			hooks[event] = []any{map[string]any{"matcher": "*", "hooks": []any{hook}}}
		}
		files := map[string]any{".claude/settings.json": map[string]any{"hooks": hooks}}
		if s.MCP != "" {
			files[".claude.json"] = map[string]any{"mcpServers": map[string]any{"lab": map[string]any{"type": "stdio", "command": s.MCP, "env": mcpEnv}}}
		}
		return files
	},
	trust: func(dir string) map[string]any {
		return map[string]any{".claude.json": map[string]any{"projects": map[string]any{dir: map[string]any{"hasTrustDialogAccepted": true}}}}
	},
	deploy: modelstub.Call{Name: "mcp__lab__deploy", Input: `{"env":"prod"}`},
	inAgent: func(call modelstub.Call) Conversation {
		start := modelstub.Call{ID: "toolu_agent", Name: "Agent", Input: `{"description":"Make a call","prompt":"Make the call.","subagent_type":"general-purpose","run_in_background":false}`}
		return inLine(start, call, modelstub.Say("made"))
	},
}
