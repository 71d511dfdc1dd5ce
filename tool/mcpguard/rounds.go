package mcpguard

import (
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// rounds are the calls whose handlers asked the client for input, and which come
// again with it.
type rounds struct {
	mu   sync.Mutex // guards open
	open map[sayso.Digest]round
}

// round is a call that may come again.
type round struct {
	at   time.Time
	args sayso.Args // that were admitted; a client repeats its own
}

const (
	// maxRounds is how many calls are remembered that may come again; those that are
	// not are asked about again.
	maxRounds = 4096
	roundTime = time.Hour
)

// key is all that must be the same when a call comes again.
func (a *asked) key(state string) (sayso.Digest, bool) {
	plain, err := jcs.Object(a.call.Args)
	if err != nil {
		return sayso.Digest{}, false
	}
	return sayso.HashOf("sayso/mcpguard round/1", []byte(a.call.Session), []byte(a.call.Tool), []byte(a.definition.digest), plain, []byte(state)), true
}

// begin remembers a call that may come again with the state that its handler
// returned.
func (r *rounds) begin(a *asked, args sayso.Args, state string) {
	k, ok := a.key(state)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for old, o := range r.open {
		if now.Sub(o.at) > roundTime || len(r.open) >= maxRounds {
			delete(r.open, old)
		}
	}
	if r.open == nil {
		r.open = map[sayso.Digest]round{}
	}
	r.open[k] = round{now, args}
}

// goesOn returns the arguments of a call that is the next round of one that was
// let run. Each state goes on once.
func (r *rounds) goesOn(a *asked) (sayso.Args, bool) {
	p := a.request.Params
	if p.RequestState == "" && p.InputResponses == nil {
		return nil, false
	}
	k, ok := a.key(p.RequestState)
	if !ok {
		return nil, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o, ok := r.open[k]
	delete(r.open, k)
	return o.args, ok && time.Since(o.at) <= roundTime
}
