package server_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/broker"
	"github.com/sayso-dev/sayso/store/sqlite"
)

// Whoever waits over HTTP keeps two goroutines: one that would read what the
// client sends next, and one below whose frames it waits. The runtime makes the
// stack of the second half as large only where a quarter of it is enough, so a
// few bytes more in any of its frames cost every waiting caller eight kilobytes.
func TestAdmission_waitsOnLittleStack(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	log, err := sqlite.Open(t.Context(), filepath.Join(dir, "sayso.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &harness{t: t, log: log, tokens: &tokenList{ended: map[string]bool{}}, logs: &syncBuffer{}}
	if w.b, err = broker.New(log, rules{}, &broker.Options{MaxOpen: 1000, MaxAsks: 1000}); err != nil {
		t.Fatal(err)
	}
	w.start(nil)
	t.Cleanup(func() { w.stop(); _ = w.b.Close(); _ = log.Close() })

	const callers = 200
	limit := uint64(14 << 10) // two kilobytes, eight, and some for what else goes on; sixteen are too many
	if raced || runtime.GOARCH != "amd64" {
		limit *= 2 // frames are larger
	}
	before := stacks()
	for n := range callers {
		w.park(n)
	}
	for open := 0; open < callers; {
		list, err := w.b.Inbox(actors["person"]).Requests(t.Context(), sayso.RowQuery{States: sayso.OpenStates()})
		if err != nil {
			t.Fatal(err)
		}
		open = len(list)
	}
	var each uint64
	for range 50 { // some may still be on their way to where they wait
		if each = (stacks() - before) / callers; each <= limit {
			return
		}
	}
	t.Errorf("each caller that waits keeps %d bytes of stack", each)
}

// raced says that the race detector is at work.
var raced bool

// park asks over a connection of its own, and reads no answer.
func (w *harness) park(n int) {
	w.t.Helper()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	body := fmt.Sprintf(`{"call":{"tool":"bash","args":{"command":"make %d"},"session":"s1","call_id":"c%d"}}`, n, n)
	_, err = io.WriteString(c, fmt.Sprintf("POST /v1/admissions HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer agent\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", w.addr, len(body), body))
	if err != nil {
		w.t.Fatal(err)
	}
}

// stacks is what all goroutines have, once those that rest gave back what they
// do not need.
func stacks() uint64 {
	for range 4 {
		runtime.GC() // each makes what is too large half as large
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.StackInuse
}
