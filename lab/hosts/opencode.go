//go:build unix

package hosts

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/npm"
)

const opencodeVersion = "1.18.33"

// Opencode is opencode, with a provider whose key nobody checks. It has no hooks:
// what stands here for one is a plugin that starts it.
var Opencode = Host{
	Name: "opencode", Title: "opencode", Version: opencodeVersion, Shell: "bash",
	Before: "tool.execute.before", Events: []string{"tool.execute.before", "tool.execute.after"},
	Deny: `{"decision":"deny","reason":"lab"`, Word: `{"decision":"perhaps"}`,
	Wired: []string{".config/opencode/plugin/sayso.js"},
	Switches: []Switch{
		{"opencode.json", `{"plugin":[],"permission":{"*":"allow"}}`},
		{".opencode/plugin/sayso.js", `export const Sayso = async () => ({})`},
	},
	program: npm.Package{
		Title: "opencode " + opencodeVersion, Cache: "opencode-" + opencodeVersion, Spec: "opencode-ai@" + opencodeVersion,
		// What npm links is a script that tells to run another one, and nothing of a
		// package is run when it is fetched.
		File: "node_modules/opencode-" + runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1) + "/bin/opencode",
	}.Path,
	arguments: func(prompt, _ string) []string {
		return []string{"run", "-m", "anthropic/claude-sonnet-4-5", prompt}
	},
	environ: func(url, _ string) []string {
		return []string{
			"OPENCODE_CONFIG_CONTENT=" + OpencodeModel(url), "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
			"npm_config_offline=true", // else it fetches what it offers to plugins, and waits for it
		}
	},
	files: func(s Setup) map[string]any {
		settings := map[string]any{"$schema": "https://opencode.ai/config.json"}
		if s.MCP != "" {
			settings["mcp"] = map[string]any{"lab": map[string]any{"type": "local", "command": []any{s.MCP}, "environment": mcpEnv}}
		}
		files := map[string]any{".config/opencode/opencode.json": settings}
		if len(s.Hooks) > 0 {
			files[".config/opencode/plugin/lab.js"] = opencodePlugin(s.Hooks)
		}
		return files
	},
	deploy: modelstub.Call{Name: "lab_deploy", Input: `{"env":"prod"}`},
	inAgent: func(call modelstub.Call) Conversation {
		start := modelstub.Call{ID: "toolu_agent", Name: "task", Input: `{"description":"Make a call","prompt":"Make the call.","subagent_type":"general"}`}
		return inLine(start, call, modelstub.Say("made"))
	},
}

// OpencodeModel is the part of a configuration that has opencode ask the model at
// an address.
func OpencodeModel(url string) string {
	return `{"small_model":"anthropic/claude-sonnet-4-5","provider":{"anthropic":{"options":{"baseURL":"` + url + `/v1","apiKey":"x"}}}}`
}

// opencodePlugin is a plugin for lines of a shell. With one for the event that
// asks it is the shortest that heeds an exit status; with more it is ours, which
// allows what the line of its event was told of.
func opencodePlugin(lines map[string]string) string {
	if len(lines) == 1 {
		return fmt.Sprintf(`import { execFileSync } from "node:child_process"
export const Lab = async () => ({
  "tool.execute.before": async (call, { args }) => {
    execFileSync("/bin/sh", ["-c", %s], { input: JSON.stringify({ ...call, args }), timeout: 30000, killSignal: "SIGKILL" })
  },
})
`, object(lines["tool.execute.before"]))
	}
	script := "call=$(cat); case $call in\n"
	for event, line := range lines {
		script += fmt.Sprintf("*'\"event\":\"%s\"'*) printf '%%s' \"$call\" | { %s; };;\n", event, line)
	}
	script += `esac; printf '%s' '{"decision":"allow"}'`
	text, err := install.Plugin(install.Hook{Program: "/bin/sh"})
	if err != nil {
		panic("a plugin without a place: " + err.Error())
	}
	return strings.Replace(string(text), `const hook = ["/bin/sh","opencode"]`, "const hook = "+object([]string{"/bin/sh", "-c", script}), 1)
}
