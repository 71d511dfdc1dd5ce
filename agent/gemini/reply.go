package gemini

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/present"
)

// reply is the answer to BeforeTool. It is flat: of the nested form that other
// hosts take, the host reads only the arguments.
type reply struct {
	Decision string    `json:"decision"`
	Reason   string    `json:"reason,omitempty"`
	Message  string    `json:"systemMessage,omitempty"` // for the person at the host
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event Event      `json:"hookEventName"`
	Input sayso.Args `json:"tool_input"`
}

// Told is what the gate needs to know of the run.
func (h Hook) Told() agent.Told {
	t := agent.Told{Session: h.Session, Call: h.Call, OwnScreen: h.Call.Known().OwnScreen, CanEdit: true}
	switch h.Event {
	case SessionStart:
		t.Moment = agent.Begin
	case SessionEnd:
		t.Moment = agent.End
	}
	return t
}

// NoOpinion leaves a call to the host.
func NoOpinion() agent.Answer { return agent.Answer{} }

// Reply is the answer to BeforeTool. Everything but a decision that allows is a
// denial with words for the model; see sayso.Told. An allow gives edited
// arguments back together with the words that were taken out of them.
func (h Hook) Reply(d sayso.Decision, err error) agent.Answer {
	return agent.Reply(d, err, h.Said, allow, Deny)
}

func allow(edited sayso.Args, note string) any {
	r := reply{Decision: "allow", Message: note}
	if len(edited) > 0 {
		r.Specific = &specific{BeforeTool, edited}
	}
	return r
}

// Deny is a denial, said in each of the ways that the host listens to.
func Deny(reason string) agent.Answer {
	return agent.Deny(reason, func(words string) any { return reply{Decision: "deny", Reason: words} })
}

// shapes are the arguments that a person is shown as more than arguments.
var shapes = map[string]present.Shape{
	"write_file": {Content: "content"},
	"replace":    {Old: "old_string", New: "new_string", All: "allow_multiple", Breaks: true},
}

// Present makes what a person is shown of a call.
func Present(c sayso.Call, f sayso.Facts, content present.Content) sayso.Presentation {
	return shapes[c.Tool].Present(c, f, content)
}
