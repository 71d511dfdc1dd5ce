package garbage

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestLimit(t *testing.T) {
	tests := map[string]struct {
		live, stacks uint64
		want         int64
	}{
		"nothing":              {0, 0, least},
		"little":               {15 << 20, 5 << 20, least},
		"half of the least":    {least / 4, least / 4, least},
		"more than the least":  {3 * least, least, 8 * least},
		"a very large process": {4 << 30, 0, 8 << 30},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (usage{live: tt.live, stacks: tt.stacks}).limit(); got != tt.want {
				t.Errorf("the limit is %d, want %d", got, tt.want)
			}
		})
	}
}

func TestLimit_whileItGrows(t *testing.T) {
	for used, want := range map[uint64]int64{least / 4: least, 2 * least: 3 * least} {
		if got := (usage{live: used, grows: true}).limit(); got != want {
			t.Errorf("the limit of %d is %d, want %d", used, got, want)
		}
	}
}

func TestRests(t *testing.T) {
	const mb = 1 << 20
	before := usage{live: 100 * mb, made: 1000 * mb}
	tests := map[string]struct {
		made, filled, free uint64
		shrank             bool
		want               bool
	}{
		"nothing to give back":      {1001 * mb, 110 * mb, 0, false, false},
		"garbage":                   {1001 * mb, 150 * mb, 0, false, true},
		"free memory":               {1001 * mb, 100 * mb, 50 * mb, false, true},
		"garbage, but busy":         {1010 * mb, 150 * mb, 0, false, false},
		"stacks that shrank":        {1001 * mb, 100 * mb, 0, true, true},
		"stacks shrank, but busy":   {1010 * mb, 100 * mb, 0, true, false},
		"a process that is nothing": {1000 * mb, 0, 0, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before := before
			before.shrinks = tt.shrank
			if got := (usage{live: 100 * mb, made: tt.made, filled: tt.filled, free: tt.free}).rests(before); got != tt.want {
				t.Errorf("it rests: %t", got)
			}
		})
	}
}

// What a process has filled and dropped is given back when it rests, once.
func TestNext(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // only what is tested collects
	before := inUse()
	heap := make([][]byte, 200)
	for i := range heap {
		heap[i] = make([]byte, 1<<20)
	}
	busy := next(before)
	if busy.filled < 190<<20 {
		t.Fatalf("%d bytes are filled by a process that was busy", busy.filled)
	}
	runtime.KeepAlive(heap)
	heap = nil
	rested := next(busy)
	if rested.filled > 50<<20 || rested.live > 50<<20 {
		t.Errorf("%d bytes are filled and %d live after a rest", rested.filled, rested.live)
	}
	if rested.rests(rested) {
		t.Error("it would collect again and again")
	}
}

func TestInUse(t *testing.T) {
	runtime.GC()
	if u := inUse(); u.live == 0 || u.stacks == 0 || u.filled == 0 || u.made == 0 {
		t.Errorf("%+v: a metric has another name now", u)
	}
}
