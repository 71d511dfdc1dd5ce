// Package filelock locks files between processes, so that one of them does
// something alone, or so that others see that it lives. The kernel lets go of a
// lock when its file is closed or its process dies, in whatever way.
//
// The files are made where they are missing, for their owner alone, and no link
// is followed to them.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Kind says who else may hold a lock at the same time.
type Kind int

// The kinds of locks.
const (
	Exclusive Kind = iota // nobody
	Shared                // others whose lock is shared too
)

// ErrHeld says that another holder has a lock that excludes the one asked for.
var ErrHeld = errors.New("the file is locked by another process")

// Wait locks a file, if need be when others have let go of it. Closing the
// file lets go.
func Wait(path string, k Kind) (*os.File, error) { return acquire(path, k, true) }

// WaitFor locks a file as [Wait] does, and gives up when ctx ends: whoever holds
// it may have been stopped. It tries once whatever ctx says.
func WaitFor(ctx context.Context, path string, k Kind) (*os.File, error) {
	for gap := time.Millisecond; ; gap = min(2*gap, 50*time.Millisecond) {
		f, err := Try(path, k)
		if !errors.Is(err, ErrHeld) {
			return f, err
		}
		t := time.NewTimer(gap)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, fmt.Errorf("waiting for %s: %w (%w)", path, ctx.Err(), err)
		case <-t.C:
		}
	}
}

// Try locks a file if that is possible at once; else the error is [ErrHeld].
// Closing the file lets go.
func Try(path string, k Kind) (*os.File, error) { return acquire(path, k, false) }

func acquire(path string, k Kind, wait bool) (*os.File, error) {
	f, err := open(path, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := flock(f, k, wait); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Hold locks a file as a sign of life that [Held] looks for; see [Release]. The
// name should be nobody else's: Hold waits for whoever holds it.
func Hold(path string) (*os.File, error) {
	for {
		f, err := Wait(path, Exclusive)
		if err != nil {
			return nil, err
		}
		if named(f, path) {
			return f, nil
		}
		_ = f.Close() // somebody took it for one left behind, and removed it
	}
}

// named reports whether path is still the name of f.
func named(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(open, there)
}

// Release removes a file that [Hold] returned and lets go of it.
func Release(f *os.File) error {
	removed := os.Remove(f.Name())
	if errors.Is(removed, fs.ErrNotExist) {
		removed = nil
	}
	return errors.Join(removed, f.Close())
}

// Held reports whether some process holds a file. One that nobody holds was
// left behind by a process that died, and is removed. Any number may look at
// once: nobody takes another who looks for a holder.
func Held(path string) (bool, error) {
	f, err := open(path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	err = flock(f, Shared, false)
	if errors.Is(err, ErrHeld) {
		return true, nil
	}
	if err == nil {
		_ = os.Remove(path) // somebody else may have done so
	}
	return false, err
}
