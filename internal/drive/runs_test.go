package drive

import (
	"fmt"
	"testing"

	"github.com/sayso-dev/sayso"
)

// A host that never tells how its calls end costs no more than so much, and of the
// newest calls none is forgotten.
func TestRuns_bounded(t *testing.T) {
	var r runs
	key := func(i int) run { return run{"s", fmt.Sprint(i)} }
	id := func(i int) sayso.ID { return sayso.ID(fmt.Sprint("r", i)) }
	const calls = 10 * maxRuns
	for i := range calls {
		r.add(key(i), id(i))
		if n := len(r.newer) + len(r.older); n > 2*maxRuns {
			t.Fatalf("%d are remembered after %d", n, i+1)
		}
	}
	for i := calls - maxRuns; i < calls; i++ {
		if got := r.of(key(i)); got != id(i) {
			t.Fatalf("of call %d it is remembered %q", i, got)
		}
		r.drop(key(i))
		if got := r.of(key(i)); got != "" {
			t.Fatalf("call %d ended, and it is remembered %q", i, got)
		}
	}
	if got := r.of(key(0)); got != "" {
		t.Errorf("the first is still remembered: %q", got)
	}
	r.add(key(calls), id(1))
	r.add(key(calls), id(2)) // the same call, made again
	if got := r.of(key(calls)); got != id(2) {
		t.Errorf("of a call that was made again it is remembered %q", got)
	}
}
