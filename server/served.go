package server

import (
	"sync"

	"github.com/sayso-dev/sayso"
)

// servedContent remembers which contents were served to which token of a page. A page
// is a program that many hands have written; that it may allow only what this
// server has shown in full is not left to it. After a restart nothing is
// remembered, and the page shows the request anew.
type servedContent struct {
	mu          sync.Mutex
	recent, old map[servedKey]struct{} // old is what was remembered before now was full
}

type servedKey struct {
	token string
	id    sayso.ID
}

// maxServed bounds each of the two halves of what is remembered.
const maxServed = 1 << 14

func newServedContent() *servedContent { return &servedContent{recent: map[servedKey]struct{}{}} }

// add notes that the whole content of a request, or a definition, was served.
func (s *servedContent) add(c *caller, id sayso.ID) {
	if c.actor.Origin == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.recent) >= maxServed {
		s.recent, s.old = map[servedKey]struct{}{}, s.recent
	}
	s.recent[servedKey{c.token, id}] = struct{}{}
}

// hasServed reports whether a caller may allow these requests: every one of them was
// served in full, or the caller is no page.
func (s *servedContent) hasServed(c *caller, ids ...sayso.ID) bool {
	if c.actor.Origin == "" {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		_, now := s.recent[servedKey{c.token, id}]
		_, old := s.old[servedKey{c.token, id}]
		if !now && !old {
			return false
		}
	}
	return true
}
