package main

import (
	"context"
	"sync"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/local"
)

// parkable knows under which ticket a call of ours waits, and tells the person
// at the terminal once.
type parkable struct {
	app  *app
	tell func(sayso.Request) // may be nil

	mu sync.Mutex // guards id
	id sayso.ID
}

// ticket is the request that waits; empty while none does.
func (w *parkable) ticket() sayso.ID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.id
}

// opened notes the request of a gate in this process.
func (w *parkable) opened(r sayso.Request) {
	if w.tell != nil {
		w.tell(r)
	}
	w.note(r.ID)
}

func (w *parkable) note(id sayso.ID) {
	w.mu.Lock()
	first := w.id == ""
	w.id = id
	w.mu.Unlock()
	if first && isTerminal(w.app.err) {
		w.app.note("%s waits for a person: sayso watch", id.Short())
	}
}

// follow notes the request of a gate in another process, a server, until the
// returned function is called. What it cannot find out it does not note.
func (w *parkable) follow(ctx context.Context, l *local.Local, who sayso.Actor, call sayso.Call) (stop func()) {
	digest, err := call.Digest()
	if _, ours := l.Engine(); ours || err != nil {
		return func() {}
	}
	in, err := l.Inbox(ctx, who)
	if err != nil {
		return func() {}
	}
	head, err := in.Head(ctx)
	if err != nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { // ends with ctx
		for e, err := range in.Follow(ctx, head.Seq, sayso.EventQuery{Session: call.Session, Types: []sayso.EventType{sayso.EventRequested}}) {
			if err != nil {
				return
			}
			if r, err := in.Request(ctx, string(e.RequestID)); err == nil && r.Digest == digest && r.State.Open() {
				w.note(r.ID)
				return
			}
		}
	})
	return func() { cancel(); done.Wait() }
}
