package sqlite

import (
	"errors"
	"fmt"
	"os"

	"github.com/sayso-dev/sayso"
)

// Writing the -wal file into the database takes two or three syncs, which a
// process that makes one append must not pay each time. But whoever opens the
// database when nobody else has it open reads the whole -wal file, so without
// a server it must stay small.
const (
	frame          = 4096 + 24
	autoCheckpoint = 4000        // frames, in a commit of anybody
	lateCheckpoint = 256 * frame // bytes, on closing, when no server runs
)

func (l *Log) serverFile() string { return l.path + "-server" }

// serve tells others that a server takes care of the -wal file.
func (l *Log) serve() error {
	f, err := os.OpenFile(l.serverFile(), os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return err
	}
	// Somebody may be looking whether a server runs, for a moment.
	if err := lockPatiently(f, shared); err != nil {
		return errors.Join(fmt.Errorf("%w: lock %s: %w", sayso.ErrUnavailable, f.Name(), err), f.Close())
	}
	l.server = f
	return nil
}

func (l *Log) retire() error {
	if l.server == nil {
		return nil
	}
	return l.server.Close()
}

// overdue reports whether the -wal file has grown and no server will see to it.
func (l *Log) overdue() bool {
	info, err := os.Stat(l.path + "-wal")
	if err != nil || info.Size() < lateCheckpoint {
		return false
	}
	f, err := os.OpenFile(l.serverFile(), os.O_RDWR|noFollow, 0)
	if err != nil {
		return true
	}
	defer func() { _ = f.Close() }() // nothing was written
	return lock(f, exclusive) == nil
}
