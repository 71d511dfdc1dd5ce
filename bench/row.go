package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// row is one line of the table of budgets. It measures one or more figures, in
// a folder of its own on the disk.
type row struct {
	name    string
	measure func(ctx context.Context, w *world, dir string) ([]figure, error)
}

// unit is what a figure counts.
type unit string

const (
	seconds   unit = "s" // printed as µs or ms
	perSecond unit = "/s"
	bytesUsed unit = "B" // printed as MB
	times     unit = ""
)

// figure is one number with what it must be and what it aims at.
type figure struct {
	name    string
	value   float64
	unit    unit
	must    float64
	aim     float64
	atLeast bool   // more is better
	beside  string // what else was measured
}

// verdict is pass, aim or miss; empty for a figure that need not be anything.
func (f figure) verdict() string {
	switch {
	case f.must == 0 && f.unit != times:
		return ""
	case f.aim != 0 && f.reaches(f.aim):
		return aim
	case f.reaches(f.must):
		return pass
	}
	return miss
}

const (
	pass = "pass"
	aim  = "aim"
	miss = "MISS"
)

func (f figure) reaches(limit float64) bool {
	if f.atLeast {
		return f.value >= limit
	}
	return f.value <= limit
}

// text is a number in the unit of the figure.
func (u unit) text(v float64) string {
	switch u {
	case seconds:
		return time.Duration(v * float64(time.Second)).Round(precision(v)).String()
	case perSecond:
		return fmt.Sprintf("%.0f/s", v)
	case bytesUsed:
		return fmt.Sprintf("%.0f MB", v/(1<<20))
	}
	return fmt.Sprintf("%.0f", v)
}

// precision keeps three digits of a time.
func precision(v float64) time.Duration {
	d := time.Duration(v * float64(time.Second))
	p := time.Nanosecond
	for d >= 1000*p {
		p *= 10
	}
	return p
}

// durations are measured times.
type durations []time.Duration

// at is the duration below which a share of them lies, in seconds.
func (d durations) at(share float64) float64 {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.SortedFunc(slices.Values(d), cmp.Compare[time.Duration])
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)].Seconds()
}
