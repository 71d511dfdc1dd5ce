package antigravity

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// reply is the answer to PreToolUse.
type reply struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
}

// allow is the only answer that lets a call run.
const allow = `{"decision":"allow"}`

// Told is what the gate needs to know of the run.
func (h Hook) Told() agent.Told {
	return agent.Told{Session: h.Call.Session, Workspace: h.Workspace, Call: h.Call, OwnScreen: h.Call.Known().OwnScreen}
}

// NoOpinion leaves a call to the host, in which no opinion is no answer at all.
func NoOpinion() agent.Answer { return agent.Answer{} }

// Reply is the answer to PreToolUse. Everything but a decision that allows the
// call as it was made is a denial with words for the model; see sayso.Told.
func (h Hook) Reply(d sayso.Decision, err error) agent.Answer {
	if err == nil && len(d.Args) > 0 {
		err = sayso.ErrUnavailable // it was said that this host takes no edit
	}
	if err != nil || !d.Allowed() {
		return Deny(sayso.Told(d, err))
	}
	return agent.Answer{Stdout: []byte(allow)}
}

// Deny is a denial. The host reads JSON alone.
func Deny(reason string) agent.Answer {
	reason = agent.Words(reason)
	text, err := jcs.Marshal(reply{Decision: "deny", Reason: reason})
	if err != nil {
		text = []byte(`{"decision":"deny"}`)
	}
	return agent.Answer{Stdout: text}
}

// shapes are the arguments that a person is shown as more than arguments.
var shapes = map[string]present.Shape{
	"write_to_file": {Content: "CodeContent"},
}

// Present makes what a person is shown of a call.
func Present(c sayso.Call, f sayso.Facts, content present.Content) sayso.Presentation {
	return shapes[c.Tool].Present(c, f, content)
}
