package race_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sayso-dev/sayso"
)

// door opens a gate in this process.
func (w *world) door(door, who string) gateway {
	w.t.Helper()
	g, err := open(context.Background(), door, w.dir, w.address, who, w.engine)
	if err != nil {
		w.t.Fatal(err)
	}
	if c, ok := g.Gate.(interface{ Close() error }); ok {
		w.t.Cleanup(func() { _ = c.Close() }) // its connections end with the server
	}
	return g
}

// The flood: so many calls of one session, so many at once.
const (
	floodCalls  = 10_000
	floodAtOnce = 256
)

// A session that asks ten thousand times is refused after a while, and leaves
// one line a minute. The call of another session, made in the midst of it, is
// listed, answered and run while the flood goes on.
func TestFlood_neitherDelaysNorHidesAnother(t *testing.T) {
	w := newWorld(t, "")
	noisy, quiet, person := w.door(doorWS, agentName), w.door(doorHTTP, agentName), w.door(doorHTTP, approver(3))
	var sent, asked, refused atomic.Int64
	midst := make(chan struct{})
	var flood sync.WaitGroup
	for range floodAtOnce {
		flood.Go(func() {
			for n := sent.Add(1); n <= floodCalls; n = sent.Add(1) {
				if n == floodCalls/4 {
					close(midst)
				}
				d, err := noisy.Admit(context.Background(), sayso.Admission{Patience: time.Nanosecond, Call: sayso.Call{
					Tool: "bash", Args: sayso.Args(fmt.Sprintf(`{"command":"spam %d"}`, n)), Session: "noisy",
				}})
				switch {
				case d.Allowed():
					t.Errorf("call %d of the flood was allowed", n)
				case errors.Is(err, sayso.ErrTooMany):
					refused.Add(1)
				case errors.Is(err, sayso.ErrPending):
					asked.Add(1)
				default:
					t.Errorf("call %d of the flood: %v", n, err)
				}
			}
		})
	}
	<-midst
	for n := range 5 {
		w.unhindered(n, quiet, person)
	}
	at := sent.Load()
	flood.Wait()
	if at >= floodCalls {
		t.Error("the flood was over before the other session had its answers")
	}
	// 120 a minute, and at most 200 that are open, however many come at once.
	if n := asked.Load(); n < 120 || n > 200 {
		t.Errorf("people were asked %d times by one session", n)
	}
	if asked.Load()+refused.Load() != floodCalls {
		t.Errorf("%d asked and %d refused are not %d", asked.Load(), refused.Load(), floodCalls)
	}
	minutes, lines := w.refusals("noisy")
	if lines < 1 || lines > minutes {
		t.Errorf("%d refusals were recorded within %d minutes", lines, minutes)
	}
	w.verify()
	t.Logf("%d of the flood were asked, %d refused with %d events; after %d calls of it the other session had all its answers", asked.Load(), refused.Load(), lines, at)
}

// unhindered asks, finds and answers one call of the quiet session.
func (w *world) unhindered(n int, quiet, person gateway) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	call := sayso.Call{Tool: "bash", Args: sayso.Args(fmt.Sprintf(`{"command":"make %d"}`, n)), Session: "quiet", CallID: fmt.Sprint("quiet-", n)}
	got := make(chan error, 1)
	go func() {
		d, err := quiet.Admit(ctx, sayso.Admission{Call: call, Immediate: true})
		if err == nil && !d.Redeemed {
			err = fmt.Errorf("it was told %+v", d)
		}
		got <- err
	}()
	w.await(call)
	// As a person finds it who knows of no flood: in the list of all that waits.
	for _, in := range []sayso.Inbox{person, w.engine.Inbox(owner)} {
		list, err := in.Requests(ctx, sayso.RowQuery{States: []sayso.State{sayso.StateOpen, sayso.StateParked}, Oldest: true})
		if err != nil {
			w.t.Error(err)
			return
		}
		found := false
		for _, r := range list {
			found = found || r.CallID == call.CallID
		}
		if !found {
			w.t.Errorf("call %d of the other session is not among the %d that are listed", n, len(list))
		}
	}
	r := w.await(call)
	if _, err := person.Answer(ctx, r.ID, sayso.Answer{Digest: r.Digest, Content: r.Content, Effect: sayso.Allow}); err != nil {
		w.t.Error(err)
		return
	}
	if err := <-got; err != nil {
		w.t.Errorf("call %d of the other session: %v", n, err)
	}
}

// refusals counts the requests of a session that nobody was asked about, and
// the minutes since the session began.
func (w *world) refusals(session string) (minutes, lines int) {
	w.t.Helper()
	events, err := w.engine.Log.Since(context.Background(), 0, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	var first, last time.Time
	for _, e := range events {
		if e.SessionID != session {
			continue
		}
		if first.IsZero() {
			first = e.At.Wall
		}
		last = e.At.Wall
		if e.Type == sayso.EventResolved {
			lines++
		}
	}
	return int(last.Unix()/60-first.Unix()/60) + 1, lines
}
