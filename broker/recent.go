package broker

import (
	"sync"

	"github.com/sayso-dev/sayso"
)

// recent remembers requests as this process saw them last. What it remembers
// may be old: who decides by it expects the stream to be as long as it was. A
// remembered request is shared, and nobody changes it.
type recent struct {
	mu         sync.Mutex // guards what follows
	young, old map[sayso.ID]*sayso.Request
}

// generation is how many requests are young before they grow old together.
const generation = 8192

// put remembers a request, which must not be changed any more, unless more is
// known of it.
func (c *recent) put(r *sayso.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.look(r.ID); ok && known.Life.Len >= r.Life.Len {
		return
	}
	if len(c.young) >= generation {
		c.young, c.old = nil, c.young
	}
	if c.young == nil {
		c.young = map[sayso.ID]*sayso.Request{}
	}
	c.young[r.ID] = r
}

// get returns a request as it was when it was seen last. It must not be changed.
func (c *recent) get(id sayso.ID) (*sayso.Request, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.look(id)
}

// forget forgets requests whose content was erased.
func (c *recent) forget(ids []sayso.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		delete(c.young, id)
		delete(c.old, id)
	}
}

// look is get for who holds the lock.
func (c *recent) look(id sayso.ID) (*sayso.Request, bool) {
	if r, ok := c.young[id]; ok {
		return r, true
	}
	r, ok := c.old[id]
	return r, ok
}
