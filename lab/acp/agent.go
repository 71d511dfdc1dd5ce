//go:build unix

package acp

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/modelstub"
	"github.com/sayso-dev/sayso/lab/npm"
)

// Agent is an agent that speaks the protocol, and how it is driven without an account.
type Agent struct {
	Name   string // as it calls itself
	Often  bool   // run with the other tests
	Unseen bool   // it shows no input of its calls
	Writes bool   // it has the editor write files
	Reads  bool   // it has the editor read files
	Hook   string // its own hook, if that is told what the editor is shown

	pack    npm.Package
	args    []string
	shell   string // its tool that runs a line of bash
	edit    string // its tool that changes a file, and its arguments for a text and another
	environ func(url string) []string
	files   func(url string) map[string]any // below the home folder, as JSON
}

// All are the agents that npm offers.
var All = []Agent{
	{
		Name: "OpenCode", Often: true, args: []string{"acp"}, shell: "bash", Writes: true, Hook: "opencode",
		edit: `edit {"filePath":%q,"oldString":%q,"newString":%q}`,
		pack: npm.Package{
			Title: "opencode 1.18.33", Cache: "opencode-1.18.33", Spec: "opencode-ai@1.18.33", File: "node_modules/opencode-" + runtime.GOOS + "*/bin/opencode",
		},
		environ: func(string) []string { return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "npm_config_offline=true"} },
		files: func(url string) map[string]any {
			return map[string]any{".config/opencode/opencode.json": map[string]any{
				"provider":   map[string]any{"anthropic": map[string]any{"options": map[string]any{"baseURL": url + "/v1", "apiKey": "x"}}},
				"model":      "anthropic/claude-sonnet-4-5",
				"permission": map[string]any{"*": "ask"}, "autoupdate": false, "share": "disabled",
			}}
		},
	},
	{
		Name: "gemini-cli", Unseen: true, args: []string{"--acp", "-m", "gemini-2.5-flash", "--skip-trust"}, shell: "run_shell_command", Writes: true, Reads: true,
		edit: `replace {"instruction":"change it","file_path":%q,"old_string":%q,"new_string":%q}`,
		pack: npm.Package{Title: "Gemini CLI 0.61.0", Cache: "gemini-0.61.0", Spec: "@google/gemini-cli@0.61.0", File: "node_modules/.bin/gemini"},
		environ: func(url string) []string {
			return []string{"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_NO_RELAUNCH=true"}
		},
		files: func(string) map[string]any {
			return map[string]any{".gemini/settings.json": map[string]any{"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}}}}
		},
	},
	{
		Name: "Copilot", args: []string{"--acp", "--stdio"}, shell: "bash", Hook: "copilot",
		edit: `edit {"path":%q,"old_str":%q,"new_str":%q}`,
		pack: npm.Package{Title: "Copilot CLI 1.0.102", Cache: "copilot-1.0.102", Spec: "@github/copilot@1.0.102", File: "node_modules/.bin/copilot"},
		environ: func(url string) []string {
			return []string{
				"COPILOT_PROVIDER_BASE_URL=" + url, "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_API_KEY=x", "COPILOT_MODEL=claude-sonnet-5", "COPILOT_OFFLINE=true",
			}
		},
		files: func(string) map[string]any { return nil },
	},
}

// Command is the agent's own command line.
func (a Agent) Command(t testing.TB) []string {
	t.Helper()
	return append([]string{a.pack.Path(t)}, a.args...)
}

// Files are what the agent reads below the person's folder, to speak to a model at an
// address.
func (a Agent) Files(t testing.TB, home, url string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for name, settings := range a.files(url) {
		text, err := jcs.MarshalIndent(settings)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Join(home, name)] = string(text)
	}
	return files
}

// Environ is what the agent is told to speak to a model at an address.
func (a Agent) Environ(url string) []string { return a.environ(url) }

// Run is a call of the agent's shell, as its model makes it.
func (a Agent) Run(n int, line string) modelstub.Call {
	text, err := jcs.Marshal(map[string]string{"command": line, "description": "a harmless step"})
	if err != nil {
		panic(err) // a line that is no text
	}
	return modelstub.Call{ID: fmt.Sprintf("toolu_%02d", n), Name: a.shell, Input: string(text)}
}

// Edit is a call of the agent's tool that changes a text in a file.
func (a Agent) Edit(n int, name, old, text string) modelstub.Call {
	tool, args, _ := strings.Cut(a.edit, " ")
	return modelstub.Call{ID: fmt.Sprintf("toolu_%02d", n), Name: tool, Input: fmt.Sprintf(args, name, old, text)}
}
