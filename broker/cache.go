package broker

import (
	"maps"
	"sync"

	"github.com/sayso-dev/sayso"
)

// requestCache remembers requests as this process saw them last. What it remembers
// may be old: who decides by it expects the stream to be as long as it was. A
// remembered request is shared, and nobody changes it. Whoever does not find one
// here reads it.
type requestCache struct {
	mu         sync.Mutex                  // guards what follows
	young, old map[sayso.ID]*sayso.Request // nil for one whose content was erased
	bytes      int                         // of the young
}

const (
	maxYoung        = 8192     // how many requests are young before they grow old together
	maxYoungBytes   = 32 << 20 // and how much of them
	maxSettledBytes = 4 << 10  // what is over is remembered only if it is no larger
)

// put remembers a request, which must not be changed any more, unless more is
// known of it. Whoever read it before its content was erased, and comes after,
// does not bring that back.
func (c *requestCache) put(r *sayso.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.find(r.ID); ok && (known == nil && !r.Erased || known != nil && known.Life.Len >= r.Life.Len) {
		return
	}
	if isSettled(r) && r.Life.Bytes > maxSettledBytes {
		c.remove(r.ID)
		return
	}
	c.rotate()
	c.remove(r.ID)
	c.young[r.ID] = r
	c.bytes += r.Life.Bytes
}

// rotate makes the young the old when they are too many, for who holds the lock.
func (c *requestCache) rotate() {
	if len(c.young) >= maxYoung || c.bytes >= maxYoungBytes {
		c.young, c.old, c.bytes = nil, c.young, 0
	}
	if c.young == nil {
		c.young = map[sayso.ID]*sayso.Request{}
	}
}

// isSettled reports whether nobody decides about a request any more, nor waits for
// what it came to.
func isSettled(r *sayso.Request) bool { return !r.State.Open() && !r.Unspent() && !r.Undelivered() }

// get returns a request as it was when it was seen last. It must not be changed.
func (c *requestCache) get(id sayso.ID) (*sayso.Request, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.find(id)
	return r, ok && r != nil
}

// forget forgets requests whose content was erased.
func (c *requestCache) forget(ids []sayso.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		c.rotate()
		c.remove(id)
		c.young[id] = nil
	}
}

// forgetAll forgets everything but what was erased.
func (c *requestCache) forgetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, some := range []map[sayso.ID]*sayso.Request{c.young, c.old} {
		maps.DeleteFunc(some, func(_ sayso.ID, r *sayso.Request) bool { return r != nil })
	}
	c.bytes = 0
}

// erased reports whether it is known that the content of a request was erased.
func (c *requestCache) erased(id sayso.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.find(id)
	return ok && (r == nil || r.Erased)
}

// remove is forget for who holds the lock.
func (c *requestCache) remove(id sayso.ID) {
	if r := c.young[id]; r != nil {
		c.bytes -= r.Life.Bytes
	}
	delete(c.young, id)
	delete(c.old, id)
}

// find is get for who holds the lock.
func (c *requestCache) find(id sayso.ID) (*sayso.Request, bool) {
	if r, ok := c.young[id]; ok {
		return r, true
	}
	r, ok := c.old[id]
	return r, ok
}
