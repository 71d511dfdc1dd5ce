package install

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/agent/cursor"
)

var cursorHost = Host{
	Name: cursor.Host, Title: "Cursor",
	Scopes: []Scope{ScopeUser, ScopeProject}, Places: cursorPlaces,
	Put: cursorFormat.put, Take: cursorFormat.take, Survey: cursorFormat.survey,
}

// cursorPlaces are the files of hooks that Cursor reads.
func cursorPlaces(getenv func(string) string, dir string) []Place {
	places := []Place{
		{ScopeUser, filepath.Join(getenv("HOME"), ".cursor", "hooks.json")},
		{ScopeProject, filepath.Join(dir, ".cursor", "hooks.json")},
		{ScopeManaged, "/etc/cursor/hooks.json"},
	}
	if places[1].Path == places[0].Path { // in the home folder they are one file
		places = slices.Delete(places, 1, 2)
	}
	return places
}

// cursorHandler is one hook in a file of Cursor's.
type cursorHandler struct {
	Command    string `json:"command"`
	Timeout    int    `json:"timeout"` // in seconds
	FailClosed bool   `json:"failClosed,omitzero"`
}

var cursorFormat = format{
	host: cursor.Host, flat: true, blank: "{\n  \"version\": 1\n}", events: cursorEvents,
	asks: string(cursor.PreToolUse),
}

// cursorEvents are the hooks that we install. The one before every tool asks;
// those before a command and before a tool of a server would ask a second time
// about the same call.
func cursorEvents(h Hook) []event {
	last := fmt.Sprintf(lastJSON, `{"permission":"deny","user_message":"`+hookFailed+`","agent_message":"`+hookFailed+`"}`)
	list := []event{{string(cursor.PreToolUse), cursorHandler{
		Command: h.guarded(cursor.Host, last), Timeout: int(agent.AskTimeout / time.Second), FailClosed: true,
	}}}
	for _, e := range []cursor.Event{cursor.PostToolUse, cursor.PostToolUseFailure, cursor.SessionStart, cursor.SessionEnd} {
		list = append(list, event{string(e), cursorHandler{Command: h.line(cursor.Host), Timeout: int(e.Timeout() / time.Second)}})
	}
	return list
}
