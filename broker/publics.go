package broker

import (
	"sync"

	"github.com/sayso-dev/sayso"
)

// publics are the events that followers were shown last, as all of them see
// them: a thousand followers of one event take it apart once.
type publics [256]publicEvent

type publicEvent struct {
	mu    sync.Mutex // guards event
	event sayso.Event
}

// public is an event as every surface shows it. Its bytes must not be changed.
// An event whose content was erased is always looked at anew. A request that was
// opened in this process is remembered before anybody is shown it, and so before
// anybody can answer it.
func (p *publics) public(e *sayso.Event, recent *recent) (sayso.Event, error) {
	if e.Content == nil {
		return e.Public()
	}
	at := &p[e.Seq%sayso.Seq(len(p))]
	at.mu.Lock() // whoever else wants this event waits until it is made
	defer at.mu.Unlock()
	if at.event.Seq == e.Seq && at.event.Hash == e.Hash {
		return at.event, nil
	}
	public, err := made(e, recent)
	if err == nil {
		at.event = public
	}
	return public, err
}

// made is a public event, for which a request is folded.
func made(e *sayso.Event, recent *recent) (sayso.Event, error) {
	if e.Type != sayso.EventRequested || e.Memo == nil {
		return e.Public()
	}
	r, public, err := e.PublicRequest()
	if err == nil {
		recent.put(r)
	}
	return public, err
}
