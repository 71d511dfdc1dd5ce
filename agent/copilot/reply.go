package copilot

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/present"
)

// reply is the answer to preToolUse. It is flat: the nested form that other
// hosts take is passed over, and the tool runs.
type reply struct {
	Decision string     `json:"permissionDecision"`
	Reason   string     `json:"permissionDecisionReason,omitempty"`
	Args     sayso.Args `json:"modifiedArgs,omitempty"`
}

// Told is what the gate needs to know of the run.
func (h Hook) Told() agent.Told {
	t := agent.Told{Session: h.Session, Call: h.Call, OwnScreen: h.Call.Known().OwnScreen, CanEdit: !h.Text}
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

// Reply is the answer to preToolUse. Everything but a decision that allows is a
// denial with words for the model; see sayso.Told. An allow gives edited
// arguments back together with the words that were taken out of them.
func (h Hook) Reply(d sayso.Decision, err error) agent.Answer {
	if err == nil && d.Allowed() && h.Text && len(d.Args) > 0 {
		return Deny("the gate cannot hand an edited patch to this host")
	}
	return agent.Reply(d, err, h.Said, allow, Deny)
}

func allow(edited sayso.Args, note string) any {
	return reply{Decision: "allow", Args: edited, Reason: note}
}

// Deny is a denial, said in each of the ways that the host listens to.
func Deny(reason string) agent.Answer {
	return agent.Deny(reason, func(words string) any { return reply{Decision: "deny", Reason: words} })
}

// shapes are the arguments that a person is shown as more than arguments.
var shapes = map[string]present.Shape{
	"create":     {Content: "file_text"},
	"edit":       {Old: "old_str", New: "new_str"},
	"powershell": {Language: "powershell"},
}

// Present makes what a person is shown of a call.
func Present(c sayso.Call, f sayso.Facts, content present.Content) sayso.Presentation {
	return shapes[c.Tool].Present(c, f, content)
}
