package install

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/sayso-dev/sayso/agent/codex"
	"github.com/sayso-dev/sayso/internal/codexapp"
)

var codexHost = Host{
	Name: codex.Host, Title: "Codex", Program: "codex", Update: "npm install -g @openai/codex",
	Oldest: codex.Oldest, Older: "was not tried with its hooks; %s was",
	Scopes: []Scope{ScopeUser, ScopeProject},
	Places: codexPlaces, Put: codexFormat.put, Take: codexFormat.take, Survey: codexFormat.survey, Doubt: codexDoubt, Off: codexOff, Wall: &codexWall,
}

// CodexAsks reports whether a hook, as Codex itself lists it, runs and is the one that
// asks before every tool, to the letter as h is written.
func CodexAsks(listed codexapp.Hook, h Hook) bool {
	return listed.Runs() && listed.Event == "preToolUse" && codexListed(listed, h) == ""
}

// CodexGate takes a hook that Codex lists for ours, and returns the folder of the gate
// that it asks and in what it is another than we would write it: empty if in nothing.
// ours is false for a hook that does not start ours, whatever names stand in it.
func CodexGate(listed codexapp.Hook) (state, differs string, ours bool) {
	words := unwatched(unquoted(listed.Command))
	if len(words) < 2 || filepath.Base(words[0]) != "sayso-hook" || words[1] != codex.Host {
		return "", "", false
	}
	h := Hook{Program: words[0], Place: words[2:]}
	if why := h.misplaced(); why != "" {
		return h.option("--state"), why, true
	}
	return h.option("--state"), codexListed(listed, h), true
}

// codexListed says in what a hook that Codex lists differs from the one that we write
// for its event; nothing if in nothing that counts.
func codexListed(listed codexapp.Hook, h Hook) string {
	var event codex.Event
	for _, e := range []codex.Event{codex.PreToolUse, codex.PermissionRequest} {
		if listed.Event == strings.ToLower(string(e[:1]))+string(e[1:]) {
			event = e
		}
	}
	switch {
	case event == "":
		return "its event is another"
	case listed.Command != h.watched(codex.Host):
		return "its command is another"
	case listed.Handler != "command":
		return "it is no command"
	case listed.Async:
		return "codex does not wait for it"
	case listed.Matcher != nil:
		return "it is for some tools alone"
	case listed.Environment != nil:
		return "it runs elsewhere"
	case listed.Seconds != int(event.Timeout()/time.Second):
		return "its timeout is another"
	}
	return ""
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
