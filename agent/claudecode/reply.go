package claudecode

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Answer is what a run of the hook ends with: one write to standard output,
// one to standard error, an exit status.
type Answer struct {
	Stdout []byte
	Stderr string
	Exit   int
}

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
	Specific specific `json:"hookSpecificOutput"`
}

// NoOpinion leaves a call to the host.
func NoOpinion() Answer { return Answer{} }

// Reply is the answer to PreToolUse. Everything but a decision that allows is a
// denial with words for the model; see sayso.Told. An allow says nothing but
// yes, and gives edited arguments back together with the words that were taken
// out of them.
func (h Hook) Reply(d sayso.Decision, err error) Answer {
	if err != nil || !d.Allowed() {
		return Deny(sayso.Told(d, err))
	}
	s := specific{Event: PreToolUse, Effect: "allow"}
	if len(d.Args) > 0 {
		if s.Updated, err = h.join(d.Args); err != nil {
			return Deny(sayso.Told(sayso.Decision{}, err))
		}
		s.Reason = "Allowed by " + d.Who() + " with edited arguments (ticket " + d.Request.Short() + ")"
	}
	text, err := jcs.Marshal(reply{s})
	if err != nil {
		return Deny(sayso.Told(sayso.Decision{}, err))
	}
	return Answer{Stdout: text}
}

// Deny is a denial, said in each of the ways that the host listens to.
func Deny(reason string) Answer {
	if reason == "" {
		reason = sayso.Told(sayso.Decision{}, sayso.ErrUnavailable)
	}
	if r := []rune(reason); len(r) > maxReason {
		reason = fmt.Sprintf("%s … [%d more characters]", string(r[:maxReason]), len(r)-maxReason)
	}
	text, err := jcs.Marshal(reply{specific{Event: PreToolUse, Effect: "deny", Reason: reason}})
	if err != nil {
		text = nil // the exit status and standard error deny by themselves
	}
	return Answer{Stdout: text, Stderr: reason, Exit: 2}
}

// join puts the model's words back among edited arguments.
func (h Hook) join(args sayso.Args) (sayso.Args, error) {
	out, err := without(args, nil, nil)
	if err != nil {
		return nil, err
	}
	out = out[:len(out)-1]
	for _, name := range slices.Sorted(maps.Keys(h.Said)) {
		if out, err = appendMember(out, name, h.Said[name]); err != nil {
			return nil, err
		}
	}
	out = append(out, '}')
	_, err = jcs.Object(out)
	return out, err
}
