package agent

import (
	"time"

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

// How long a host waits for our hooks, as they are installed, before it ends them.
// A hook must be done sooner.
const (
	AskTimeout    = time.Hour        // for the one that asks
	RecordTimeout = 10 * time.Second // for those that only record
)

// Timeout is how long a host waits for a hook that asks, or for one that only
// records.
func Timeout(asks bool) time.Duration {
	if asks {
		return AskTimeout
	}
	return RecordTimeout
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
