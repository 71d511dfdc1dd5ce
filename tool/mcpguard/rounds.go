package mcpguard

import (
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// rounds are the calls whose handlers asked the client for input, and which come
// again with it. They are few, short and not for ever, in all and of one session:
// one that is forgotten is asked about again.
type rounds struct {
	mu     sync.Mutex // guards what follows
	open   map[sayso.Digest]round
	bytes  int         // of the arguments of all
	expiry *time.Timer // nil while none is open
}

// round is a call that may come again.
type round struct {
	at      time.Time
	session string
	args    sayso.Args // that were admitted; a client repeats its own
}

const (
	maxRounds     = 4096
	maxRoundsOf   = 64 // one session
	maxRoundBytes = 32 << 20
	roundTime     = time.Hour
)

// key is all that must be the same when a call comes again.
func (a *guardedCall) key(state string) (sayso.Digest, bool) {
	plain, err := jcs.Object(a.call.Args)
	if err != nil {
		return sayso.Digest{}, false
	}
	return sayso.HashOf("sayso/mcpguard round/1", []byte(a.call.Session), []byte(a.call.Tool), []byte(a.definition.digest), plain, []byte(state)), true
}

// begin remembers a call that may come again with the state that its handler
// returned.
func (r *rounds) begin(a *guardedCall, args sayso.Args, state string) {
	k, ok := a.key(state)
	if !ok {
		return
	}
	if len(args) > maxRoundBytes {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(k)
	for r.makeRoom(a.call.Session, len(args)) {
	}
	if r.open == nil {
		r.open = map[sayso.Digest]round{}
	}
	r.open[k] = round{time.Now(), a.call.Session, args}
	r.bytes += len(args)
	if r.expiry == nil {
		r.expiry = time.AfterFunc(roundTime, r.expire)
	}
}

// makeRoom forgets the oldest call of a session that has as many as it may or, if
// there is no room for one more with so many bytes of arguments, the oldest of all.
// It reports whether there may be more to forget. The mutex is held.
func (r *rounds) makeRoom(session string, bytes int) bool {
	var oldest, own sayso.Digest
	of := 0
	for k, o := range r.open {
		if at, ok := r.open[oldest]; !ok || o.at.Before(at.at) {
			oldest = k
		}
		if o.session != session {
			continue
		}
		of++
		if at, ok := r.open[own]; !ok || o.at.Before(at.at) {
			own = k
		}
	}
	switch {
	case of >= maxRoundsOf:
		r.forget(own)
	case len(r.open) >= maxRounds || len(r.open) > 0 && r.bytes+bytes > maxRoundBytes:
		r.forget(oldest)
	default:
		return false
	}
	return true
}

// forget forgets a call, if it is open. The mutex is held.
func (r *rounds) forget(k sayso.Digest) {
	r.bytes -= len(r.open[k].args)
	delete(r.open, k)
}

// expire forgets the calls that did not come again in time, also where no other
// call comes that would.
func (r *rounds) expire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := roundTime
	for k, o := range r.open {
		if left := roundTime - time.Since(o.at); left <= 0 {
			r.forget(k)
		} else {
			next = min(next, left)
		}
	}
	if r.expiry = nil; len(r.open) > 0 {
		r.expiry = time.AfterFunc(next, r.expire)
	}
}

// end forgets the calls of a session that ended.
func (r *rounds) end(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, o := range r.open {
		if o.session == session {
			r.forget(k)
		}
	}
}

// take returns the arguments of a call that is the next round of one that was
// let run. Each state goes on once.
func (r *rounds) take(a *guardedCall) (sayso.Args, bool) {
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
	r.forget(k)
	return o.args, ok && time.Since(o.at) <= roundTime
}
