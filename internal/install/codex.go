package install

import (
	"bytes"
	"path/filepath"
	"time"

	"github.com/sayso-dev/sayso/agent/codex"
)

var codexHost = Host{
	Name: codex.Host, Title: "Codex", Program: "codex", Update: "npm install -g @openai/codex",
	Oldest: codex.Oldest, Older: "was not tried with its hooks; %s was",
	Scopes: []Scope{ScopeUser, ScopeProject},
	Places: codexPlaces, Put: codexFormat.put, Take: codexFormat.take, Survey: surveyCodex, Doubt: codexDoubt, Off: codexOff,
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

var codexFormat = format{host: codex.Host, events: codexEvents}

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

// surveyCodex reads what matters to us in a hooks.json. The hook is installed
// where it is asked before every tool.
func surveyCodex(settings []byte) (Survey, error) {
	var s Survey
	if len(bytes.TrimSpace(settings)) == 0 {
		return s, nil
	}
	root, err := codexFormat.object(settings)
	if err != nil {
		return s, err
	}
	for _, g := range elements(root.get("hooks").get(string(codex.PreToolUse))) {
		everything := stringOf(settings, g.get("matcher")) == "" || stringOf(settings, g.get("matcher")) == "*"
		for _, h := range elements(g.get("hooks")) {
			if program := codexFormat.program(settings, h); program != "" {
				s.Program, s.Installed = program, everything && !truth(settings, h.get("async"))
				continue
			}
			other := stringOf(settings, h.get("command"))
			if other == "" {
				other = stringOf(settings, h.get("type"))
			}
			s.OtherHooks = append(s.OtherHooks, other)
		}
	}
	return s, nil
}
