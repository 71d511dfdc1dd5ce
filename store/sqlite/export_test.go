package sqlite

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/fsnotify/fsnotify"
	lib "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
)

// WithoutHints makes logs that are opened during a test hear nothing from the
// file system.
func WithoutHints(t *testing.T) {
	t.Helper()
	old := newWatcher
	newWatcher = func() (*fsnotify.Watcher, error) { return nil, errors.New("no hints today") }
	t.Cleanup(func() { newWatcher = old })
}

// KeepWAL turns the switch of a connection on, and reports whether it took.
func KeepWAL(c *sqlite.Conn) bool { return configure(c, lib.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE) }

// StablePlans turns the switch of a connection on, and reports whether it took.
func StablePlans(c *sqlite.Conn) bool { return configure(c, lib.SQLITE_DBCONFIG_ENABLE_QPSG) }

// Keeps reports whether a stream is read from memory now.
func (l *Log) Keeps(t *testing.T, stream string) (known bool) {
	t.Helper()
	err := l.read(t.Context(), "look at what is kept", func(c *sqlite.Conn) (err error) {
		known, err = l.readWindow(c, func(w *window) bool { _, ok := w.stream(stream, 0); return ok })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// Linger begins a read that takes its time until done is closed, and says so on
// begun. It returns what came of it.
func (l *Log) Linger(ctx context.Context, begun chan<- struct{}, done <-chan struct{}) error {
	return l.read(ctx, "linger", func(c *sqlite.Conn) error {
		begun <- struct{}{}
		<-done
		_, err := readHead(c)
		return err
	})
}

// Limit bounds the size of the database, as a full disk does; more is how many
// pages it may grow by, and a negative number lifts the bound.
func (l *Log) Limit(t *testing.T, more int) {
	t.Helper()
	err := l.writer.exec(func(c *sqlite.Conn) error {
		pages, err := queryInt(c, `PRAGMA page_count`)
		if err != nil {
			return err
		}
		if more < 0 {
			pages, more = 1<<30, 0
		}
		return run(c, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+more), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Watched reports whether anything watches for other processes' commits.
func (l *Log) Watched() bool {
	l.watcher.mu.Lock()
	defer l.watcher.mu.Unlock()
	return l.watcher.cancel != nil
}

// Busy has every reader's turn taken until the returned function is called.
func (l *Log) Busy() (free func()) {
	for range cap(l.readers.sem) {
		l.readers.sem <- struct{}{}
	}
	return func() {
		for range cap(l.readers.sem) {
			<-l.readers.sem
		}
	}
}

// Waiting is how many streams are waited for.
func (l *Log) Waiting() int {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	return len(l.hub.streams) + len(l.hub.followers)
}

// Stall keeps the writer busy until release is called.
func (l *Log) Stall() (release func()) {
	began, end, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = l.writer.exec(func(*sqlite.Conn) error {
			close(began)
			<-end
			return nil
		})
	}()
	<-began
	return func() { close(end); <-ended }
}

// Queued is how many batches wait for the writer.
func (l *Log) Queued() int {
	l.writer.mu.Lock()
	defer l.writer.mu.Unlock()
	return len(l.writer.queue)
}

// Commits is how many transactions with events the writer has committed.
func (l *Log) Commits() int { return int(l.writer.commits.Load()) }
