package claudecode

import (
	"time"

	"github.com/sayso-dev/sayso/agent"
)

// Host is the name of this host in calls, and what our hook is told of who
// starts it.
const Host = "claude-code"

// LeaveTimeout is how long this host waits for the last hook of a session, on its
// way out.
const LeaveTimeout = 5 * time.Second

// Timeout is how long the host waits for the hook of an event.
func (e Event) Timeout() time.Duration {
	if e == SessionEnd {
		return LeaveTimeout
	}
	return agent.Timeout(e == PreToolUse || e == PermissionRequest)
}

// Oldest is the first release that has onFailure: block on a handler.
const Oldest = "2.1.295"

// said are the fields that the model writes about its call and that do not
// change what runs. They are shown as the agent's words, and are not part of
// the call's digest: the same command under another description is the same
// call.
var said = map[string][]string{
	"Bash":       {"description"},
	"PowerShell": {"description"},
	"Monitor":    {"description"},
	"Agent":      {"description"},
	"Task":       {"description"},
}

// asking are fields that are known, and that a rule for the tool does not
// cover: a call that has one is asked about.
var asking = map[string][]string{
	"Bash":       {"dangerouslyDisableSandbox"},
	"PowerShell": {"dangerouslyDisableSandbox"},
	"Monitor":    {"ws"},
}
