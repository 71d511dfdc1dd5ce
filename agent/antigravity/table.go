package antigravity

import "time"

// Host is the name of this host in calls, and what our hook is told of who
// starts it.
const Host = "antigravity"

// HookTimeout is how long this host waits for our hook, as it is installed,
// before it ends it. A hook must be done sooner.
const HookTimeout = time.Hour
