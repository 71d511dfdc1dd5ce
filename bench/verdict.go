package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/sayso-dev/sayso"
)

// verdict measures how long a policy of a hundred rules takes to judge a call
// that is no line of shell.
func verdict(ctx context.Context, w *world, _ string) ([]figure, error) {
	rules, err := hundredRules()
	if err != nil {
		return nil, err
	}
	c := call("session", "call", 1)
	if v := rules.Judge(ctx, c, sayso.Facts{}); v.Effect != sayso.Ask || v.Line == 0 {
		return nil, fmt.Errorf("the rule did not decide: %s by %q", v.Effect, v.Rule)
	}
	n := w.few(200_000, 100)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	from := time.Now()
	for range n {
		rules.Judge(ctx, c, sayso.Facts{})
	}
	took := time.Since(from)
	runtime.ReadMemStats(&after)
	return []figure{{
		name: "verdict, 100 rules", value: took.Seconds() / float64(n), unit: seconds, must: 10e-6, aim: 100e-9,
		beside: fmt.Sprintf("%d allocations", (after.Mallocs-before.Mallocs)/uint64(n)),
	}}, nil
}
