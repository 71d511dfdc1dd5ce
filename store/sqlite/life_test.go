package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/sqlite"
	"github.com/sayso-dev/sayso/store/storetest"
)

// add appends a batch that must be taken.
func add(t testing.TB, l sayso.Log, b sayso.Batch) []sayso.Event {
	t.Helper()
	events, err := l.Append(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// lived fills a log with some of everything: requests that are open, parked,
// denied, approved, redeemed, voided, erased, and grants, sessions and modes.
func lived(t testing.TB, l sayso.Log, requests int) *storetest.Maker {
	t.Helper()
	m := storetest.NewMaker(7)
	luck := rand.New(rand.NewPCG(7, 7))
	add(t, l, m.Note(sayso.BrokerStream, 0))
	for i := range requests {
		session := fmt.Sprint("session-", i%3)
		id, asked := m.Request(storetest.Wish{Session: session})
		add(t, l, asked)
		switch luck.IntN(8) {
		case 0: // stays open
		case 1:
			add(t, l, m.Next(id, 1, sayso.EventParked, sayso.Parked{Cause: sayso.ParkedPatience}))
		case 2:
			add(t, l, m.Answer(id, 1, sayso.Allow, "yes")) // stays unspent
		case 3:
			add(t, l, m.Answer(id, 1, sayso.Allow, "yes"))
			_, grant := m.Grant(session, id, sayso.HashOf("key", []byte{byte(i)}))
			add(t, l, grant)
			add(t, l, m.Next(id, 3, sayso.EventRedeemed, sayso.Redeemed{Policy: "p1"}))
		case 4:
			add(t, l, m.Answer(id, 1, sayso.Allow, "yes"))
			gid, grant := m.Grant(session, id, sayso.HashOf("key", []byte{byte(i)}))
			add(t, l, grant)
			ended := m.Note(sayso.GrantStream(gid), 1)
			ended.Events[0].Type, ended.Events[0].Payload = sayso.EventGrantEnded, sayso.Args(`{"reason":"session ended"}`)
			add(t, l, ended)
			add(t, l, m.Next(id, 3, sayso.EventVoided, sayso.Closed{Reason: "lapsed"}))
		case 5:
			add(t, l, m.Answer(id, 1, sayso.Deny, "no"))
			erased := m.Next(id, 3, sayso.EventContentErased, sayso.ContentErased{Requests: []sayso.ID{id}})
			erased.Erase = []sayso.ID{id}
			add(t, l, erased)
		default:
			add(t, l, m.Answer(id, 1, sayso.Deny, "no"))
		}
	}
	return m
}

// all reads the whole log in small steps.
func all(t testing.TB, l sayso.Log) (out []sayso.Event) {
	t.Helper()
	for {
		events, err := l.Since(t.Context(), sayso.Seq(len(out)), 17)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) == 0 {
			return out
		}
		out = append(out, events...)
	}
}

// same fails the test if got is not want.
func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// rows reads all rows, oldest first.
func rows(t testing.TB, l sayso.Log) []sayso.Row {
	t.Helper()
	out, err := l.Rows(t.Context(), sayso.RowQuery{Oldest: true, Limit: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sound fails the test if the log does not verify.
func sound(t testing.TB, l *sqlite.Log) sqlite.Report {
	t.Helper()
	r, err := l.Verify(t.Context(), nil)
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		t.Fatalf("the log does not verify: %v", err)
	}
	return r
}
