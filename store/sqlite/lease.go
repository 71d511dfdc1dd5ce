package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/failpoint"
	"github.com/sayso-dev/sayso/internal/filelock"
)

// lease is a locked file. The kernel lets go of the lock when the process dies,
// in whatever way.
type lease struct {
	file *os.File
	name string
	of   *leases
	once sync.Once
	err  error
}

// leases are those that a log holds; they end with it.
type leases struct {
	mu     sync.Mutex
	held   map[*lease]struct{}
	closed bool
}

func (h *leases) keep(e *lease) (sayso.Lease, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e.of = h
	if h.closed {
		return nil, errors.Join(errClosed, e.end())
	}
	if h.held == nil {
		h.held = map[*lease]struct{}{}
	}
	h.held[e] = struct{}{}
	return e, nil
}

func (h *leases) close() (err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for e := range h.held {
		err = errors.Join(err, e.end())
	}
	h.held = nil
	return err
}

func (l *Log) leaseFolder() string { return filepath.Join(filepath.Dir(l.path), "leases") }

func (l *Log) leaseFile(name string) string { return filepath.Join(l.leaseFolder(), name+".lock") }

// Hold takes a lease under a new name; see [sayso.Log]. One for a process is
// enough.
func (l *Log) Hold(ctx context.Context) (sayso.Lease, error) {
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	if err := ensureFolder(l.leaseFolder()); err != nil {
		return nil, fmt.Errorf("%w: take a lease: %w", sayso.ErrUnavailable, err)
	}
	name := rand.Text()
	f, err := filelock.Hold(l.leaseFile(name))
	if err != nil {
		return nil, fmt.Errorf("%w: take a lease: %w", sayso.ErrUnavailable, err)
	}
	failpoint.Hit("lease.taken")
	l.tidy()
	return l.leases.keep(&lease{file: f, name: name})
}

func (e *lease) Name() string { return e.name }

// Release lets go of the lease. It may be called again.
func (e *lease) Release() error {
	e.of.mu.Lock()
	defer e.of.mu.Unlock()
	delete(e.of.held, e)
	return e.end()
}

func (e *lease) end() error {
	e.once.Do(func() { e.err = filelock.Release(e.file) })
	return e.err
}

// Held reports whether a process holds a lease; see [sayso.Log]. A file that
// nobody holds any more is removed.
func (l *Log) Held(ctx context.Context, name string) (bool, error) {
	if err := l.usable(ctx); err != nil {
		return false, err
	}
	if name == "" || strings.ContainsAny(name, `/\.`) {
		return false, nil // no lease has such a name
	}
	held, err := filelock.Held(l.leaseFile(name))
	if err != nil {
		return false, fmt.Errorf("%w: look at a lease: %w", sayso.ErrUnavailable, err)
	}
	return held, nil
}

// tidy removes, now and then, what processes left behind that died while they
// held a lease of which nobody asked again.
func (l *Log) tidy() {
	if mathrand.N(16) != 0 {
		return
	}
	folder, err := os.Open(l.leaseFolder())
	if err != nil {
		return // the next one tidies
	}
	defer func() { _ = folder.Close() }() // nothing was written
	names, _ := folder.Readdirnames(256)  // those that came, if an error cut them short
	for _, name := range names {
		if name, ok := strings.CutSuffix(name, ".lock"); ok {
			_, _ = l.Held(context.Background(), name) // which removes it if it is free
		}
	}
}
