package claudecode

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// specific is the reply to PreToolUse.
type specific struct {
	Event   Event      `json:"hookEventName"`
	Effect  string     `json:"permissionDecision"`
	Reason  string     `json:"permissionDecisionReason,omitempty"`
	Updated sayso.Args `json:"updatedInput,omitempty"`
}

type reply struct {
	Specific any `json:"hookSpecificOutput"`
}

// permitted is the reply to PermissionRequest.
type permitted struct {
	Event    Event  `json:"hookEventName"`
	Decision ruling `json:"decision"`
}

// Told is what the gate needs to know of the run.
func (h Hook) Told() agent.Told {
	t := agent.Told{Session: h.Session, Call: h.Call, OwnScreen: h.OwnScreen, CanEdit: true, Outcome: h.Outcome}
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

// NoOpinion leaves a call to the host.
func NoOpinion() agent.Answer { return agent.Answer{} }

// Reply is the answer where the host asks. Everything but a decision that allows is a
// denial with words for the model; see sayso.Told. An allow says nothing but
// yes, and gives edited arguments back together with the words that were taken
// out of them.
func (h Hook) Reply(d sayso.Decision, err error) agent.Answer {
	if h.Event == PermissionRequest {
		return agent.Reply(d, err, h.Said, permit, forbid)
	}
	return agent.Reply(d, err, h.Said, allow, Deny)
}

func allow(edited sayso.Args, note string) any {
	return reply{specific{Event: PreToolUse, Effect: "allow", Updated: edited, Reason: note}}
}

func permit(edited sayso.Args, _ string) any {
	return reply{permitted{PermissionRequest, ruling{Behavior: "allow", Updated: edited}}}
}

// forbid is a denial where nothing but the JSON counts: an exit status other than 0
// would leave the question to the host's own prompt.
func forbid(reason string) agent.Answer {
	text, err := jcs.Marshal(reply{permitted{PermissionRequest, ruling{Behavior: "deny", Message: agent.Words(reason)}}})
	if err != nil {
		return Deny(sayso.Told(sayso.Decision{}, err))
	}
	return agent.Answer{Stdout: text}
}

// Deny is a denial, said in each of the ways that the host listens to.
func Deny(reason string) agent.Answer {
	return agent.Deny(reason, func(words string) any {
		return reply{specific{Event: PreToolUse, Effect: "deny", Reason: words}}
	})
}
