package sayso

import "time"

// Moment is a point in time as the log keeps it: the wall clock, which may be
// set to anything, and the time since boot, which only ever grows but is
// comparable within one boot alone.
type Moment struct {
	Wall  time.Time     // UTC
	Boot  string        // which boot; empty when unknown
	Since time.Duration // since that boot, sleep included
}

// Elapsed tells how long ago from was. Within one boot it is the difference of
// the boot clocks, whatever happened to the wall clock. Across boots it is the
// wall difference, but never less than what the log already recorded; there
// recorded is the moment of the newest event. The result is doubtful when the
// clock must have gone back: then a request has expired and a grant has ended.
func Elapsed(from, now, recorded Moment) (d time.Duration, doubtful bool) {
	if from.Boot != "" && from.Boot == now.Boot {
		d = now.Since - from.Since
		return d, d < 0
	}
	d = max(now.Wall.Sub(from.Wall), recorded.Wall.Sub(from.Wall))
	return d, d < 0 || now.Wall.Before(recorded.Wall)
}
