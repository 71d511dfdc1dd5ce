package tui

import (
	"testing"

	"github.com/sayso-dev/sayso"
)

// A connection may end after the decision, and the same call be made again to take
// it up. Neither has the request wait again, however it ended.
func TestItems_whatEndedDoesNotWaitAgain(t *testing.T) {
	for _, end := range []sayso.Event{
		{Type: sayso.EventResolved, Payload: sayso.Args(`{"effect":"allow","source":"person"}`)},
		{Type: sayso.EventResolved, Payload: sayso.Args(`{"effect":"deny","source":"person"}`)},
		{Type: sayso.EventExpired}, {Type: sayso.EventWithdrawn},
	} {
		r := samples()[0]
		r.ID, r.State = "01m7wyf0nnpx5134avv40bmx4g3chvqgbe01", sayso.StateOpen
		all := newItems([]sayso.Request{r}, noon)
		happens := func(e sayso.Event, waiting int) {
			t.Helper()
			e.RequestID = r.ID
			all.apply(e, noon)
			if got := all.waiting(); got != waiting || len(all.open()) != waiting {
				t.Errorf("%s, then %s: %d wait, want %d", end.Type, e.Type, got, waiting)
			}
		}
		happens(sayso.Event{Type: sayso.EventParked}, 1)
		happens(sayso.Event{Type: sayso.EventTaken}, 1)
		happens(end, 0)
		said := all.byID[r.ID].end
		for _, after := range []sayso.EventType{sayso.EventParked, sayso.EventTaken} {
			happens(sayso.Event{Type: after}, 0)
			if i := all.byID[r.ID]; i.end != said || i.State.Open() {
				t.Errorf("%s, then %s: %s, %q", end.Type, after, i.State, i.end)
			}
		}
	}
}
