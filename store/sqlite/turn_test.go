package sqlite_test

import (
	"os"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/store/sqlite"
	"github.com/sayso-dev/sayso/store/storetest"
)

// Somebody removes the file of the turn under a log that is open, so that it
// cannot be told of others' commits any more. Whoever waits is woken all the
// same, and then reads what others wrote.
func TestTurn_removedWhileSomebodyWaits(t *testing.T) {
	path := place(t)
	first := open(t, path, &sqlite.Options{Poll: 100 * time.Millisecond})
	m := storetest.NewMaker(1)
	id, asked := m.Request(storetest.Wish{})
	add(t, first, asked) // which it now remembers
	woken := make(chan error, 1)
	go func() { woken <- first.Wait(t.Context(), sayso.RequestStream(id), 1) }() // ends when the stream grows
	if err := os.Remove(path + "-turn"); err != nil {
		t.Fatal(err)
	}
	add(t, open(t, path, nil), m.Answer(id, 1, sayso.Deny, ""))
	select {
	case err := <-woken:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the waiter hangs")
	}
	events, err := first.Stream(t.Context(), sayso.RequestStream(id), 1)
	if err != nil || len(events) != 2 {
		t.Errorf("it reads %d events, %v", len(events), err)
	}
	if err := first.Wait(t.Context(), sayso.RequestStream(id), 2); err != nil {
		t.Error(err)
	}
}
