package antigravity

// Host is the name of this host in calls, and what our hook is told of who
// starts it.
const Host = "antigravity"
