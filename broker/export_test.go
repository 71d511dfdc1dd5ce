package broker

import (
	"strings"

	"github.com/sayso-dev/sayso"
)

// Remembers reports whether a text is anywhere in what a broker remembers.
func (b *Broker) Remembers(text string) bool {
	b.requests.mu.Lock()
	defer b.requests.mu.Unlock()
	for _, some := range []map[sayso.ID]*sayso.Request{b.requests.young, b.requests.old} {
		for _, r := range some {
			if r != nil && strings.Contains(string(r.Preview), text) {
				return true
			}
		}
	}
	for i := range b.publicEvents {
		p := &b.publicEvents[i]
		p.mu.Lock()
		found := strings.Contains(string(p.event.Payload), text)
		p.mu.Unlock()
		if found {
			return true
		}
	}
	return false
}
