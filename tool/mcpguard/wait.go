package mcpguard

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	heartbeat = 15 * time.Second
	// waiting is what the client is told while people are asked.
	waiting = "waiting for a person to answer"
	// step is how far each notice comes. Progress may never go back, and what the
	// handler reports later begins above this.
	step = 1e-6
)

// startProgress tells a client that gave a progress token from time to time that its call
// waits, until the returned function is called.
func (a *guardedCall) startProgress(ctx context.Context) (stop func()) {
	token := a.request.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		beat := time.NewTicker(heartbeat)
		defer beat.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-beat.C:
				_ = a.request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
					ProgressToken: token, Progress: float64(n) * step, Message: waiting,
				}) // a client that cannot be told finds out by the answer
			}
		}
	}()
	return sync.OnceFunc(func() { cancel(); <-ended })
}
