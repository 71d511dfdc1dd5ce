//go:build unix

package hosts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// Host is a program that agents run in, and how it is driven without an account.
type Host struct {
	Name    string // as sayso calls it
	Package string // on npm
	Version string // the exact release that the tests run
	Bin     string
	Shell   string   // its tool that runs a line of bash
	Before  string   // the event that asks before a tool
	Events  []string // all events that a hook is told of

	arguments func(prompt string) []string
	environ   func(url, home string) []string
	files     func(Setup) map[string]any // below the home folder, as JSON
}

// Setup is what the person's settings of a host hold.
type Setup struct {
	Hooks map[string]string // lines of a shell, by event
	Wait  int               // how many seconds the host waits for a hook
	MCP   string            // the program of the MCP server "lab"; none if empty
}

// Gemini is Gemini CLI, with an API key that nobody checks.
var Gemini = Host{
	Name: "gemini", Package: "@google/gemini-cli", Version: "0.61.0", Bin: "gemini", Shell: "run_shell_command",
	Before: "BeforeTool", Events: []string{"BeforeTool", "AfterTool", "SessionStart", "SessionEnd"},
	arguments: func(prompt string) []string {
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
}

// Copilot is GitHub's Copilot CLI, with a model provider of its own.
var Copilot = Host{
	Name: "copilot", Package: "@github/copilot", Version: "1.0.102", Bin: "copilot", Shell: "bash",
	Before: "preToolUse",
	Events: []string{"preToolUse", "postToolUse", "postToolUseFailure", "sessionStart", "sessionEnd"},
	arguments: func(prompt string) []string {
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
}

// mcpEnv tells a test binary that it is started as the server.
var mcpEnv = map[string]any{"LAB_MCP_SERVER": "1"}

// Write puts settings below a home folder.
func (h Host) Write(home string, s Setup) error {
	if s.Wait == 0 {
		s.Wait = 10
	}
	for name, settings := range h.files(s) {
		text, err := jcs.MarshalIndent(settings)
		if err != nil {
			return err
		}
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Every is one line for each event, with %s in it replaced by the event.
func (h Host) Every(line string) map[string]string {
	hooks := map[string]string{}
	for _, event := range h.Events {
		hooks[event] = strings.ReplaceAll(line, "%s", event)
	}
	return hooks
}

// Command is the input of a call of the host's shell.
func Command(line string) string {
	text, err := jcs.Marshal(map[string]string{"command": line, "description": "a step of the lab"})
	if err != nil {
		panic(fmt.Sprintf("a line that is no text: %v", err))
	}
	return string(text)
}
