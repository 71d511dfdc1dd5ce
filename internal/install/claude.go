package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sayso-dev/sayso/agent/claudecode"
	"github.com/sayso-dev/sayso/internal/jcs"
)

var claudeCode = Host{
	Name: claudecode.Host, Title: "Claude Code", Program: "claude", Update: "claude update",
	Oldest: claudecode.Oldest, Older: "runs a call when its hook fails; %s is the first that does not",
	Scopes: []Scope{ScopeUser, ScopeProject, ScopeLocal},
	Places: ClaudePlaces, Put: Claude, Take: Unclaude, Survey: SurveyClaude, Doubt: claudeDoubt, Wall: &claudeWall,
}

// StatusMessage is what a host shows while our hook waits.
const StatusMessage = "sayso waits: run sayso watch"

// handler is one hook in Claude Code's settings.
type handler struct {
	Type          string   `json:"type"`
	Command       string   `json:"command"`
	Args          []string `json:"args"`
	Timeout       int      `json:"timeout"` // in seconds
	OnFailure     string   `json:"onFailure,omitzero"`
	StatusMessage string   `json:"statusMessage,omitzero"`
}

type group struct {
	Matcher string    `json:"matcher,omitzero"`
	Hooks   []handler `json:"hooks"`
}

var claudeFormat = format{host: claudecode.Host, events: claudeEvents, asks: string(claudecode.PreToolUse)}

// Claude returns Claude Code's settings with our hooks in them.
func Claude(settings []byte, hook Hook) ([]byte, error) { return claudeFormat.put(settings, hook) }

// Unclaude returns Claude Code's settings without any hook of ours.
func Unclaude(settings []byte) ([]byte, error) { return claudeFormat.take(settings) }

// claudeEvents are the hooks that we install. Only the first can block, and in the
// place of the host's prompt it is a second answer beside it; the others keep the
// record and must never be in the way.
func claudeEvents(h Hook) []event {
	var list []event
	asks := claudecode.PreToolUse
	if h.Prompts {
		asks = claudecode.PermissionRequest
	}
	for _, e := range []struct {
		name    claudecode.Event
		matcher string
	}{
		{asks, "*"}, {claudecode.PostToolUse, "*"}, {claudecode.PostToolUseFailure, "*"},
		{claudecode.SessionStart, ""}, {claudecode.SessionEnd, ""},
	} {
		list = append(list, event{string(e.name), group{e.matcher, []handler{claudeHandler(h, e.name)}}})
	}
	return list
}

// claudeHandler is our hook for an event.
func claudeHandler(h Hook, e claudecode.Event) handler {
	own := handler{
		Type: "command", Command: h.Program, Args: append([]string{claudecode.Host}, h.Place...), Timeout: int(e.Timeout() / time.Second),
	}
	if e == claudecode.PreToolUse || e == claudecode.PermissionRequest {
		own.OnFailure, own.StatusMessage = "block", StatusMessage
	}
	return own
}

// ClaudePlaces lists the settings files that count for somebody who starts
// Claude Code in a directory, the strongest last. They need not exist.
func ClaudePlaces(getenv func(string) string, dir string) []Place {
	config := getenv("CLAUDE_CONFIG_DIR")
	if config == "" {
		config = filepath.Join(getenv("HOME"), ".claude")
	}
	managed := "/etc/claude-code/managed-settings.json"
	if st, err := os.Stat("/Library/Application Support"); err == nil && st.IsDir() {
		managed = "/Library/Application Support/ClaudeCode/managed-settings.json"
	}
	places := []Place{
		{ScopeUser, filepath.Join(config, "settings.json")},
		{ScopeProject, filepath.Join(dir, ".claude", "settings.json")},
		{ScopeLocal, filepath.Join(dir, ".claude", "settings.local.json")},
		{ScopeManaged, managed},
	}
	if places[1].Path == places[0].Path { // in the home folder they are one file
		places = slices.Delete(places, 1, 2)
	}
	return places
}

// ClaudeTrusts reports whether the person told Claude Code that they trust a
// project. Hooks of a project that is not trusted do not run in interactive
// sessions.
func ClaudeTrusts(getenv func(string) string, project string) (bool, error) {
	dir := getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = getenv("HOME")
	}
	text, err := Read(filepath.Join(dir, ".claude.json"))
	if err != nil || len(text) == 0 {
		return false, err
	}
	var state struct {
		Projects map[string]struct {
			Trusted bool `json:"hasTrustDialogAccepted"`
		} `json:"projects"`
	}
	if err := jcs.UnmarshalLenient(text, &state); err != nil {
		return false, err
	}
	return state.Projects[project].Trusted, nil
}

// claudeDoubt is why an interactive session does not start the hook of a
// project: nobody said yet that they trust it.
func claudeDoubt(getenv func(string) string, p Place) *Doubt {
	if p.Scope != ScopeProject && p.Scope != ScopeLocal {
		return nil
	}
	project := filepath.Dir(filepath.Dir(p.Path))
	if trusted, err := ClaudeTrusts(getenv, project); err == nil && trusted {
		return nil
	}
	return &Doubt{
		Why:  fmt.Sprintf("claude does not trust %s yet, so in an interactive session the hook in %s does not run", project, p.Path),
		Type: "claude, in " + project,
	}
}
