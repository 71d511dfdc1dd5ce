package broker_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/store/sqlite"
)

// rush asks so many times at once and returns how many of them people are asked
// about.
func rush(t *testing.T, b *broker.Broker, session, command string, many int) int64 {
	t.Helper()
	var asked atomic.Int64
	var all sync.WaitGroup
	begin := make(chan struct{})
	for n := range many {
		all.Go(func() {
			<-begin
			call := bash("", fmt.Sprint(command, n))
			call.Session = session
			d, err := b.Gate(agent).Admit(t.Context(), sayso.Admission{Call: call, Patience: time.Nanosecond})
			switch {
			case d.Allowed():
				t.Errorf("call %d was allowed", n)
			case errors.Is(err, sayso.ErrPending):
				asked.Add(1)
			case !errors.Is(err, sayso.ErrTooMany):
				t.Errorf("call %d: %v", n, err)
			}
		})
	}
	close(begin)
	all.Wait()
	return asked.Load()
}

// Calls that come all at once are let in up to the limit and no further, also
// on a log where recording takes a while. None is refused that there is room
// for.
func TestLimit_ofCallsAtOnce(t *testing.T) {
	log, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log", "sayso.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	b, err := broker.New(log, always(sayso.Ask), &broker.Options{MaxOpen: 40, MaxAsks: 60})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if n := rush(t, b, "a rush", "echo ", 2000); n != 40 {
		t.Errorf("people were asked %d times, want 40", n)
	}
	if n := rush(t, b, "a few", "echo ", 40); n != 40 {
		t.Errorf("of 40 calls that there is room for people were asked about %d", n)
	}
	if n := rush(t, b, "a few", "print ", 20); n != 0 {
		t.Errorf("people were asked %d times more", n)
	}
}
