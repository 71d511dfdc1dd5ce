package agent

import (
	"fmt"

	"github.com/sayso-dev/sayso"
)

// Moment says when a hook runs. The zero Moment is before a call: a hook that
// does not know better decides.
type Moment uint8

// The moments.
const (
	Before Moment = iota // a call is about to be made and waits for the answer
	After                // a call ended
	Begin                // a session began
	End                  // a session ended
)

// Told is what one run of a hook was told, in our words.
type Told struct {
	Moment  Moment
	Session string
	// Workspace is the folder that the host works in, if it says so with the call.
	Workspace string
	// Call is the call that is about to be made.
	Call sayso.Call
	// OwnScreen says that the tool is itself a question to the person at the
	// host: no opinion is the right answer.
	OwnScreen bool
	// CanEdit says that the host takes other arguments than it asked about.
	CanEdit bool
	// Outcome tells how a call ended.
	Outcome sayso.Outcome
}

// Hook is one run of a host's hook, as its input was read.
type Hook interface {
	Told() Told
	// Reply is the answer of a hook that runs before a call. Everything but a
	// decision that allows, without an error, is a denial with words for the
	// model; see sayso.Told.
	Reply(d sayso.Decision, err error) Answer
}

// Answer is what a run of a hook ends with: one write to standard output, one
// to standard error, an exit status.
type Answer struct {
	Stdout []byte
	Stderr string
	Exit   int
}

// Words are the words of a denial: never empty, which some hosts would take for
// a hook that failed, and of no more than limit characters, if that is not 0.
func Words(reason string, limit int) string {
	if reason == "" {
		reason = sayso.Told(sayso.Decision{}, sayso.ErrUnavailable)
	}
	if r := []rune(reason); limit > 0 && len(r) > limit {
		reason = fmt.Sprintf("%s … [%d more characters]", string(r[:limit]), len(r)-limit)
	}
	return reason
}

// Edited are the words of an allow with other arguments than were asked about.
func Edited(d sayso.Decision) string {
	return "Allowed by " + d.Who() + " with edited arguments (ticket " + d.Request.Short() + ")"
}
