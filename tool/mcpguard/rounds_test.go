package mcpguard

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sayso-dev/sayso"
)

// again is a call that comes again with a state.
func again(session, state string) *guardedCall {
	return &guardedCall{
		request: &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{RequestState: state}},
		call:    sayso.Call{Session: session, Tool: "form", Args: sayso.Args("{}")},
	}
}

func (r *rounds) takes(t *testing.T, session, state string, want bool) {
	t.Helper()
	if _, ok := r.take(again(session, state)); ok != want {
		t.Errorf("%s %s goes on: %v", session, state, ok)
	}
}

// holds fails if what is counted is not what is there.
func (r *rounds) holds(t *testing.T, n int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	bytes := 0
	for _, o := range r.open {
		bytes += len(o.args)
	}
	if len(r.open) != n || r.bytes != bytes {
		t.Errorf("%d calls of %d bytes are kept, %d were to be; counted are %d bytes", len(r.open), bytes, n, r.bytes)
	}
}

// Calls that may come again are bounded in number, of one session and of all, and
// in the bytes of their arguments; the oldest are forgotten.
func TestRounds_bounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r rounds
		begin := func(session, state string, args sayso.Args) {
			r.begin(again(session, state), args, state)
			time.Sleep(time.Millisecond) // in a bubble, where it takes no time: each is older than the next
		}
		begin("other", "first", sayso.Args("{}"))
		for i := range maxRoundsOf + 1 {
			begin("one", fmt.Sprint(i), sayso.Args("{}"))
		}
		r.holds(t, maxRoundsOf+1)
		r.takes(t, "one", "0", false)
		r.takes(t, "one", "1", true)
		r.takes(t, "one", "1", false) // each goes on once
		r.takes(t, "other", "first", true)

		for i := range maxRounds {
			begin(fmt.Sprint("s", i), "x", sayso.Args("{}"))
		}
		r.holds(t, maxRounds)
		r.takes(t, "one", "2", false)
		r.takes(t, "s0", "x", true)

		long := sayso.Args(`{"a":"` + strings.Repeat("a", maxRoundBytes/2) + `"}`)
		begin("long", "1", long)
		begin("long", "2", long)
		r.holds(t, 1)
		r.takes(t, "long", "1", false)
		r.takes(t, "long", "2", true)
		begin("long", "3", append(long, long...))
		r.holds(t, 0)
		begin("long", "4", long)
		begin("long", "4", sayso.Args("{}")) // in the place of the other
		r.holds(t, 1)
	})
}

// open is a gate that is only told of sessions that ended.
type open struct{ sayso.Gate }

func (open) End(context.Context, string) error { return nil }

// What a connection left open is forgotten as it ends.
func TestRounds_connection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &guard{gate: open{}, name: "notes"}
		ours, theirs := mcp.NewInMemoryTransports()
		ss, err := mcp.NewServer(&mcp.Implementation{Name: "notes"}, nil).Connect(t.Context(), ours, nil)
		if err != nil {
			t.Fatal(err)
		}
		cs, err := mcp.NewClient(&mcp.Implementation{Name: "client"}, nil).Connect(t.Context(), theirs, nil)
		if err != nil {
			t.Fatal(err)
		}
		g.rounds.begin(again(g.connected(ss), "a"), sayso.Args("{}"), "a")
		g.rounds.begin(again("other", "a"), sayso.Args("{}"), "a")
		g.rounds.holds(t, 2)
		if err := cs.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		g.rounds.holds(t, 1)
	})
}

// A call that does not come again in time is forgotten, if nothing else comes too,
// and so are those of a session that ended.
func TestRounds_end(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r rounds
		r.begin(again("one", "a"), sayso.Args("{}"), "a")
		time.Sleep(roundTime / 2) // in a bubble, where it takes no time
		r.begin(again("two", "b"), sayso.Args("{}"), "b")
		r.begin(again("three", "c"), sayso.Args("{}"), "c")
		r.end("three")
		r.holds(t, 2)
		time.Sleep(roundTime/2 + time.Second)
		synctest.Wait()
		r.holds(t, 1)
		time.Sleep(roundTime / 2)
		synctest.Wait()
		r.holds(t, 0)
		r.begin(again("one", "d"), sayso.Args("{}"), "d") // the clock begins anew
		time.Sleep(roundTime + time.Second)
		synctest.Wait()
		r.holds(t, 0)
	})
}
