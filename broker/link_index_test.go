package broker_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
)

// countingLog counts how often requests of the log are listed.
type countingLog struct {
	sayso.Log
	lists atomic.Int64
}

func (l *countingLog) Rows(ctx context.Context, q sayso.RowQuery) ([]sayso.Row, error) {
	l.lists.Add(1)
	return l.Log.Rows(ctx, q)
}

// However many calls came before, an allowed call lists none of them: neither at the
// hook of a host, nor at the gateway.
func TestLinkIndex_listsNothingTwice(t *testing.T) {
	hook := agent
	hook.Principal = "claude-code"
	for name, tt := range map[string]struct {
		who  sayso.Actor
		call func() sayso.Admission
		most int64
	}{
		"hook":    {hook, atHook, 0},
		"gateway": {later, atGateway, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, always(sayso.Allow), func(t *testing.T, w *harness) {
				log := &countingLog{Log: w.log}
				b, err := broker.New(log, w.rules, &w.opts)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { b.Close() })
				for n := range 50 {
					a := tt.call()
					a.Call.CallID, a.Call.Args = fmt.Sprint("toolu_", n), sayso.Args(fmt.Sprintf(`{"n":%d}`, n))
					if d, err := b.Gate(tt.who).Admit(t.Context(), a); err != nil || !d.Allowed() {
						t.Fatal(d, err)
					}
				}
				if n := log.lists.Load(); n > tt.most {
					t.Errorf("50 allowed calls listed requests %d times, which takes as long as everything else", n)
				}
			}, func(w *harness) { w.opts.MaxAsks = 1 << 30 })
		})
	}
}
