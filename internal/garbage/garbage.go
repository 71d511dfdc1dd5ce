// Package garbage says how much memory a server may fill before it collects
// garbage.
//
// A server with little to do has little in memory, and by default collects each
// time that little has doubled: some dozen times a second at full load, for a
// tenth of its time. [Tune] lets it fill a few hundred megabytes first. Where
// that much is in use, it may fill as much again while it is busy, and what
// it filled is given back as soon as it rests.
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
		for u := inUse(); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			u = next(u)
			debug.SetMemoryLimit(u.limit())
		}
	}()
}

// next is what is in use a second later, after a process that rests has given
// back what it does not need.
func next(before usage) usage {
	now := inUse()
	now.grows = now.live+now.stacks > before.live+before.stacks+surplus/4
	if !now.rests(before) {
		return now
	}
	debug.FreeOSMemory()
	after := inUse()
	after.shrinks = after.stacks+surplus < now.stacks
	return after
}

// usage is what a process has in memory, in bytes.
type usage struct {
	live    uint64 // what the last collection left
	stacks  uint64 // what goroutines take
	filled  uint64 // what objects take, garbage included
	free    uint64 // what nothing takes, and the system has not got back
	made    uint64 // what objects took since the process began
	shrinks bool   // the last time it rested, goroutines gave much back
	grows   bool   // more is in use than a second before
}

// limit is how much may be filled where so much is in use. While that grows it is
// less: of what comes to stay, the more lies scattered the more garbage lies between.
func (u usage) limit() int64 {
	used := u.live + u.stacks
	if u.grows {
		return max(least, int64(used+used/2))
	}
	return max(least, int64(2*used))
}

const (
	little  = 4 << 20  // what a process that rests makes in a second
	surplus = 32 << 20 // what is much
	worth   = 16 << 20 // what is worth a collection
)

// rests reports whether a process that hardly does anything holds what others
// could use: garbage, memory that is free already, or the stacks of thousands who
// did something deep and now wait, which a collection makes half as large.
func (u usage) rests(before usage) bool {
	return u.made-before.made < little && (u.filled+u.free > u.live+worth || before.shrinks)
}

// inUse is what this process has in memory now.
func inUse() usage {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/gc/heap/allocs:bytes"},
	}
	metrics.Read(samples)
	return usage{
		live: number(samples[0]), stacks: number(samples[1]), filled: number(samples[2]), free: number(samples[3]),
		made: number(samples[4]),
	}
}

// number is the value of a sample; zero if there is no such metric.
func number(s metrics.Sample) uint64 {
	if s.Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s.Value.Uint64()
}
