package claudecode

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// DrivenTimeout is how long the host waits for whoever drives it before a call, which
// is then blocked: nearly as long as its timers go, 2^31-1 milliseconds. A longer one
// would end at once.
const DrivenTimeout = 24 * 24 * time.Hour

// Hooks is how the host is told which hooks whoever drives it wants to hear of:
// every call before it is made, which is blocked if it is not answered, and how
// calls ended.
func Hooks(id string) []byte {
	hook := func(event Event) any {
		h := map[string]any{"matcher": "*", "hookCallbackIds": []string{string(event)}, "timeout": int(agent.RecordTimeout.Seconds())}
		if event == PreToolUse {
			h["onFailure"], h["timeout"] = "block", int(DrivenTimeout.Seconds())
		}
		return []any{h}
	}
	return control("control_request", id, "request", map[string]any{"subtype": "initialize", "hooks": map[Event]any{
		PreToolUse: hook(PreToolUse), PostToolUse: hook(PostToolUse), PostToolUseFailure: hook(PostToolUseFailure),
	}})
}

// Before is the answer to the hook of the control protocol before a call. A denial
// there stands, whatever other hooks, rules and modes say. What is allowed is asked
// about once more, so that what would run is seen when nobody changes it any more;
// changes are given to the host here already, for one that lets it run unasked then.
func (h Hook) Before(d sayso.Decision, err error) []byte {
	if err != nil || !d.Allowed() {
		return refuseBefore(sayso.Told(d, err))
	}
	s := specific{Event: PreToolUse, Effect: "ask", Reason: "sayso"}
	if len(d.Args) > 0 {
		if s.Updated, err = h.Said.Join(d.Args); err != nil {
			return refuseBefore(sayso.Told(sayso.Decision{}, err))
		}
	}
	text, err := jcs.Marshal(reply{s})
	if err != nil {
		return refuseBefore(sayso.Told(sayso.Decision{}, err))
	}
	return text
}

// RefuseBefore is a denial there, with words for the model.
func (Hook) RefuseBefore(reason string) []byte { return refuseBefore(reason) }

func refuseBefore(reason string) []byte {
	text, err := jcs.Marshal(reply{specific{Event: PreToolUse, Effect: "deny", Reason: agent.Words(reason)}})
	if err != nil { // the words are no text
		return []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`)
	}
	return text
}

// offVariables are those by which Claude Code calls no hooks, or asks nobody.
var offVariables = []string{"CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_EVEN_MORE_DANGEROUSLY_SKIP_PERMISSIONS"}

// OffVariable reports whether a variable of the surroundings takes the hooks away by
// which a host is driven: --bare, as a variable, and others like it.
func OffVariable(name string) bool { return slices.Contains(offVariables, strings.ToUpper(name)) }

// AskSettings asks the host for the settings that it has read, of all places.
func AskSettings(id string) []byte {
	return control("control_request", id, "request", map[string]any{"subtype": "get_settings"})
}

// Settings is what of a host's settings matters to whoever drives it.
type Settings struct {
	// Off are the variables that take the hooks away, and where they are set.
	Off []string
	// Before are the commands of hooks that are called before a tool.
	Before []string
}

// settings are those of one place, or of all.
type settings struct {
	Env   map[string]any `json:"env"`
	Hooks map[string][]struct {
		Hooks []struct {
			Command string `json:"command"`
		} `json:"hooks"`
	} `json:"hooks"`
}

// ParseSettings reads the answer to AskSettings.
func ParseSettings(answer []byte) (Settings, error) {
	var a struct {
		Effective *settings `json:"effective"`
		Sources   []struct {
			Source   string   `json:"source"`
			Settings settings `json:"settings"`
		} `json:"sources"`
	}
	if err := jcs.UnmarshalLenient(answer, &a); err != nil || a.Effective == nil {
		return Settings{}, fmt.Errorf("%w: the settings that the host tells of cannot be read", sayso.ErrInvalid)
	}
	s := Settings{Off: a.Effective.off("its settings")}
	for _, group := range a.Effective.Hooks[string(PreToolUse)] {
		for _, h := range group.Hooks {
			s.Before = append(s.Before, h.Command)
		}
	}
	var named []string // in a place that can be said
	for _, from := range a.Sources {
		named = append(named, from.Settings.off(from.Source)...)
	}
	if len(named) > 0 {
		s.Off = named
	}
	return s, nil
}

// off are the variables that are set in the settings of a place, whatever to.
func (s *settings) off(place string) (found []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if OffVariable(name) {
			found = append(found, fmt.Sprintf("%s (env in %s)", name, place))
		}
	}
	return found
}
