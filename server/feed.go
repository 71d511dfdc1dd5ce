package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
)

// streamEvent is an event as streams send it, or why there are no more.
type streamEvent struct {
	seq   sayso.Seq
	at    time.Time
	frame []byte // shared, and not to be changed
	err   error
}

// queueSize is how many events wait for a stream before it has to go back to
// the log for them.
const queueSize = 64

// sharedFeeds are the feeds that streams share: who sees the same and asks for the
// same, from the end of the log on, is sent the same.
type sharedFeeds struct {
	mu    sync.Mutex // guards what follows
	byKey map[string]*feed
}

// feed is one follow. Whoever reads slowly is left behind, and holds up nobody.
type feed struct {
	published   sayso.Seq // behind it nothing was given out yet
	subscribers map[*subscriber]struct{}
	stop        context.CancelFunc
}

// subscriber is one stream that a feed is given to. The channel is closed when the
// stream was left behind or the feed ended: it goes on alone.
type subscriber struct{ events chan streamEvent }

func newSharedFeeds() *sharedFeeds { return &sharedFeeds{byKey: map[string]*feed{}} }

// join gives the events behind a position, where the end of the log was or
// later, to a subscriber until it leaves. It gives none to one whose events
// were given out before: that has to read them alone.
func (fs *sharedFeeds) join(s *Server, c *caller, since sayso.Seq, q sayso.EventQuery) (events <-chan streamEvent, leave func()) {
	key := fmt.Sprintf("%q %q", c.actor, q)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := fs.byKey[key]
	if f == nil {
		f = s.newFeed(c, since, q, key)
		fs.byKey[key] = f
	}
	r := &subscriber{make(chan streamEvent, queueSize)}
	if since < f.published {
		close(r.events)
		return r.events, func() {}
	}
	f.subscribers[r] = struct{}{}
	return r.events, func() { s.feeds.leave(key, f, r) }
}

// newFeed begins to follow, until the last subscriber leaves or the server stops.
func (s *Server) newFeed(c *caller, since sayso.Seq, q sayso.EventQuery, key string) *feed {
	ctx, stop := context.WithCancel(s.stopping)
	f := &feed{published: since, subscribers: map[*subscriber]struct{}{}, stop: stop}
	go func() {
		defer s.feeds.close(key, f)
		s.follow(ctx, c, since, q, func(it streamEvent) bool { return s.feeds.publish(f, it) })
	}()
	return f
}

// publish gives an event to all subscribers that have room for it.
func (fs *sharedFeeds) publish(f *feed, it streamEvent) bool {
	if it.err != nil {
		return false // those who go on alone find out
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.published = it.seq
	for r := range f.subscribers {
		select {
		case r.events <- it:
		default:
			delete(f.subscribers, r)
			close(r.events)
		}
	}
	return true
}

func (fs *sharedFeeds) leave(key string, f *feed, r *subscriber) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	delete(f.subscribers, r)
	if len(f.subscribers) == 0 {
		f.stop()
		fs.remove(key, f)
	}
}

// close lets go of those who still read.
func (fs *sharedFeeds) close(key string, f *feed) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.stop()
	for r := range f.subscribers {
		close(r.events)
	}
	clear(f.subscribers)
	fs.remove(key, f)
}

// remove is for when the lock is held.
func (fs *sharedFeeds) remove(key string, f *feed) {
	if fs.byKey[key] == f {
		delete(fs.byKey, key)
	}
}

// followAlone gives the events behind a position to one reader, no faster than it
// takes them.
func (s *Server) followAlone(ctx context.Context, c *caller, since sayso.Seq, q sayso.EventQuery) <-chan streamEvent {
	events := make(chan streamEvent, queueSize)
	go s.follow(ctx, c, since, q, func(it streamEvent) bool {
		select {
		case events <- it:
			return true
		case <-ctx.Done():
			return false
		}
	})
	return events
}

var errLogEnded = errors.New("the log ended")

// follow gives the events of a follow until give has enough, and then why there
// are no more.
func (s *Server) follow(ctx context.Context, c *caller, since sayso.Seq, q sayso.EventQuery, give func(streamEvent) bool) {
	for e, err := range c.inbox.Follow(ctx, since, q) {
		it := streamEvent{err: err}
		if err == nil {
			it = s.eventCache.streamEvent(&e)
		}
		if !give(it) || it.err != nil {
			return
		}
	}
	give(streamEvent{err: errLogEnded})
}
