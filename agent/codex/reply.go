package codex

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// preToolUse is the reply to PreToolUse.
type preToolUse struct {
	Event   Event      `json:"hookEventName"`
	Effect  string     `json:"permissionDecision"`
	Reason  string     `json:"permissionDecisionReason,omitempty"`
	Updated sayso.Args `json:"updatedInput,omitempty"`
	Context string     `json:"additionalContext,omitempty"`
}

// permissionRequest is the reply to PermissionRequest.
type permissionRequest struct {
	Event    Event    `json:"hookEventName"`
	Decision behavior `json:"decision"`
}

type behavior struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

type reply struct {
	Specific any `json:"hookSpecificOutput"`
}

// Told is what the gate needs to know of the run.
func (h Hook) Told() agent.Told {
	t := agent.Told{Session: h.Session, Call: h.Call, Outcome: h.Outcome, CanEdit: h.Event == PreToolUse}
	t.OwnScreen = h.Event == PreToolUse && h.Call.Known().OwnScreen
	switch h.Event {
	case PostToolUse:
		t.Moment = agent.After
	case SessionStart:
		t.Moment = agent.Begin
	case SessionEnd:
		t.Moment = agent.End
	}
	return t
}

// NoOpinion leaves a call to the host. Before a tool it is also how an allow is
// said that changes nothing.
func NoOpinion() agent.Answer { return agent.Answer{} }

// Reply is the answer where the host asks. Everything but a decision that allows
// is a denial with words for the model; see sayso.Told.
func (h Hook) Reply(d sayso.Decision, err error) agent.Answer {
	if err != nil || !d.Allowed() {
		return h.deny(sayso.Told(d, err))
	}
	if h.Event == PermissionRequest {
		if len(d.Args) > 0 { // it was not offered: the host takes none here
			return h.deny(sayso.Told(sayso.Decision{}, sayso.ErrMismatch))
		}
		return h.say(permissionRequest{h.Event, behavior{Behavior: "allow"}})
	}
	if len(d.Args) == 0 {
		return NoOpinion()
	}
	return h.say(preToolUse{Event: h.Event, Effect: "allow", Updated: d.Args, Context: agent.Edited(d)})
}

// say is a reply that lets a call run.
func (h Hook) say(specific any) agent.Answer {
	text, err := jcs.Marshal(reply{specific})
	if err != nil {
		return h.deny(sayso.Told(sayso.Decision{}, err))
	}
	return agent.Answer{Stdout: text}
}

// deny is a denial in the words of the event and in those of [Deny].
func (h Hook) deny(reason string) agent.Answer {
	a := Deny(reason)
	var specific any = preToolUse{Event: h.Event, Effect: "deny", Reason: a.Stderr}
	if h.Event == PermissionRequest {
		specific = permissionRequest{h.Event, behavior{"deny", a.Stderr}}
	}
	if text, err := jcs.Marshal(reply{specific}); err == nil { // else the exit status denies by itself
		a.Stdout = text
	}
	return a
}

// Deny is a denial of which it is not known what was asked: exit status 2 with
// words on standard error, which blocks whatever is printed.
func Deny(reason string) agent.Answer {
	return agent.Answer{Stderr: agent.Words(reason), Exit: 2}
}
