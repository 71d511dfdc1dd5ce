package sqlite

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
)

// watcher notices what other processes commit. The file system gives hints; the
// log is looked at after each, and every so often without one. It is started by
// the first who waits, so that processes which never do pay nothing.
type watcher struct {
	mu      sync.Mutex
	cancel  context.CancelFunc // nil until it was started
	ended   chan struct{}
	stopped bool
}

// minHintGap is the least time between two looks at the log because of hints: our
// own commits cause hints too, by the thousand.
const minHintGap = 2 * time.Millisecond

// ownHintGap is the least time after a look that found nothing of others though this
// process had committed: such looks were a sixteenth of what a server did.
const ownHintGap = 4 * minHintGap

// recheckDelays is when to look again after a hint. The file system tells of a write
// when it begins; the commit can be seen only when the disk has it, and making
// it seen is a write to shared memory, of which nobody tells.
var recheckDelays = [...]time.Duration{
	2 * time.Millisecond, 5 * time.Millisecond, 15 * time.Millisecond, 50 * time.Millisecond, 150 * time.Millisecond,
}

// newWatcher is replaced by tests that have a file system without hints.
var newWatcher = fsnotify.NewWatcher

// start begins to watch, once. When it returns, whatever is committed later
// will be published. Nobody waits here for one who waits for the database.
func (w *watcher) start(ctx context.Context, l *Log) error {
	if begun, err := w.isStarted(); begun || err != nil {
		return err
	}
	head, err := l.Head(ctx)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if begun, err := w.state(); begun || err != nil {
		return err // somebody else was first
	}
	l.hub.startAt(head.Seq)
	looking, cancel := context.WithCancel(context.Background()) // it outlives whoever was first to wait
	w.cancel, w.ended = cancel, make(chan struct{})
	go func() {
		defer close(w.ended)
		l.watchCommits(looking)
	}()
	return nil
}

func (w *watcher) isStarted() (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state()
}

// state reports whether it was started; it is called with the lock held.
func (w *watcher) state() (begun bool, err error) {
	if w.stopped {
		return false, errClosed
	}
	return w.cancel != nil, nil
}

func (w *watcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.cancel != nil {
		w.cancel()
		<-w.ended
	}
}

// watchCommits publishes what others committed until ctx ends.
func (l *Log) watchCommits(ctx context.Context) {
	hints, poll := l.watchFiles(ctx)
	timer := time.NewTimer(0) // at once, for what was committed before the hints began
	defer timer.Stop()
	again := len(recheckDelays)
	commits := l.writer.commits.Load()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hints:
			again = 0
		case <-timer.C:
		}
		others, _ := l.catchUp(ctx) // what fails now is tried again at the next hint or poll
		gap, own := minHintGap, l.writer.commits.Load()
		if others == 0 && own != commits {
			gap = ownHintGap
		}
		commits = own
		pause(ctx, gap)
		next := poll + rand.N(poll/4+1)
		if again < len(recheckDelays) {
			next, again = recheckDelays[again], again+1
		}
		timer.Reset(next)
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// watchFiles is a channel that holds a token when a file of the database changed,
// and how often to look without one: more often if there are no hints.
func (l *Log) watchFiles(ctx context.Context) (<-chan struct{}, time.Duration) {
	fs, err := newWatcher()
	if err != nil {
		return nil, l.opts.Poll / 20
	}
	if err := fs.Add(filepath.Dir(l.path)); err != nil {
		_ = fs.Close() // nothing was watched
		return nil, l.opts.Poll / 20
	}
	out := make(chan struct{}, 1)
	go func() {
		defer func() { _ = fs.Close() }() // the hints end with it
		for {
			select {
			case <-ctx.Done():
				return
			case _, ok := <-fs.Events:
				if !ok {
					return
				}
			case <-fs.Errors: // such as an overflow: then something changed
			}
			select {
			case out <- struct{}{}:
			default:
			}
			pause(ctx, minHintGap) // the rest of a commit, dozens of writes, is one hint meanwhile
		}
	}()
	return out, l.opts.Poll
}

// catchUp publishes what lies in the log behind the last event that was
// published, and returns how many events it found that others had appended.
func (l *Log) catchUp(ctx context.Context) (found int, err error) {
	c, err := l.readers.acquire(ctx, false)
	if err != nil {
		return 0, err
	}
	defer l.readers.release(c)
	l.hub.mu.Lock()
	seen := l.hub.published
	l.hub.mu.Unlock()
	var news []sayso.Event
	err = run(c, `SELECT seq, stream, pos FROM events WHERE seq > ? ORDER BY seq`, func(st *sqlite.Stmt) error {
		news = append(news, sayso.Event{
			Seq: sayso.Seq(st.ColumnInt64(0)), Stream: st.ColumnText(1), Pos: st.ColumnInt(2),
		})
		return nil
	}, int64(seen))
	if err != nil {
		return 0, unavailable("follow the log", err)
	}
	news = l.hub.withoutOwn(news)
	if n := len(news); n > 0 && news[n-1].Seq != seen+sayso.Seq(n) {
		if err := l.wakeArchived(c); err != nil {
			return 0, err
		}
	}
	l.hub.publish(seen, news)
	return len(news), nil
}

// wakeArchived wakes those whose stream has grown by events that are in the database
// no more: they went into a segment before they were seen here. The newest event
// of the log never does.
func (l *Log) wakeArchived(c *sqlite.Conn) error {
	for _, stream := range l.hub.waitedStreams() {
		n, err := queryInt(c, `SELECT coalesce(max(length), 0) FROM archived WHERE stream = ?`, stream)
		if err != nil {
			return unavailable("follow the log", err)
		}
		l.hub.mu.Lock()
		l.hub.wakeStream(stream, uint64(n))
		l.hub.mu.Unlock()
	}
	return nil
}
