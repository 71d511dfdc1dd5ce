package broker

import (
	"slices"
	"sync"

	"github.com/sayso-dev/sayso"
)

// publicCache are the events that followers were shown last, as all of them see
// them: a thousand followers of one event take it apart once.
type publicCache [256]publicEvent

type publicEvent struct {
	mu    sync.Mutex // guards event
	event sayso.Event
}

// public is an event as every surface shows it. Its bytes must not be changed.
// An event whose content was erased is always looked at anew. A request that was
// opened in this process is remembered before anybody is shown it, and so before
// anybody can answer it.
func (p *publicCache) public(e *sayso.Event, recent *requestCache) (sayso.Event, error) {
	if e.Content == nil {
		return e.Public()
	}
	at := &p[e.Seq%sayso.Seq(len(p))]
	at.mu.Lock() // whoever else wants this event waits until it is made
	defer at.mu.Unlock()
	if at.event.Seq == e.Seq && at.event.Hash == e.Hash {
		return at.event, nil
	}
	public, err := makePublic(e, recent)
	if err == nil && !recent.erased(e.RequestID) { // else others have forgotten it by now
		at.event = public
	}
	return public, err
}

// forget forgets the events of requests whose content was erased; those of all
// if none is named.
func (p *publicCache) forget(ids []sayso.ID) {
	for i := range p {
		p[i].forget(ids)
	}
}

func (p *publicEvent) forget(ids []sayso.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(ids) == 0 || slices.Contains(ids, p.event.RequestID) {
		p.event = sayso.Event{}
	}
}

// caches is all of the content that a broker remembers. Which process erased it,
// the log says: whoever reads there that it is gone forgets it.
type caches struct{ b *Broker }

func (m caches) forget(ids []sayso.ID) {
	m.b.requests.forget(ids)
	m.b.publicEvents.forget(ids)
}

func (m caches) forgetAll() {
	m.b.requests.forgetAll()
	m.b.publicEvents.forget(nil)
}

// makePublic is a public event, for which a request is folded.
func makePublic(e *sayso.Event, recent *requestCache) (sayso.Event, error) {
	if e.Type != sayso.EventRequested || e.Memo == nil {
		return e.Public()
	}
	r, public, err := e.PublicRequest()
	if err == nil {
		recent.put(r)
	}
	return public, err
}
