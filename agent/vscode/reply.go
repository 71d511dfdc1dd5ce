package vscode

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/present"
)

// reply is the answer to PreToolUse.
type reply struct {
	Specific specific `json:"hookSpecificOutput"`
}

type specific struct {
	Event   Event      `json:"hookEventName"`
	Effect  string     `json:"permissionDecision"`
	Reason  string     `json:"permissionDecisionReason,omitempty"`
	Updated sayso.Args `json:"updatedInput,omitempty"`
}

// Told is what the gate needs to know of the run.
func (h Hook) Told() agent.Told {
	t := agent.Told{Session: h.Session, Call: h.Call, OwnScreen: h.Call.Known().OwnScreen, CanEdit: true, Outcome: h.Outcome}
	switch h.Event {
	case PostToolUse:
		t.Moment = agent.After
	case SessionStart:
		t.Moment = agent.Begin
	}
	return t
}

// NoOpinion leaves a call to the host.
func NoOpinion() agent.Answer { return agent.Answer{} }

// Reply is the answer to PreToolUse. Everything but a decision that allows is a
// denial with words for the model; see sayso.Told. An allow gives edited
// arguments back together with the words that were taken out of them.
func (h Hook) Reply(d sayso.Decision, err error) agent.Answer {
	return agent.Reply(d, err, h.Said, allow, Deny)
}

func allow(edited sayso.Args, note string) any {
	return reply{specific{Event: PreToolUse, Effect: "allow", Updated: edited, Reason: note}}
}

// Deny is a denial, said in each of the ways that the host listens to.
func Deny(reason string) agent.Answer {
	return agent.Deny(reason, func(words string) any {
		return reply{specific{Event: PreToolUse, Effect: "deny", Reason: words}}
	})
}

// shapes are the arguments that a person is shown as more than arguments.
var shapes = map[string]present.Shape{
	"create_file":            {Content: "content"},
	"replace_string_in_file": {Old: "oldString", New: "newString"},
}

// Present makes what a person is shown of a call.
func Present(c sayso.Call, f sayso.Facts, content present.Content) sayso.Presentation {
	return shapes[c.Tool].Present(c, f, content)
}
