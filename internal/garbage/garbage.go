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
		var before uint64 // what goroutines took when they were last made to give some back
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			live, stacks := inUse()
			if stacks > before+crowd {
				debug.FreeOSMemory()
				live, stacks = inUse()
				before = stacks
			}
			before = min(before, stacks)
			debug.SetMemoryLimit(limit(live + stacks))
		}
	}()
}

// crowd is how much the stacks of goroutines may grow before those of them that
// only wait are made to give back what they do not need, which takes a
// collection: thousands that came at once would keep it for minutes.
const crowd = 64 << 20

// limit is how much may be filled where so much is in use: a quarter more,
// and no less than what every server may.
func limit(used uint64) int64 { return max(least, int64(used+used/4)) }

// inUse is what the last collection left, and what goroutines take.
func inUse() (live, stacks uint64) {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return number(samples[0]), number(samples[1])
}

// number is the value of a sample; zero if there is no such metric.
func number(s metrics.Sample) uint64 {
	if s.Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s.Value.Uint64()
}
