//go:build unix

package hosts

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/codex"
)

// Codex is OpenAI's Codex, with its sandbox and its own questions off.
var Codex = Host{
	Name: "codex", Title: "Codex", Version: codex.Version, Often: true, Shell: "exec_command",
	Before: "PreToolUse", Events: []string{"PreToolUse", "PostToolUse", "SessionStart", "SessionEnd"},
	Deny:     `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"lab"}`,
	Word:     `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"perhaps"}}`,
	Wired:    []string{".codex/hooks.json"},
	Switches: []Switch{{".codex/config.toml", "[features]\nhooks = false\n"}},
	program:  codex.Binary,
	arguments: func(prompt, url string) []string {
		return []string{
			"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
			"-c", fmt.Sprintf(`model_providers.lab={name="lab",base_url=%q,wire_api="responses"}`, url),
			"-c", `model_provider="lab"`, "-m", codex.Model, prompt,
		}
	},
	environ: func(string, string) []string { return nil },
	files: func(s Setup) map[string]any {
		hooks := map[string]any{}
		for event, line := range s.Hooks {
			hooks[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": line, "timeout": s.Wait}}}}
		}
		files := map[string]any{".codex/hooks.json": map[string]any{"hooks": hooks}}
		if s.MCP != "" {
			files[".codex/config.toml"] = fmt.Sprintf("[mcp_servers.lab]\ncommand = %q\nenv = { LAB_MCP_SERVER = \"1\" }\n", s.MCP)
		}
		return files
	},
	trust: func(dir string) map[string]any {
		return map[string]any{".codex/config.toml": fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", dir)}
	},
	interactive: modelstub.Call{ID: "call_shell", Name: "exec_command", Input: `{"cmd":"sh","tty":true,"yield_time_ms":1000}`},
	typed:       codexTyped,
	ready:       codex.TrustAll,
	command:     func(line string) string { return object(map[string]string{"cmd": line}) },
	many:        codexScript,
	deploy:      modelstub.Call{Name: "functions/exec", Input: `text(await tools.mcp__lab__deploy({env: "prod"}));`},
	inAgent: func(call modelstub.Call) Conversation {
		const start, task = "call_agent", "Make the call of the lab."
		return Conversation{
			Turns: []modelstub.Turn{
				modelstub.Use(modelstub.Call{ID: start, Name: "collaboration/spawn_agent", Input: object(map[string]string{"task_name": "make", "message": task, "fork_turns": "none"})}),
				modelstub.Use(modelstub.Call{ID: "call_wait", Name: "collaboration/wait_agent", Input: `{"timeout_ms":60000}`}),
			},
			Beside: func(request []byte) bool {
				return bytes.Contains(request, []byte(task)) && !bytes.Contains(request, []byte(start))
			},
			Agent: []modelstub.Turn{modelstub.Use(call)},
		}
	},
}

// codexSession is how this host names a program that goes on.
var codexSession = regexp.MustCompile(`session ID (\d+)`)

// codexTyped is a call that types into such a program.
func codexTyped(told, text string) modelstub.Call {
	session := 0
	if m := codexSession.FindStringSubmatch(told); m != nil {
		session, _ = strconv.Atoi(m[1]) // digits
	}
	return modelstub.Call{ID: "call_typed", Name: "write_stdin", Input: object(map[string]any{"session_id": session, "chars": text, "yield_time_ms": 10000})}
}

// codexScript is how this host's model makes calls at once: by a script.
func codexScript(lines []string) []modelstub.Call {
	var calls []string
	for _, line := range lines {
		calls = append(calls, fmt.Sprintf("tools.exec_command({cmd: %q})", line))
	}
	script := "text(JSON.stringify(await Promise.allSettled([" + strings.Join(calls, ",\n") + "])));"
	return []modelstub.Call{{ID: "call_00", Name: "functions/exec", Input: script}}
}
