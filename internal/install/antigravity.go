package install

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/agent/antigravity"
)

var antigravityHost = Host{
	Name: antigravity.Host, Title: "Antigravity",
	Scopes: []Scope{ScopeUser, ScopeProject}, Places: antigravityPlaces,
	Put: antigravityFormat.put, Take: antigravityFormat.take, Survey: antigravityFormat.survey,
}

// antigravityPlaces are the files of hooks that Antigravity's CLI reads. Some
// releases read only those of plugins.
func antigravityPlaces(getenv func(string) string, dir string) []Place {
	return []Place{
		{ScopeUser, filepath.Join(getenv("HOME"), ".gemini", "config", "hooks.json")},
		{ScopeProject, filepath.Join(dir, ".agents", "hooks.json")},
	}
}

// antigravityHandler is one hook in a file of Antigravity's. A member too many
// would cost all hooks of the file.
type antigravityHandler struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // in seconds
}

type antigravityGroup struct {
	Matcher string               `json:"matcher"`
	Hooks   []antigravityHandler `json:"hooks"`
}

var antigravityFormat = format{
	host: antigravity.Host, root: "sayso", events: antigravityEvents,
	asks: "PreToolUse",
}

func antigravityEvents(h Hook) []event {
	last := fmt.Sprintf(lastJSON, `{"decision":"deny","reason":"`+hookFailed+`"}`)
	own := antigravityHandler{
		Type: "command", Command: h.guarded(antigravity.Host, last), Timeout: int(agent.AskTimeout / time.Second),
	}
	return []event{{"PreToolUse", antigravityGroup{"*", []antigravityHandler{own}}}}
}
