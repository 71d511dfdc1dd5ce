package copilot

import (
	"time"

	"github.com/sayso-dev/sayso/agent"
)

// Host is the name of this host in calls, and what our hook is told of who
// starts it.
const Host = "copilot"

// Timeout is how long the host waits for the hook of an event.
func (e Event) Timeout() time.Duration { return agent.Timeout(e == PreToolUse) }

// said are the fields that the model writes about its call and that do not
// change what runs.
var said = map[string][]string{
	"bash":       {"description"},
	"powershell": {"description"},
	"task":       {"description"},
}
