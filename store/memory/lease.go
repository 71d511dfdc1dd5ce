package memory

import (
	"context"
	"fmt"

	"github.com/sayso-dev/sayso"
)

// lease is held by the handle that took it, until it is released or the handle
// is closed.
type lease struct {
	log  *Log
	name string
}

// Hold takes a lease under a new name; see [sayso.Log].
func (l *Log) Hold(ctx context.Context) (sayso.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	l.lastName++
	name := fmt.Sprintf("memory-%d", l.lastName)
	l.leases[name] = l
	return &lease{l, name}, nil
}

// Held reports whether a lease is held; see [sayso.Log].
func (l *Log) Held(ctx context.Context, name string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return false, err
	}
	_, held := l.leases[name]
	return held, nil
}

func (e *lease) Name() string { return e.name }

// Release may be called more than once.
func (e *lease) Release() error {
	e.log.mu.Lock()
	defer e.log.mu.Unlock()
	delete(e.log.leases, e.name)
	return nil
}
