package outbox_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/outbox"
)

// counted is an inbox that counts how often the life of a request is read.
type counted struct {
	sayso.Inbox
	lives atomic.Int64
}

func (c *counted) Life(ctx context.Context, id sayso.ID) ([]sayso.Event, error) {
	c.lives.Add(1)
	return c.Inbox.Life(ctx, id)
}

// However many are told, a request is read once to know whether it waits.
func TestAsked_isFoundOutOnceForAll(t *testing.T) {
	var targets []outbox.Target
	var all []*receiver
	for i := range 4 {
		r := receiving(t, nil)
		h := hook(r, outbox.None, outbox.Opened)
		h.Name = fmt.Sprint("hook", i)
		targets, all = append(targets, h), append(all, r)
	}
	w := newWorld(t, targets...)
	in := &counted{Inbox: w.inbox}
	w.inbox = in
	w.begun()
	const asks = 5
	for i := range asks {
		w.ask(fmt.Sprint("c", i), `{}`)
	}
	for _, r := range all {
		r.await(asks)
	}
	if n := in.lives.Load(); n != asks {
		t.Errorf("%d lives were read for %d requests and %d targets", n, asks, len(targets))
	}
}
