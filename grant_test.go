package sayso_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// text is the JSON of v.
func text(t *testing.T, v any) []byte {
	t.Helper()
	b, err := jcs.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// happened is an event of a stream, at a moment.
func happened(t *testing.T, stream string, pos int, kind sayso.EventType, at sayso.Moment, payload any) sayso.Event {
	t.Helper()
	return sayso.Event{Stream: stream, Pos: pos, Type: kind, At: at, Payload: text(t, payload), SessionID: "s1"}
}

func TestGrant_live(t *testing.T) {
	const stream = "grant/g1"
	later := func(d time.Duration) sayso.Moment { return when(d, "a", d) }
	create := func(p sayso.GrantCreated) sayso.Event {
		return happened(t, stream, 1, sayso.EventGrantCreated, later(0), p)
	}
	used := func(pos int, d time.Duration) sayso.Event {
		return happened(t, stream, pos, sayso.EventGrantUsed, later(d), sayso.GrantUsed{Request: "r1"})
	}
	end := func(pos int, kind sayso.EventType, why string) sayso.Event {
		return happened(t, stream, pos, kind, later(time.Minute), sayso.Closed{Reason: why})
	}
	hour := sayso.GrantCreated{ExpiresNS: int64(time.Hour)}
	for _, c := range []struct {
		name   string
		events []sayso.Event
		now    sayso.Moment
		ended  string // empty while it lives
	}{
		{"just made", []sayso.Event{create(sayso.GrantCreated{})}, later(0), ""},
		{"a day idle", []sayso.Event{create(sayso.GrantCreated{})}, later(24 * time.Hour), ""},
		{"more than a day idle", []sayso.Event{create(sayso.GrantCreated{})}, later(24*time.Hour + 1), "idle"},
		{"used within the day", []sayso.Event{create(sayso.GrantCreated{}), used(2, 20*time.Hour)}, later(44 * time.Hour), ""},
		{"a day after its use", []sayso.Event{create(sayso.GrantCreated{}), used(2, 20*time.Hour)}, later(44*time.Hour + 1), "idle"},
		{"before its end", []sayso.Event{create(hour)}, later(time.Hour - 1), ""},
		{"at its end", []sayso.Event{create(hour)}, later(time.Hour), "expired"},
		{"use does not prolong it", []sayso.Event{create(hour), used(2, 59*time.Minute)}, later(time.Hour), "expired"},
		{"one use left", []sayso.Event{create(sayso.GrantCreated{Uses: 2}), used(2, time.Minute)}, later(time.Hour), ""},
		{"used up", []sayso.Event{create(sayso.GrantCreated{Uses: 1}), used(2, time.Minute)}, later(time.Hour), "used up"},
		{"any number of uses", []sayso.Event{create(sayso.GrantCreated{}), used(2, 1), used(3, 2), used(4, 3)}, later(time.Hour), ""},
		{"revoked", []sayso.Event{create(sayso.GrantCreated{}), end(2, sayso.EventGrantRevoked, "")}, later(time.Hour), "revoked"},
		{"ended with its session", []sayso.Event{create(sayso.GrantCreated{}), end(2, sayso.EventGrantEnded, "session ended")}, later(time.Hour), "session ended"},
		{"ended for no reason", []sayso.Event{create(sayso.GrantCreated{}), end(2, sayso.EventGrantEnded, "")}, later(time.Hour), "revoked"},
		{"the wall clock is ten years ahead", []sayso.Event{create(hour)}, when(decade, "a", time.Minute), ""},
		{"the wall clock is ten years back", []sayso.Event{create(hour)}, when(-decade, "a", time.Minute), ""},
		{"after a boot", []sayso.Event{create(hour)}, when(time.Minute, "b", 0), ""},
		{"after a boot, late", []sayso.Event{create(hour)}, when(time.Hour, "b", 0), "expired"},
		{"after a boot, the clock in doubt", []sayso.Event{create(sayso.GrantCreated{})}, when(-time.Second, "b", 0), "idle"},
	} {
		g, err := sayso.FoldGrant(c.events)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		ended, ok := g.Live(c.now, later(0))
		if ok != (c.ended == "") || ended != c.ended {
			t.Errorf("%s: got %q, %v, want %q", c.name, ended, ok, c.ended)
		}
	}
}

func TestGrant_zeroCoversNothing(t *testing.T) {
	var g sayso.Grant
	if ended, ok := g.Live(when(0, "a", 0), when(0, "a", 0)); ok || ended == "" {
		t.Errorf("the zero grant lives: %q, %v", ended, ok)
	}
}

func TestFoldGrant_refuses(t *testing.T) {
	const stream = "grant/g1"
	at := when(0, "a", 0)
	create := happened(t, stream, 1, sayso.EventGrantCreated, at, sayso.GrantCreated{Uses: 1})
	use := func(pos int) sayso.Event {
		return happened(t, stream, pos, sayso.EventGrantUsed, at, sayso.GrantUsed{})
	}
	revoke := happened(t, stream, 2, sayso.EventGrantRevoked, at, sayso.Closed{})
	for name, events := range map[string][]sayso.Event{
		"no beginning":          {use(1)},
		"two beginnings":        {create, happened(t, stream, 2, sayso.EventGrantCreated, at, sayso.GrantCreated{})},
		"a hole":                {create, use(3)},
		"one use too many":      {create, use(2), use(3)},
		"a use after its end":   {create, revoke, use(3)},
		"an unreadable event":   {create, {Stream: stream, Pos: 2, Type: sayso.EventGrantEnded, Payload: sayso.Args(`{`)}},
		"unreadable from there": {{Stream: stream, Pos: 1, Type: sayso.EventGrantCreated, Payload: sayso.Args(`[]`)}},
	} {
		g, err := sayso.FoldGrant(events)
		if err == nil || g.ID != "" {
			t.Errorf("%s: got %+v, %v", name, g, err)
		}
	}
	if _, err := sayso.FoldGrant(nil); !errors.Is(err, sayso.ErrNotFound) {
		t.Errorf("no events: %v", err)
	}
}

// A grant matches on all of these, and none can stand for another.
func TestGrantKey(t *testing.T) {
	a, b := sayso.HashOf("a"), sayso.HashOf("b")
	keys := map[sayso.Digest]string{}
	for _, c := range []struct {
		name              string
		cover             sayso.Cover
		fingerprint, pins sayso.Digest
		policy            string
	}{
		{"a call", sayso.CoverCall, a, b, "p1"},
		{"another cover", "tool", a, b, "p1"},
		{"another call", sayso.CoverCall, b, b, "p1"},
		{"the digests exchanged", sayso.CoverCall, b, a, "p1"},
		{"other files", sayso.CoverCall, a, a, "p1"},
		{"no files", sayso.CoverCall, a, sayso.Digest{}, "p1"},
		{"another policy", sayso.CoverCall, a, b, "p2"},
		{"no policy", sayso.CoverCall, a, b, ""},
		{"a shifted border", sayso.CoverCall + "p", a, b, "1"},
	} {
		key := sayso.GrantKey(c.cover, c.fingerprint, c.pins, c.policy)
		if other, taken := keys[key]; taken || key.IsZero() {
			t.Errorf("%s has the key of %s", c.name, other)
		}
		keys[key] = c.name
	}
}
