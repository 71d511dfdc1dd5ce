package gateway_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
)

// Where a call would run may come to mean another place while people are asked:
// then their yes is not for it, and is spent.
func TestRelay_movedWhileWaiting(t *testing.T) {
	dir := t.TempDir()
	here := filepath.Join(dir, "here")
	point := func(to string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, to), 0o700); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(here)
		if err := os.Symlink(to, here); err != nil {
			t.Fatal(err)
		}
	}
	point("one")
	w := open(t, rules{}, func(o *gateway.Options) { o.Cwd, o.Facts.Workspace = here, here })
	w.listTools(echoTool)
	w.client.send(echo("1", "a"))
	r := w.requests(1)[0]
	point("two")
	w.answer(r, sayso.Allow)
	if text := w.refusalOf(w.client.receive(), "1"); !strings.HasPrefix(text, "No longer valid") {
		t.Error(text)
	}
	if e := w.waitForEvent(sayso.EventFinished); e.RequestID != r.ID || !strings.Contains(string(e.Payload), `"interrupt":true`) {
		t.Errorf("finished: %s", e.Payload)
	}
	w.client.send(echo("2", "a"))
	w.answer(w.requests(1)[0], sayso.Allow)
	w.server.expect(echo("2", "a")) // and nothing of the first
}

// lateGate is a gate whose yes comes when the test lets it.
type lateGate struct {
	sayso.Gate
	decided, told chan struct{}
}

func (g *lateGate) Admit(ctx context.Context, a sayso.Admission) (sayso.Decision, error) {
	d, err := g.Gate.Admit(ctx, a)
	g.decided <- struct{}{}
	<-g.told
	return d, err
}

// A call that is cancelled when it was just allowed does not reach the server,
// and the record has it that it did not run.
func TestRelay_cancelledAsItIsAllowed(t *testing.T) {
	g := &lateGate{decided: make(chan struct{}), told: make(chan struct{})}
	w := open(t, rules{"echo": sayso.Allow}, func(o *gateway.Options) { g.Gate, o.Gate = o.Gate, g })
	w.listTools(echoTool)
	w.client.send(echo("1", "a"))
	<-g.decided
	w.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	w.client.send(ping)
	w.server.expect(ping) // so that the cancellation was read
	g.told <- struct{}{}
	if e := w.waitForEvent(sayso.EventFinished); !strings.Contains(string(e.Payload), `"interrupt":true`) {
		t.Errorf("finished: %s", e.Payload)
	}
	w.client.send(strings.Replace(ping, "2,", "3,", 1))
	w.server.expect(strings.Replace(ping, "2,", "3,", 1)) // and no call before
}
