package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
)

// Options change how a log behaves. The zero Options are fine.
type Options struct {
	// Busy is how long an append waits for another process to let go of the
	// database before it fails with [sayso.ErrUnavailable]. Default: 5 seconds.
	Busy time.Duration
	// Checkpoint says that Close writes what is in the -wal file into the
	// database, and that others may leave this to us while we run: for servers.
	// Without a server, Close does so when enough has come together. Default:
	// false.
	Checkpoint bool
	// Poll is how often waiters look for commits of other processes of which
	// the file system said nothing. Default: about a second.
	Poll time.Duration
}

func (o *Options) orDefault() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Busy <= 0 {
		out.Busy = 5 * time.Second
	}
	if out.Poll <= 0 {
		out.Poll = time.Second
	}
	return out
}

// Log is a log in a SQLite file. It may be used from many goroutines, and many
// processes may have the same file open.
type Log struct {
	path     string
	opts     Options
	writer   *writer
	readers  readerPool
	hub      hub
	watcher  watcher
	leases   leases
	onCommit atomic.Pointer[func(int, time.Duration)] // of each commit; see TellCommits
	server   *os.File                                 // locked while a server runs; nil in others
	closed   chan struct{}
	once     sync.Once
	closing  error
}

var _ sayso.Log = (*Log)(nil)

// Open opens the log at path and makes it, its folder and what is missing in its
// schema if need be. Nil options are the zero ones.
//
// It fails if the folder or the file can be reached by other users, if it lies
// on a network file system, if a newer version of sayso made its schema, or if
// the schema has lost what keeps a decision and its spending single.
func Open(ctx context.Context, path string, opts *Options) (*Log, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	if err := prepareFile(path); err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	l := &Log{path: path, opts: opts.orDefault(), closed: make(chan struct{})}
	l.hub.init()
	c, err := l.connect()
	if err != nil {
		return nil, err
	}
	if err := l.setup(c); err != nil {
		_ = c.Close() // the error that matters is the first
		return nil, fmt.Errorf("open the log %s: %w", path, err)
	}
	l.writer = newWriter(l, c)
	l.readers.init(l.connect, l.writer)
	go l.writer.run()
	return l, nil
}

// setup makes the connection of the writer ready.
func (l *Log) setup(c *sqlite.Conn) error {
	if err := migrate(c); err != nil {
		return err
	}
	if err := checkSchema(c); err != nil {
		return err
	}
	if err := run(c, fmt.Sprintf(`PRAGMA wal_autocheckpoint = %d`, autoCheckpoint), nil); err != nil {
		return unavailable("open", err)
	}
	if !l.opts.Checkpoint {
		return nil
	}
	if err := run(c, `PRAGMA cache_size = -16384`, nil); err != nil {
		return unavailable("open", err)
	}
	return l.lockServer()
}

// connect opens a connection that writes durably and waits for its turn.
func (l *Log) connect() (*sqlite.Conn, error) {
	c, err := sqlite.OpenConn(l.path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, unavailable("open "+l.path, err)
	}
	stablePlans(c)
	c.SetBusyTimeout(l.opts.Busy)
	for _, pragma := range durablePragmas {
		if err := run(c, pragma, nil); err != nil {
			_ = c.Close() // the error that matters is the first
			return nil, unavailable("open "+l.path, err)
		}
	}
	return c, nil
}

// Close ends the waits with [sayso.ErrUnavailable], finishes the appends that
// were begun and releases what the log holds. It may be called again.
func (l *Log) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.watcher.stop()
		l.readers.close()
		l.closing = errors.Join(l.leases.close(), l.writer.close(), l.unlockServer())
	})
	return l.closing
}

// usable reports why nothing can be asked of the log now.
func (l *Log) usable(ctx context.Context) error {
	select {
	case <-l.closed:
		return errClosed
	default:
		return ctx.Err()
	}
}

var errClosed = fmt.Errorf("%w: the log was closed", sayso.ErrUnavailable)

// Path is the database's file.
func (l *Log) Path() string { return l.path }
