package sayso

import (
	"context"
	"time"
)

// Elicits puts a question to the person who sits at the client that made a call, by
// way of that client, where policy permits it. A broker does; a client of one does
// not, since who sits there it cannot know.
type Elicits interface {
	// Elicitable waits until a call is in the log, and is its request and all that
	// may be shown of it, if it may be answered by way of the client.
	Elicitable(ctx context.Context, by Actor, session, callID string) (Request, RequestedFull, error)
	// Elicited records what that person answered, so long after being asked.
	Elicited(ctx context.Context, by Actor, r Request, effect Effect, note string, took time.Duration) (Decision, error)
}
