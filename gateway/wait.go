package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/enforce"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// patience is how long a call waits for people. A client that asked to be told of
// progress goes on waiting as long as it is.
func (r *Relay) patience(h *heldCall) time.Duration {
	if h.meta.token == nil || r.noProgress {
		return r.o.Impatience
	}
	return r.o.Patience
}

// waitingText is what the client is told while people are asked.
const waitingText = "waiting for a person to answer"

// progressNotifier tells a client from time to time that its call waits.
type progressNotifier struct {
	relay *Relay
	token jsontext.Value

	mu    sync.Mutex // guards what follows
	count int
	timer *time.Timer // nil once it stopped
}

// startProgress begins to tell the client that its call waits, if it wants to be told.
func (r *Relay) startProgress(h *heldCall) *progressNotifier {
	b := &progressNotifier{relay: r, token: h.meta.token}
	if b.token != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.timer = time.AfterFunc(heartbeat, b.tick)
	}
	return b
}

func (b *progressNotifier) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer == nil {
		return
	}
	b.count++
	if b.relay.sendClient(progress(b.token, b.count, waitingText)) == nil {
		b.timer.Reset(heartbeat)
	}
}

// stop has nothing more told.
func (b *progressNotifier) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
}

// cancelHeld takes a call back that the client does not want any more, and reports
// whether the server never heard of it. A call that is on its way there arrives
// before its cancellation does.
func (r *Relay) cancelHeld(m message) bool {
	id, err := cancelledID(m)
	if err != nil {
		return false
	}
	taken, gone := r.cancelCall((&message{id: id}).key())
	if gone != nil {
		<-gone
	}
	return taken
}

// cancelCall takes a call back that was not forwarded. Of one that was, it returns
// what is closed once the server has it.
func (r *Relay) cancelCall(key string) (taken bool, gone <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.calls[key]
	if h == nil {
		return false, nil
	}
	if h.forwarded == nil {
		h.cancelled = true
		h.cancel()
	}
	return h.forwarded == nil, h.forwarded
}

// cancelledID is the id of the request that a cancellation names.
func cancelledID(m message) (id jsontext.Value, err error) {
	err = rpc.Members(m.params, []string{"requestId"}, func(name string, value jsontext.Value, _ int) error {
		if name == "requestId" {
			id = value
		}
		return nil
	})
	return id, err
}

// forgetForwarded forgets a call that the client cancelled after it was forwarded: the
// server need not answer it any more, and its id is free.
func (r *Relay) forgetForwarded(ctx context.Context, m message) {
	id, err := cancelledID(m)
	if err != nil {
		return
	}
	if h, _ := r.takeForwarded(&message{id: id}); h != nil {
		r.background(&r.reporting, func() { r.unrun(ctx, h.request) }) // as far as anybody knows
	}
}

// withdraw takes back what was asked about a call that the client cancelled.
func (r *Relay) withdraw(ctx context.Context, h *heldCall, d sayso.Decision, err error) {
	enforce.TakeBack(ctx, r.o.Gate, d, err, "the client cancelled the call", func(ctx context.Context) (sayso.Decision, error) {
		a, _ := r.admission(ctx, h)
		a.Patience, a.Immediate = time.Nanosecond, false
		return r.ask(ctx, a)
	})
}
