package broker

import (
	"strings"

	"github.com/sayso-dev/sayso"
)

// Remembers reports whether a text is anywhere in what a broker remembers.
func (b *Broker) Remembers(text string) bool {
	b.recent.mu.Lock()
	defer b.recent.mu.Unlock()
	for _, some := range []map[sayso.ID]*sayso.Request{b.recent.young, b.recent.old} {
		for _, r := range some {
			if r != nil && strings.Contains(string(r.Preview), text) {
				return true
			}
		}
	}
	for i := range b.shown {
		p := &b.shown[i]
		p.mu.Lock()
		found := strings.Contains(string(p.event.Payload), text)
		p.mu.Unlock()
		if found {
			return true
		}
	}
	return false
}
