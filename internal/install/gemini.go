package install

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/sayso-dev/sayso/agent/gemini"
)

var geminiHost = Host{
	Name: gemini.Host, Title: "Gemini CLI", Program: "gemini", Update: "npm install -g @google/gemini-cli",
	Oldest: "0.61.0", Older: "was never run with this gate; %s is the first that was",
	Scopes: []Scope{ScopeUser, ScopeProject}, Places: geminiPlaces,
	Put: geminiFormat.put, Take: geminiFormat.take, Survey: geminiFormat.survey, Off: geminiOff, Wall: &geminiWall,
}

// geminiPlaces are the files of settings that Gemini CLI reads.
func geminiPlaces(getenv func(string) string, dir string) []Place {
	person := getenv("GEMINI_CLI_HOME")
	if person == "" {
		person = getenv("HOME")
	}
	places := []Place{
		{ScopeUser, filepath.Join(person, ".gemini", "settings.json")},
		{ScopeProject, filepath.Join(dir, ".gemini", "settings.json")},
		{ScopeManaged, "/etc/gemini-cli/settings.json"},
	}
	if places[1].Path == places[0].Path { // in the home folder they are one file
		places = slices.Delete(places, 1, 2)
	}
	return places
}

// geminiName is what our hook is called in Gemini CLI's own lists, where it can
// be switched off by that name.
const geminiName = "sayso"

// geminiHandler is one hook in Gemini CLI's settings.
type geminiHandler struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Command string `json:"command"`
	Timeout int64  `json:"timeout"` // in milliseconds
}

type geminiGroup struct {
	Matcher string          `json:"matcher,omitzero"`
	Hooks   []geminiHandler `json:"hooks"`
}

var geminiFormat = format{
	host: gemini.Host, events: geminiEvents,
	asks: string(gemini.BeforeTool),
}

func geminiEvents(h Hook) []event {
	entry := func(e gemini.Event, matcher, line string) event {
		own := geminiHandler{Type: "command", Name: geminiName, Command: line, Timeout: int64(e.Timeout() / time.Millisecond)}
		return event{string(e), geminiGroup{matcher, []geminiHandler{own}}}
	}
	return []event{
		entry(gemini.BeforeTool, "*", h.guarded(gemini.Host, lastStatus)),
		entry(gemini.SessionStart, "", h.line(gemini.Host)),
		entry(gemini.SessionEnd, "", h.line(gemini.Host)),
	}
}
