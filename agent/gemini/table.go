package gemini

import (
	"time"

	"github.com/sayso-dev/sayso/agent"
)

// Host is the name of this host in calls, and what our hook is told of who
// starts it.
const Host = "gemini"

// Timeout is how long the host waits for the hook of an event.
func (e Event) Timeout() time.Duration { return agent.Timeout(e == BeforeTool) }

// said are the fields that the model writes about its call and that do not
// change what runs. What the model says of an edit is not among them: the host
// may hand it to a model that mends the edit.
var said = map[string][]string{
	"run_shell_command": {"description"},
}
