package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sayso-dev/sayso"
)

// item is an event as streams send it, or why there are no more.
type item struct {
	seq   sayso.Seq
	at    time.Time
	frame []byte // shared, and not to be changed
	err   error
}

// queueSize is how many events wait for a stream before it has to go back to
// the log for them.
const queueSize = 64

// feeds are the follows that streams share: who sees the same and asks for the
// same, from the end of the log on, is sent the same.
type feeds struct {
	mu sync.Mutex // guards what follows
	of map[string]*feed
}

// feed is one follow. Whoever reads slowly is left behind, and holds up nobody.
type feed struct {
	at      sayso.Seq // behind it nothing was given out yet
	readers map[*reader]struct{}
	stop    context.CancelFunc
}

// reader is one stream that a feed is given to. The channel is closed when the
// stream was left behind or the feed ended: it goes on alone.
type reader struct{ items chan item }

func newFeeds() *feeds { return &feeds{of: map[string]*feed{}} }

// join gives the events behind a position, where the end of the log was or
// later, to a reader until it leaves. It gives none to a reader whose events
// were given out before: that has to read them alone.
func (fs *feeds) join(s *Server, c *caller, since sayso.Seq, q sayso.EventQuery) (items <-chan item, leave func()) {
	key := fmt.Sprintf("%q %q", c.actor, q)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := fs.of[key]
	if f == nil {
		f = s.newFeed(c, since, q, key)
		fs.of[key] = f
	}
	r := &reader{make(chan item, queueSize)}
	if since < f.at {
		close(r.items)
		return r.items, func() {}
	}
	f.readers[r] = struct{}{}
	return r.items, func() { s.feeds.leave(key, f, r) }
}

// newFeed begins to follow, until the last reader leaves or the server stops.
func (s *Server) newFeed(c *caller, since sayso.Seq, q sayso.EventQuery, key string) *feed {
	ctx, stop := context.WithCancel(s.leaving)
	f := &feed{at: since, readers: map[*reader]struct{}{}, stop: stop}
	go func() {
		defer s.feeds.end(key, f)
		s.follow(ctx, c, since, q, func(it item) bool { return s.feeds.give(f, it) })
	}()
	return f
}

// give gives an event to all readers that have room for it.
func (fs *feeds) give(f *feed, it item) bool {
	if it.err != nil {
		return false // those who go on alone find out
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.at = it.seq
	for r := range f.readers {
		select {
		case r.items <- it:
		default:
			delete(f.readers, r)
			close(r.items)
		}
	}
	return true
}

func (fs *feeds) leave(key string, f *feed, r *reader) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	delete(f.readers, r)
	if len(f.readers) == 0 {
		f.stop()
		fs.forget(key, f)
	}
}

// end lets go of those who still read.
func (fs *feeds) end(key string, f *feed) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.stop()
	for r := range f.readers {
		close(r.items)
	}
	clear(f.readers)
	fs.forget(key, f)
}

// forget is for when the lock is held.
func (fs *feeds) forget(key string, f *feed) {
	if fs.of[key] == f {
		delete(fs.of, key)
	}
}

// alone gives the events behind a position to one reader, no faster than it
// takes them.
func (s *Server) alone(ctx context.Context, c *caller, since sayso.Seq, q sayso.EventQuery) <-chan item {
	items := make(chan item, queueSize)
	go s.follow(ctx, c, since, q, func(it item) bool {
		select {
		case items <- it:
			return true
		case <-ctx.Done():
			return false
		}
	})
	return items
}

var errEnded = errors.New("the log ended")

// follow gives the events of a follow until give has enough, and then why there
// are no more.
func (s *Server) follow(ctx context.Context, c *caller, since sayso.Seq, q sayso.EventQuery, give func(item) bool) {
	for e, err := range c.inbox.Follow(ctx, since, q) {
		it := item{err: err}
		if err == nil {
			it = s.texts.item(&e)
		}
		if !give(it) || it.err != nil {
			return
		}
	}
	give(item{err: errEnded})
}
