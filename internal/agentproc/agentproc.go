// Package agentproc tells whether this process runs under a coding agent, so
// that commands which answer for a person can refuse to.
//
// It looks at two things: variables that agents set for the commands they run,
// and the names of the processes that this one descends from. Both are what an
// honest agent leaves behind, and what a confused one leaves behind while it
// tries to be helpful. Neither stops an agent that means to get round it: it
// runs as the same user, can clear the environment, can have a command started
// by something that is not its child (a timer, a terminal multiplexer, a
// daemon), and can read the same files as the person. Only another user
// id, or a server that wants a credential kept elsewhere, separates the two.
package agentproc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Agent is what was found.
type Agent struct {
	Name string // of the agent, for people
	How  string // what gave it away
}

// Process is one process as the system shows it.
type Process struct {
	PID    int
	Parent int
	Comm   string   // its short name
	Args   []string // may be empty
}

// markers are variables that agents set for what they run, and nobody else
// does. CLAUDE_CODE_SSE_PORT and its like are not among them: editors set
// those in the terminals of people.
var markers = []struct{ variable, agent string }{
	{"CLAUDECODE", "Claude Code"},
	{"CLAUDE_CODE_ENTRYPOINT", "Claude Code"},
	{"CLAUDE_CODE_SESSION_ID", "Claude Code"},
	{"CLAUDE_PROJECT_DIR", "Claude Code"},
	{"CODEX_SANDBOX", "Codex"},
	{"CODEX_SANDBOX_NETWORK_DISABLED", "Codex"},
	{"CODEX_THREAD_ID", "Codex"},
	{"GEMINI_CLI", "Gemini CLI"},
	{"CURSOR_AGENT", "Cursor"},
	{"OPENCODE", "opencode"},
	{"COPILOT_CLI", "Copilot CLI"},
	{"CLINE_ACTIVE", "Cline"},
	{"AUGMENT_AGENT", "Augment"},
	{"GOOSE_TERMINAL", "Goose"},
	{"AI_AGENT", "an agent"},
}

// programs are the names under which agents run.
var programs = map[string]string{
	"claude": "Claude Code", "claude-code": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI", "gemini-cli": "Gemini CLI",
	"opencode": "opencode", "cursor-agent": "Cursor", "copilot": "Copilot CLI", "aider": "aider", "goose": "Goose",
	"amp": "Amp", "crush": "Crush", "qwen": "Qwen Code", "auggie": "Augment", "droid": "Droid", "openhands": "OpenHands",
	"sayso-hook": "a hook of sayso",
}

// packages are folders in the paths of scripts that are agents.
var packages = map[string]string{
	"@anthropic-ai/claude-code": "Claude Code", "@openai/codex": "Codex", "@google/gemini-cli": "Gemini CLI",
	"opencode-ai": "opencode", "@github/copilot": "Copilot CLI", "aider": "aider",
}

// depth bounds the walk; a chain of ancestors that long is a fault.
const depth = 128

// Detect reports the agent that this process runs under, if one can be seen.
func Detect() (Agent, bool) {
	if a, ok := Marked(os.Getenv); ok {
		return a, true
	}
	return Above(os.Getppid(), look)
}

// Marked reports the agent whose variable is in an environment.
func Marked(getenv func(string) string) (Agent, bool) {
	for _, m := range markers {
		if v := getenv(m.variable); v != "" && v != "0" && v != "false" {
			return Agent{m.agent, "the variable " + m.variable + " is set"}, true
		}
	}
	return Agent{}, false
}

// Above walks from a process to its ancestors and reports the first that is an
// agent. The walk ends at a process that cannot be seen.
func Above(pid int, look func(pid int) (Process, bool)) (Agent, bool) {
	for range depth {
		p, ok := look(pid)
		if !ok {
			break
		}
		if name, ok := p.agent(); ok {
			return Agent{name, "it descends from the process " + p.name()}, true
		}
		if p.Parent <= 0 || p.Parent == pid {
			break
		}
		pid = p.Parent
	}
	return Agent{}, false
}

// agent tells which agent the process is: by its own name, the name it was
// started under, or the script that an interpreter runs.
func (p Process) agent() (string, bool) {
	names := []string{p.Comm}
	if len(p.Args) > 0 {
		names = append(names, p.Args[0])
	}
	if script, ok := p.script(); ok {
		names = append(names, script)
		for folder, agent := range packages {
			if strings.Contains(script, "/node_modules/"+folder+"/") {
				return agent, true
			}
		}
	}
	for _, n := range names {
		if agent, ok := programs[base(n)]; ok {
			return agent, true
		}
	}
	return "", false
}

// script is the file that an interpreter runs.
func (p Process) script() (string, bool) {
	if len(p.Args) < 2 || !slices.ContainsFunc(interpreters, func(i string) bool { return strings.HasPrefix(base(p.Args[0]), i) }) {
		return "", false
	}
	for _, a := range p.Args[1:] {
		if !strings.HasPrefix(a, "-") {
			return a, true
		}
	}
	return "", false
}

var interpreters = []string{"node", "bun", "deno", "python"}

// base is a program's name without its folder and the endings of scripts.
func base(path string) string {
	b := strings.ToLower(filepath.Base(strings.TrimPrefix(path, "-"))) // a login shell has a dash in front
	for _, end := range []string{".js", ".mjs", ".cjs", ".py", ".exe"} {
		b = strings.TrimSuffix(b, end)
	}
	return b
}

func (p Process) name() string {
	if script, ok := p.script(); ok {
		return base(script)
	}
	return base(p.Comm)
}
