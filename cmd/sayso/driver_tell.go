package main

import (
	"context"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/words"
)

// hookTeller tells at the driver's terminal what becomes of the calls of a session
// that the host's hook, or plugin, asks about: they have no terminal to tell it at.
type hookTeller struct {
	app     *app
	inbox   sayso.Inbox // of the hook
	session func() string
	allowed bool // tells of what was allowed too; where the driver is asked about that again, it tells
	began   time.Time

	mu   sync.Mutex
	told map[sayso.ID]bool // what became of them
}

// tellHook starts to tell of a host's hook. stop tells what is left.
func (a *app) tellHook(ctx context.Context, l *local.Local, host string, session func() string, allowed bool) (stop func()) {
	inbox, err := l.Inbox(ctx, home.OwnActor(sayso.PrincipalAgent, host, "hook"))
	if err != nil {
		return func() {} // what waits is in the inbox all the same
	}
	t := &hookTeller{app: a, inbox: inbox, session: session, allowed: allowed, began: time.Now(), told: map[sayso.ID]bool{}}
	following, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); t.follow(following) }()
	return func() {
		end()
		<-done
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		t.rest(ctx)
	}
}

// hookTells are the events that the person at the driver should know of.
var hookTells = []sayso.EventType{sayso.EventRequested, sayso.EventResolved, sayso.EventExpired, sayso.EventWithdrawn}

func (t *hookTeller) follow(ctx context.Context) {
	head, err := t.inbox.Head(ctx)
	if err != nil {
		return
	}
	for e, err := range t.inbox.Follow(ctx, head.Seq, sayso.EventQuery{Types: hookTells}) {
		if err != nil {
			return
		}
		if own := t.session(); own == "" || e.SessionID != own { // the host's own screen is no place for our lines
			continue
		}
		r, err := t.inbox.Request(ctx, string(e.RequestID))
		switch {
		case err != nil:
		case !r.State.Open():
			t.decided(r)
		case e.Type == sayso.EventRequested:
			t.app.note("waits for a person: %s; type: sayso watch", requestLine(r))
		}
	}
}

// rest tells of what was decided and not told yet, as just before the end.
func (t *hookTeller) rest(ctx context.Context) {
	own := t.session()
	if own == "" {
		return
	}
	rs, err := t.inbox.Requests(ctx, sayso.RowQuery{
		Session: own, Since: t.began, Oldest: true,
		States: []sayso.State{sayso.StateAllowed, sayso.StateDenied, sayso.StateExpired, sayso.StateWithdrawn},
	})
	if err != nil {
		return
	}
	for _, r := range rs {
		t.decided(r)
	}
}

// decided tells what became of a call, once.
func (t *hookTeller) decided(r sayso.Request) {
	t.mu.Lock()
	was := t.told[r.ID]
	t.told[r.ID] = true
	t.mu.Unlock()
	switch {
	case was || r.Decision == nil:
	case !r.Decision.Allowed():
		t.app.note("✗ %s: %s", requestLine(r), printable(sayso.Told(*r.Decision, nil)))
	case t.allowed && words.Edited(r):
		t.app.note("✓ %s, with changes; type: sayso show %s", requestLine(r), r.ShortID)
	case t.allowed:
		t.app.note("✓ %s", requestLine(r))
	}
}

// requestLine is a request in a few words.
func requestLine(r sayso.Request) string { return words.Tool(r) + " " + words.Row(r, 100) }
