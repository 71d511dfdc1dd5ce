package copilot

import "time"

// Host is the name of this host in calls, and what our hook is told of who
// starts it.
const Host = "copilot"

// How long this host waits for our hooks, as they are installed, before it ends
// them and goes on. A hook must be done sooner.
const (
	HookTimeout   = time.Hour        // for the one that asks
	RecordTimeout = 10 * time.Second // for those that only record
)

// Timeout is how long the host waits for the hook of an event.
func (e Event) Timeout() time.Duration {
	if e == PreToolUse {
		return HookTimeout
	}
	return RecordTimeout
}

// said are the fields that the model writes about its call and that do not
// change what runs.
var said = map[string][]string{
	"bash":       {"description"},
	"powershell": {"description"},
	"task":       {"description"},
}
