package claude

import (
	"fmt"
	"maps"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso/internal/jcs"
)

// Hook is one command hook of the host's settings, for every tool.
type Hook struct {
	Event     string   // for example "PreToolUse"
	Command   string   // started without a shell
	Args      []string // never nil to the host, which would use a shell
	Timeout   int      // seconds; the host's own default if zero
	OnFailure string   // "block", or nothing for the host's default
	Status    string   // statusMessage; nothing if empty
}

// Shell is a PreToolUse hook that runs script and blocks the call on failure,
// as an installed gate is.
func Shell(script string) Hook {
	return Hook{Event: "PreToolUse", Command: "/bin/sh", Args: []string{"-c", script}, Timeout: 10, OnFailure: "block"}
}

// Settings is the JSON of a settings file with hooks. Extra holds further
// top-level members as a JSON object; nothing if empty.
func Settings(extra string, hooks ...Hook) string {
	events := map[string][]any{}
	for _, h := range hooks {
		group := map[string]any{"matcher": "*", "hooks": []any{h.handler()}}
		events[h.Event] = append(events[h.Event], group)
	}
	all := map[string]any{}
	if extra != "" {
		var more map[string]jsontext.Value
		if err := jcs.Unmarshal([]byte(extra), &more); err != nil {
			panic(fmt.Sprintf("settings: extra is not a JSON object: %v", err))
		}
		for name, v := range maps.All(more) {
			all[name] = v
		}
	}
	all["hooks"] = events
	b, err := jcs.Marshal(all)
	if err != nil {
		panic(fmt.Sprintf("settings: %v", err)) // strings and numbers only
	}
	return string(b)
}

func (h Hook) handler() map[string]any {
	m := map[string]any{"type": "command", "command": h.Command, "args": append([]string{}, h.Args...)}
	if h.Timeout != 0 {
		m["timeout"] = h.Timeout
	}
	if h.OnFailure != "" {
		m["onFailure"] = h.OnFailure
	}
	if h.Status != "" {
		m["statusMessage"] = h.Status
	}
	return m
}
