package install

import (
	"path/filepath"
	"time"

	"github.com/sayso-dev/sayso/agent/codex"
	"github.com/sayso-dev/sayso/internal/codexapp"
)

var codexHost = Host{
	Name: codex.Host, Title: "Codex", Program: "codex", Update: "npm install -g @openai/codex",
	Oldest: codex.Oldest, Older: "was not tried with its hooks; %s was",
	Scopes: []Scope{ScopeUser, ScopeProject},
	Places: codexPlaces, Put: codexFormat.put, Take: codexFormat.take, Survey: codexFormat.survey, Doubt: codexDoubt, Off: codexOff,
}

// CodexAsks reports whether a hook, as Codex itself lists it, runs and is the one that
// asks before every tool, to the letter as h is written.
func CodexAsks(listed codexapp.Hook, h Hook) bool {
	return listed.Runs() && listed.Event == "preToolUse" && listed.Handler == "command" && !listed.Async &&
		listed.Matcher == nil && listed.Environment == nil && listed.Command == h.watched(codex.Host) &&
		listed.Seconds == int(codex.PreToolUse.Timeout()/time.Second)
}

// codexPlaces lists the files in which Codex looks for hooks. It looks in
// config.toml too, which we read for what it says of trust and do not edit.
func codexPlaces(getenv func(string) string, dir string) []Place {
	places := []Place{{ScopeUser, filepath.Join(codexFolder(getenv), "hooks.json")}}
	if dir == "" {
		return places
	}
	if own := filepath.Join(dir, ".codex", "hooks.json"); own != places[0].Path { // in the home folder they are one file
		places = append(places, Place{ScopeProject, own})
	}
	return places
}

// codexFolder is where Codex keeps what is the person's.
func codexFolder(getenv func(string) string) string {
	if dir := getenv("CODEX_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(getenv("HOME"), ".codex")
}

// codexHandler is one hook of Codex, which it starts through a shell. A group
// without a matcher is for every tool.
type codexHandler struct {
	Type          string `json:"type"`
	Command       string `json:"command"`
	Timeout       int    `json:"timeout"` // in seconds
	StatusMessage string `json:"statusMessage,omitzero"`
}

type codexGroup struct {
	Hooks []codexHandler `json:"hooks"`
}

var codexFormat = format{host: codex.Host, events: codexEvents, asks: string(codex.PreToolUse)}

// codexEvents are the hooks that we install. Those that ask can block; the
// others keep the record and must never be in the way.
func codexEvents(h Hook) []event {
	var list []event
	for _, e := range []codex.Event{codex.PreToolUse, codex.PermissionRequest, codex.PostToolUse, codex.SessionStart, codex.SessionEnd} {
		own := codexHandler{Type: "command", Command: h.line(codex.Host), Timeout: int(e.Timeout() / time.Second)}
		if e.Asks() {
			own.Command, own.StatusMessage = h.watched(codex.Host), StatusMessage
		}
		list = append(list, event{string(e), codexGroup{[]codexHandler{own}}})
	}
	return list
}
