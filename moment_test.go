package sayso_test

import (
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

const decade = 10 * 365 * 24 * time.Hour

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// when is a moment: the wall clock at so long after noon, in a boot, with its
// own clock.
func when(wall time.Duration, boot string, since time.Duration) sayso.Moment {
	return sayso.Moment{Wall: noon.Add(wall), Boot: boot, Since: since}
}

func TestElapsed(t *testing.T) {
	for _, c := range []struct {
		name                string
		from, now, recorded sayso.Moment
		want                time.Duration
		doubtful            bool
	}{
		{"a minute", when(0, "a", 0), when(time.Minute, "a", time.Minute), when(0, "a", 0), time.Minute, false},
		{"no time at all", when(0, "a", 5), when(0, "a", 5), when(0, "a", 5), 0, false},
		{"the wall clock leaps ahead within a boot", when(0, "a", 0), when(decade, "a", time.Minute), when(0, "a", 0), time.Minute, false},
		{"the wall clock falls back within a boot", when(0, "a", 0), when(-decade, "a", time.Minute), when(0, "a", 0), time.Minute, false},
		{"the log knows a later time in this boot", when(0, "a", 0), when(0, "a", time.Minute), when(decade, "a", time.Second), time.Minute, false},
		{"the boot clock falls back, which none does", when(0, "a", time.Hour), when(time.Hour, "a", 0), when(0, "a", 0), -time.Hour, true},
		{"across boots", when(0, "a", time.Hour), when(time.Minute, "b", 5), when(0, "a", time.Hour), time.Minute, false},
		{"across boots, and others in between", when(0, "a", 0), when(time.Hour, "c", 5), when(time.Minute, "b", 0), time.Hour, false},
		{"across boots, ahead ten years", when(0, "a", 0), when(decade, "b", 0), when(0, "a", 0), decade, false},
		{"across boots, back ten years", when(0, "a", 0), when(-decade, "b", 0), when(0, "a", 0), 0, true},
		{"across boots, never less than recorded", when(0, "a", 0), when(time.Minute, "b", 0), when(time.Hour, "a", 0), time.Hour, true},
		{"across boots, back a moment", when(0, "a", 0), when(-1, "b", 0), when(0, "a", 0), 0, true},
		{"an unknown boot is never the same one", when(0, "", time.Hour), when(time.Minute, "", 0), when(0, "", 0), time.Minute, false},
		{"an unknown boot and a step back", when(0, "", 0), when(-decade, "", time.Hour), when(0, "", 0), 0, true},
		{"nothing recorded", when(0, "a", 0), when(time.Minute, "b", 0), sayso.Moment{}, time.Minute, false},
		{"nothing recorded and a step back", when(0, "a", 0), when(-time.Minute, "b", 0), sayso.Moment{}, -time.Minute, true},
	} {
		if d, doubtful := sayso.Elapsed(c.from, c.now, c.recorded); d != c.want || doubtful != c.doubtful {
			t.Errorf("%s: got %v, doubtful %v, want %v, %v", c.name, d, doubtful, c.want, c.doubtful)
		}
	}
}

// A step of the clock by ten years neither ends nor prolongs a request within
// a boot; across boots, a step back ends it.
func TestDeadlinePassed_clockSteps(t *testing.T) {
	r := sayso.Request{Life: sayso.Life{Created: when(0, "a", 0), After: sayso.Deadline{After: time.Hour}}}
	for _, c := range []struct {
		name   string
		now    sayso.Moment
		passed bool
	}{
		{"within the boot, early, a decade ahead", when(decade, "a", time.Minute), false},
		{"within the boot, early, a decade back", when(-decade, "a", time.Minute), false},
		{"within the boot, late, a decade back", when(-decade, "a", time.Hour), true},
		{"after a boot, early", when(time.Minute, "b", 0), false},
		{"after a boot, a decade back", when(-decade, "b", 0), true},
		{"after a boot, a decade ahead", when(decade, "b", 0), true},
		{"exactly at its end", when(time.Hour, "a", time.Hour), true},
		{"a nanosecond before its end", when(time.Hour, "a", time.Hour-1), false},
	} {
		if passed := r.DeadlinePassed(c.now, r.Life.Created); passed != c.passed {
			t.Errorf("%s: got %v, want %v", c.name, passed, c.passed)
		}
	}
	r.Life.After.After = 0
	if r.DeadlinePassed(when(decade, "b", 0), when(0, "a", 0)) {
		t.Error("a request without a deadline expired")
	}
}
