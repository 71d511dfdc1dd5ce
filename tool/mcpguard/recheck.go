package mcpguard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/enforce"
	"github.com/sayso-dev/sayso/tool"
)

// recheckGate is a gate that looks once more before it lets a receipt be redeemed.
// What must not run any more is withdrawn, and nothing is spent.
type recheckGate struct {
	sayso.Gate
	recheck  func(context.Context, sayso.Call, sayso.Decision) error
	decision sayso.Decision // the newest
}

// Admit implements [sayso.Gate].
func (l *recheckGate) Admit(ctx context.Context, a sayso.Admission) (sayso.Decision, error) {
	d, err := l.Gate.Admit(ctx, a)
	l.decision = d
	return d, err
}

// Redeem implements [sayso.Gate].
func (l *recheckGate) Redeem(ctx context.Context, r sayso.Receipt, c sayso.Call) error {
	if err := l.recheck(ctx, c, l.decision); err != nil {
		ctx, cancel := enforce.Late(ctx)
		defer cancel()
		_ = l.Gate.Withdraw(ctx, l.decision.Request, "it is not what was allowed any more") // else it lapses by itself
		return err
	}
	return l.Gate.Redeem(ctx, r, c)
}

// recheck reports a tool that is not the one any more that was judged, and
// arguments of a person that it does not take.
func (a *guardedCall) recheck(ctx context.Context, c sayso.Call, d sayso.Decision) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now, err := definitionOf(ctx, a.request, a.next)
	if err != nil || now.digest != a.definition.digest {
		return fmt.Errorf("%w: the definition of the tool changed", sayso.ErrVoided)
	}
	if len(d.Args) == 0 {
		return nil
	}
	if err := a.definition.takes(c.Args); err != nil {
		return enforce.Unfit(d, err)
	}
	return nil
}

// isAbandoned reports whether nobody will ever ask for a call again that was not
// decided: the client cancelled it, or its session has ended with it.
func (a *guardedCall) isAbandoned(ctx context.Context) bool {
	if ctx.Err() == nil {
		return false
	}
	return a.o.Session == nil || errors.Is(context.Cause(ctx), context.Canceled)
}

// withdraw takes back what was asked.
func (a *guardedCall) withdraw(ctx context.Context, d sayso.Decision, err error) {
	enforce.TakeBack(ctx, a.gate, d, err, "the client cancelled the call", func(ctx context.Context) (sayso.Decision, error) {
		never := &recheckGate{Gate: a.gate, recheck: func(context.Context, sayso.Call, sayso.Decision) error { return context.Canceled }}
		_, err := tool.Run(ctx, never, a.admission(time.Nanosecond), func(context.Context, sayso.Call) (mcp.Result, error) { return nil, context.Canceled })
		return never.decision, err
	})
}
