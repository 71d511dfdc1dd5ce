package server

import (
	"sync"

	"github.com/sayso-dev/sayso"
)

// shown remembers which contents were served to which token of a page. A page
// is a program that many hands have written; that it may allow only what this
// server has shown in full is not left to it. After a restart nothing is
// remembered, and the page shows the request anew.
type shown struct {
	mu       sync.Mutex
	now, old map[look]struct{} // old is what was remembered before now was full
}

type look struct {
	token string
	id    sayso.ID
}

// maxShown bounds each of the two halves of what is remembered.
const maxShown = 1 << 14

func newShown() *shown { return &shown{now: map[look]struct{}{}} }

// add notes that the whole content of a request, or a definition, was served.
func (s *shown) add(c *caller, id sayso.ID) {
	if c.actor.Origin == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.now) >= maxShown {
		s.now, s.old = map[look]struct{}{}, s.now
	}
	s.now[look{c.token, id}] = struct{}{}
}

// to reports whether a caller may allow these requests: every one of them was
// served in full, or the caller is no page.
func (s *shown) to(c *caller, ids ...sayso.ID) bool {
	if c.actor.Origin == "" {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		_, now := s.now[look{c.token, id}]
		_, old := s.old[look{c.token, id}]
		if !now && !old {
			return false
		}
	}
	return true
}
