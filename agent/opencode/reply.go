package opencode

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/present"
)

// reply is what the plugin is told. It takes no other members than these, and no
// other decisions than allow, deny and none.
type reply struct {
	Decision string     `json:"decision"`
	Reason   string     `json:"reason,omitempty"`
	Args     sayso.Args `json:"args,omitempty"`
	Note     string     `json:"note,omitempty"` // for the model, with the result
}

// Told is what the gate needs to know of the run.
func (h Hook) Told() agent.Told {
	t := agent.Told{
		Session: h.Session, Workspace: h.Workspace, Call: h.Call, OwnScreen: h.Call.Known().OwnScreen, CanEdit: !readBefore[h.Call.Tool], Outcome: h.Outcome,
	}
	switch h.Event {
	case After:
		t.Moment = agent.After
	case SessionDeleted:
		t.Moment = agent.End
	}
	return t
}

// NoOpinion leaves a call to the host. The plugin is told so: of a hook that
// says nothing it knows only that it failed.
func NoOpinion() agent.Answer { return agent.Answer{Stdout: []byte(`{"decision":"none"}`)} }

// Reply is the answer before a call. Everything but a decision that allows is a
// denial with words for the model; see sayso.Told. An allow gives edited
// arguments back together with the words that were taken out of them.
func (h Hook) Reply(d sayso.Decision, err error) agent.Answer {
	if err == nil && d.Allowed() && readBefore[h.Call.Tool] && len(d.Args) > 0 {
		return Deny("the gate cannot hand edited arguments to this tool of opencode")
	}
	return agent.Reply(d, err, h.Said, allow, Deny)
}

func allow(edited sayso.Args, note string) any {
	return reply{Decision: "allow", Args: edited, Note: note}
}

// Deny is a denial: the plugin throws its words. Without them the exit status
// denies.
func Deny(reason string) agent.Answer {
	return agent.Deny(reason, func(words string) any { return reply{Decision: "deny", Reason: words} })
}

// shapes are the arguments that a person is shown as more than arguments.
var shapes = map[string]present.Shape{
	"write": {Content: "content"},
	"edit":  {Old: "oldString", New: "newString", All: "replaceAll", Breaks: true},
}

// Present makes what a person is shown of a call.
func Present(c sayso.Call, f sayso.Facts, content present.Content) sayso.Presentation {
	return shapes[c.Tool].Present(c, f, content)
}
