package broker

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
)

// seenAt is a request whose stream was so long when it was seen.
func seenAt(n, length int) *sayso.Request {
	return &sayso.Request{ID: sayso.ID(fmt.Sprint("r", n)), Life: sayso.Life{Len: length}}
}

// What is known best of a request is remembered, whoever comes later with less.
func TestRecent_keepsTheNewest(t *testing.T) {
	var c requestCache
	if _, ok := c.get("r1"); ok {
		t.Error("it remembers what it never saw")
	}
	var got []int
	for _, length := range []int{2, 1, 3, 3, 2} {
		c.put(seenAt(1, length))
		r, ok := c.get("r1")
		if !ok {
			t.Fatal("it was forgotten")
		}
		got = append(got, r.Life.Len)
	}
	if diff := cmp.Diff([]int{2, 2, 3, 3, 3}, got); diff != "" {
		t.Errorf("it remembered (-want +got):\n%s", diff)
	}
}

// It remembers the newest generation whole, and never more than two.
func TestRecent_forgetsTheOldest(t *testing.T) {
	var c requestCache
	most := 0
	for n := range 4 * maxYoung {
		c.put(seenAt(n, 1))
		most = max(most, len(c.young)+len(c.old))
		for _, back := range []int{0, maxYoung - 1} {
			if _, ok := c.get(seenAt(n-back, 1).ID); n >= back && !ok {
				t.Fatalf("after %d requests the one %d before is forgotten", n+1, back)
			}
		}
	}
	if most > 2*maxYoung {
		t.Errorf("it remembered %d requests, want at most %d", most, 2*maxYoung)
	}
	if _, ok := c.get("r0"); ok {
		t.Error("the first of all is still remembered")
	}
}

// One that grew old and is seen again is young again, as it is now.
func TestRecent_growsYoungAgain(t *testing.T) {
	var c requestCache
	c.put(seenAt(0, 1))
	for n := range maxYoung {
		c.put(seenAt(1+n, 1))
	}
	c.put(seenAt(0, 2))
	for n := range maxYoung - 2 {
		c.put(seenAt(-1-n, 1))
	}
	if r, ok := c.get("r0"); !ok || r.Life.Len != 2 {
		t.Errorf("known %v, with %d events", ok, r.Life.Len)
	}
}

func TestRecent_forgetsWhatWasErased(t *testing.T) {
	var c requestCache
	for n := range maxYoung + 1 { // so that there are old ones
		c.put(seenAt(n, 1))
	}
	gone := []sayso.ID{"r0", sayso.ID(fmt.Sprint("r", maxYoung)), "r-7"}
	c.forget(gone)
	for _, id := range gone {
		if _, ok := c.get(id); ok {
			t.Errorf("%s is still remembered", id)
		}
	}
	if _, ok := c.get("r1"); !ok {
		t.Error("others were forgotten too")
	}
	c.put(seenAt(0, 1)) // by whoever read it before
	if _, ok := c.get("r0"); ok {
		t.Error("what was erased is remembered again")
	}
	bare := seenAt(0, 2)
	bare.Erased = true
	for _, r := range []*sayso.Request{bare, seenAt(0, 1)} {
		c.put(r)
		if got, ok := c.get("r0"); !ok || !got.Erased {
			t.Errorf("remembered %v: %+v, want it without its content", ok, got)
		}
	}
}

// It holds so many bytes and no more, and nothing large of a request that is over.
func TestRecent_holdsSoMuch(t *testing.T) {
	var c requestCache
	const large = 1 << 20
	most := 0
	for n := range 4 * maxYoungBytes / large {
		r := seenAt(n, 1)
		r.State, r.Life.Bytes = sayso.StateOpen, large
		c.put(r)
		if _, ok := c.get(r.ID); !ok {
			t.Fatal("what was just seen is forgotten")
		}
		held := 0
		for _, of := range []map[sayso.ID]*sayso.Request{c.young, c.old} {
			for _, r := range of {
				held += r.Life.Bytes
			}
		}
		most = max(most, held)
	}
	if most > 2*maxYoungBytes {
		t.Errorf("it held %d bytes, want at most %d", most, 2*maxYoungBytes)
	}
	for _, tt := range []struct {
		name  string
		state sayso.State
		bytes int
		spent bool
		want  bool
	}{
		{"open", sayso.StateOpen, large, false, true},
		{"parked", sayso.StateParked, large, false, true},
		{"allowed", sayso.StateAllowed, large, false, true},
		{"spent", sayso.StateAllowed, large, true, false},
		{"spent, and small", sayso.StateAllowed, maxSettledBytes, true, true},
		{"denied", sayso.StateDenied, large, false, false},
		{"expired", sayso.StateExpired, large, false, false},
		{"withdrawn", sayso.StateWithdrawn, large, false, false},
	} {
		var c requestCache
		r := seenAt(1, 1)
		r.State, r.Life.Bytes = sayso.StateOpen, large
		c.put(r)
		r = seenAt(1, 2)
		r.State, r.Life.Bytes, r.Life.Redeemed = tt.state, tt.bytes, tt.spent
		c.put(r)
		got, ok := c.get("r1")
		if ok != tt.want || ok && got != r {
			t.Errorf("%s: remembered %v, want %v", tt.name, ok, tt.want)
		}
		c.forget([]sayso.ID{"r1"})
		if c.bytes != 0 {
			t.Errorf("%s: %d bytes of nothing", tt.name, c.bytes)
		}
	}
}
