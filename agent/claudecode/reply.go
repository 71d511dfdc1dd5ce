package claudecode

import (
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// maxReason is below the 10,000 characters at which the host cuts texts.
const maxReason = 9000

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
		return h.permit(d, err)
	}
	if err != nil || !d.Allowed() {
		return Deny(sayso.Told(d, err))
	}
	s := specific{Event: PreToolUse, Effect: "allow"}
	if len(d.Args) > 0 {
		if s.Updated, err = h.Said.Join(d.Args); err != nil {
			return Deny(sayso.Told(sayso.Decision{}, err))
		}
		s.Reason = agent.Edited(d)
	}
	text, err := jcs.Marshal(reply{s})
	if err != nil {
		return Deny(sayso.Told(sayso.Decision{}, err))
	}
	return agent.Answer{Stdout: text}
}

// permit is the answer to PermissionRequest, where nothing but the JSON counts: an
// exit status other than 0 would leave the question to the host's own prompt.
func (h Hook) permit(d sayso.Decision, err error) agent.Answer {
	r := ruling{Behavior: "allow"}
	if err == nil && d.Allowed() && len(d.Args) > 0 {
		r.Updated, err = h.Said.Join(d.Args)
	}
	if err != nil || !d.Allowed() {
		r = ruling{Behavior: "deny", Message: agent.Words(sayso.Told(d, err), maxReason)}
	}
	text, err := jcs.Marshal(reply{permitted{PermissionRequest, r}})
	if err != nil {
		return Deny(sayso.Told(sayso.Decision{}, err))
	}
	return agent.Answer{Stdout: text}
}

// Deny is a denial, said in each of the ways that the host listens to.
func Deny(reason string) agent.Answer {
	reason = agent.Words(reason, maxReason)
	text, err := jcs.Marshal(reply{specific{Event: PreToolUse, Effect: "deny", Reason: reason}})
	if err != nil {
		text = nil // the exit status and standard error deny by themselves
	}
	return agent.Answer{Stdout: text, Stderr: reason, Exit: 2}
}
