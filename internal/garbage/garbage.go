// Package garbage says how much memory a server may fill before it collects
// garbage.
//
// A server with little to do has little in memory, and by default collects each
// time that little has doubled: some dozen times a second at full load, for a
// tenth of its time. [Tune] lets it fill a few hundred megabytes first. Where
// that much is in use, it collects rather more often than by default.
package garbage

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	percent = 400
	least   = 320 << 20
)

// Tune tunes the collector of this process until ctx ends, unless the
// environment says how it is to work (GOGC, GOMEMLIMIT).
func Tune(ctx context.Context) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(percent)
	debug.SetMemoryLimit(least)
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				debug.SetMemoryLimit(limit(inUse()))
			}
		}
	}()
}

// limit is how much may be filled where so much is in use: half as much again,
// and no less than what every server may.
func limit(used uint64) int64 { return max(least, int64(used+used/2)) }

// inUse is what the last collection left, and what goroutines take.
func inUse() (sum uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			sum += s.Value.Uint64()
		}
	}
	return sum
}
