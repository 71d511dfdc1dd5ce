package gateway

import (
	"context"
	"time"

	"github.com/sayso-dev/sayso"
)

// round is a call that runs, and whose server wants something of the client
// before it goes on: the client makes the call again, with what was wanted and
// with a state of the server's. That is the same run, so that nobody is asked a
// second time, as nobody is when a server asks its client while a call runs.
type round struct {
	call    sayso.Digest // that was judged, with its arguments
	request sayso.ID     // that allowed it
	edit    sayso.Args   // what a person put in the place of its arguments
	sent    time.Time    // when it began to run
	wanted  time.Time    // when the server wanted something
}

const (
	// roundTime is how long a client may take to come back.
	roundTime = sayso.LapseDelivered
	// maxRounds is how many calls of one conversation wait for their client.
	maxRounds = 256
)

// stateKey is what a state of the server is found by.
func stateKey(state string) sayso.Digest { return sayso.HashOf("sayso/mcp state/1", []byte(state)) }

// addRound has a call wait for its client, that was answered with this state. Only
// the newest of those that wait are remembered, and of those with one state.
func (r *Relay) addRound(ctx context.Context, h *heldCall, state string) {
	r.mu.Lock()
	key := stateKey(state)
	before, twice := r.rounds[key]
	r.rounds[key] = round{h.digest, h.request, h.edit, h.sent, time.Now()}
	lost := r.expireRounds()
	r.mu.Unlock()
	if twice {
		lost = append(lost, before.request)
	}
	r.reportLost(ctx, lost)
}

// expireRounds forgets the calls whose client did not come back in time, and the oldest
// of too many. The relay's mutex is held.
func (r *Relay) expireRounds() (lost []sayso.ID) {
	for len(r.rounds) > 0 {
		var oldest sayso.Digest
		for key, c := range r.rounds {
			if o, ok := r.rounds[oldest]; !ok || c.wanted.Before(o.wanted) {
				oldest = key
			}
		}
		c := r.rounds[oldest]
		if len(r.rounds) <= maxRounds && time.Since(c.wanted) <= roundTime {
			break
		}
		delete(r.rounds, oldest)
		lost = append(lost, c.request)
	}
	return lost
}

// reportLost records that calls did not come to an end, as far as anybody knows.
func (r *Relay) reportLost(ctx context.Context, lost []sayso.ID) {
	for _, id := range lost {
		r.background(&r.reporting, func() { r.unrun(ctx, id) })
	}
}

// reportAllLost does so for all that wait for their client.
func (r *Relay) reportAllLost(ctx context.Context) {
	r.mu.Lock()
	rounds := r.rounds
	r.rounds = map[sayso.Digest]round{}
	r.mu.Unlock()
	for _, c := range rounds {
		r.unrun(ctx, c.request)
	}
}

// takeRound reports whether a call is the next round of one that runs: the same
// call, with the very state that the server gave for it. A state counts once,
// whatever it comes with.
func (r *Relay) takeRound(ctx context.Context, h *heldCall) (c round, ok bool) {
	if h.state == "" {
		return c, false
	}
	r.mu.Lock()
	lost := r.expireRounds()
	key := stateKey(h.state)
	c, ok = r.rounds[key]
	delete(r.rounds, key)
	r.mu.Unlock()
	if digest, err := h.call.Digest(); ok && (err != nil || digest != c.call) {
		lost, ok = append(lost, c.request), false
	}
	r.reportLost(ctx, lost)
	return c, ok
}

// resumeCall forwards the next round of a call.
func (r *Relay) resumeCall(ctx context.Context, h *heldCall, c round) {
	line := h.line
	if len(c.edit) > 0 {
		line = h.with(c.edit)
	}
	r.mu.Lock()
	h.edit, h.digest, h.sent = c.edit, c.call, c.sent
	r.mu.Unlock()
	if !r.forward(h, c.request, line) {
		r.unrun(ctx, c.request)
	}
}
