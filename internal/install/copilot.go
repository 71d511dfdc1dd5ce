package install

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/sayso-dev/sayso/agent/copilot"
)

var copilotHost = Host{
	Name: copilot.Host, Title: "Copilot CLI", Program: "copilot", Update: "npm install -g @github/copilot",
	Oldest: "1.0.102", Older: "was never run with this gate; %s is the first that was",
	Scopes: []Scope{ScopeUser}, Places: copilotPlaces,
	Put: copilotFormat.put, Take: copilotFormat.take, Survey: copilotFormat.survey, Off: copilotOff,
}

// copilotPlaces is the one file of hooks that is ours. Copilot CLI reads all
// files beside it too.
func copilotPlaces(getenv func(string) string, _ string) []Place {
	return []Place{{ScopeUser, filepath.Join(copilotFolder(getenv), "hooks", "sayso.json")}}
}

// copilotFolder is where Copilot CLI keeps what is the person's.
func copilotFolder(getenv func(string) string) string {
	if dir := getenv("COPILOT_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(getenv("HOME"), ".copilot")
}

// copilotHandler is one hook in a file of Copilot CLI's.
type copilotHandler struct {
	Type    string `json:"type"`
	Bash    string `json:"bash"`
	Timeout int    `json:"timeoutSec"`
}

var copilotFormat = format{
	host: copilot.Host, flat: true, blank: "{\n  \"version\": 1\n}", events: copilotEvents,
	asks: string(copilot.PreToolUse),
}

// copilotEvents are the hooks that we install, by the names that get the payload
// that our hook reads.
func copilotEvents(h Hook) []event {
	entry := func(e copilot.Event, line string) event {
		return event{string(e), copilotHandler{Type: "command", Bash: line, Timeout: int(e.Timeout() / time.Second)}}
	}
	last := fmt.Sprintf(lastBoth, `{"permissionDecision":"deny","permissionDecisionReason":"`+hookFailed+`"}`)
	return []event{
		entry(copilot.PreToolUse, h.guarded(copilot.Host, last)),
		entry(copilot.SessionStart, h.line(copilot.Host)),
		entry(copilot.SessionEnd, h.line(copilot.Host)),
	}
}
