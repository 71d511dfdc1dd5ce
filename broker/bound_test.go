package broker

import (
	"fmt"
	"testing"

	"github.com/sayso-dev/sayso"
)

// What a follower remembers of whose requests are has an end, however long it
// follows, and the newest of it is known.
func TestFollower_remembersSoMuchAndNoMore(t *testing.T) {
	f := follower{own: map[sayso.ID]bool{}}
	most := 0
	for i := range 10 * maxRememberedOwn {
		id := sayso.ID(fmt.Sprint(i))
		f.rememberOwn(id, i%2 == 0)
		if own, known := f.own[id]; !known || own != (i%2 == 0) {
			t.Fatalf("request %d: known %v, own %v", i, known, own)
		}
		most = max(most, len(f.own))
	}
	if most > maxRememberedOwn {
		t.Errorf("it remembered %d, want at most %d", most, maxRememberedOwn)
	}
}

// Nor does the count of what sessions may still ask grow with the number of
// sessions; one that somebody is in is not forgotten.
func TestRooms_forgetSessions(t *testing.T) {
	var a askLimiter
	plenty := func() (int, error) { return 100, nil }
	inside, err := a.acquire(t.Context(), "inside", plenty)
	if err != nil {
		t.Fatal(err)
	}
	mine, most := a.quotas["inside"], 0
	for n := range 10_000 {
		done, err := a.acquire(t.Context(), fmt.Sprint(n), plenty)
		if err != nil || done == nil {
			t.Fatalf("session %d: %v", n, err)
		}
		done()
		most = max(most, len(a.quotas))
	}
	if most > 4096 || a.quotas["inside"] != mine {
		t.Errorf("%d sessions were kept, and the one in use: %v", most, a.quotas["inside"] == mine)
	}
	inside()
}
