package server_test

import (
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

// The same list comes out of the broker, over HTTP and over a WebSocket.
func TestSessions(t *testing.T) {
	f := newFixture(t)
	f.harness.open("theirs", "secret")
	f.request("agent", "POST", "/v1/sessions/s1/end", `{}`)
	for name, inbox := range map[string]sayso.Inbox{"broker": f.b.Inbox(actors["person"]), "http": f.client("person"), "ws": f.dial("person")} {
		list, err := inbox.Sessions(t.Context(), time.Now().Add(-time.Hour))
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %+v, %v", name, list, err)
		}
		s := list[0]
		if s.ID != "s1" || s.Owner != actors["person"].Principal || s.Calls < 4 || s.Asked < 4 || s.Open != 1 || !s.Ended || s.BegunAt == nil || s.LastAt.IsZero() || s.Cwd == "" {
			t.Errorf("%s: %+v", name, s)
		}
		if list, err := inbox.Sessions(t.Context(), time.Now().Add(time.Hour)); err != nil || len(list) != 0 {
			t.Errorf("%s, later: %+v, %v", name, list, err)
		}
	}
}
