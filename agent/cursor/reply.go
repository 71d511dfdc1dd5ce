package cursor

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// reply is the answer to preToolUse. It is flat: the nested form that other
// hosts take is no answer here.
type reply struct {
	Permission string     `json:"permission"`
	ToUser     string     `json:"user_message,omitempty"`
	ToAgent    string     `json:"agent_message,omitempty"`
	Input      sayso.Args `json:"updated_input,omitempty"`
}

// Told is what the gate needs to know of the run.
func (h Hook) Told() agent.Told {
	t := agent.Told{Session: h.Session, Workspace: h.Workspace, Call: h.Call, OwnScreen: h.Call.Known().OwnScreen, CanEdit: true, Outcome: h.Outcome}
	switch h.Event {
	case PostToolUse, PostToolUseFailure:
		t.Moment = agent.After
	case SessionStart:
		t.Moment = agent.Begin
	case SessionEnd:
		t.Moment = agent.End
	}
	return t
}

// NoOpinion leaves a call to the host. It says allow: a hook that says nothing
// would block.
func NoOpinion() agent.Answer { return agent.Answer{Stdout: []byte(`{"permission":"allow"}`)} }

// Reply is the answer to preToolUse. Everything but a decision that allows is a
// denial with words for the model; see sayso.Told. An allow gives edited
// arguments back together with the words that were taken out of them.
func (h Hook) Reply(d sayso.Decision, err error) agent.Answer {
	return agent.Reply(d, err, h.Said, allow, Deny)
}

func allow(edited sayso.Args, note string) any {
	return reply{Permission: "allow", Input: edited, ToUser: note}
}

// Deny is a denial. Its words stand in both messages: which of them reaches the
// model was told in two ways.
func Deny(reason string) agent.Answer {
	reason = agent.Words(reason)
	text, err := jcs.Marshal(reply{Permission: "deny", ToAgent: reason, ToUser: reason})
	if err != nil {
		return agent.Answer{Stderr: reason, Exit: 2} // which blocks as well
	}
	return agent.Answer{Stdout: text}
}

// shapes are the arguments that a person is shown as more than arguments.
var shapes = map[string]present.Shape{
	"Write": {Content: "content"},
}

// Present makes what a person is shown of a call.
func Present(c sayso.Call, f sayso.Facts, content present.Content) sayso.Presentation {
	return shapes[c.Tool].Present(c, f, content)
}
