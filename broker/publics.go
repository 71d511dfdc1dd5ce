package broker

import (
	"sync"

	"github.com/sayso-dev/sayso"
)

// publics are the events that followers were shown last, as all of them see
// them: a thousand followers of one event take it apart once.
type publics struct {
	mu   sync.Mutex // guards what follows
	ring [256]sayso.Event
}

// public is an event as every surface shows it. Its bytes must not be changed.
// An event whose content was erased is always looked at anew.
func (p *publics) public(e *sayso.Event) (sayso.Event, error) {
	if e.Content == nil {
		return e.Public()
	}
	at := &p.ring[e.Seq%sayso.Seq(len(p.ring))]
	p.mu.Lock()
	known := *at
	p.mu.Unlock()
	if known.Seq == e.Seq && known.Hash == e.Hash {
		return known, nil
	}
	public, err := e.Public()
	if err != nil {
		return public, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	*at = public
	return public, nil
}
