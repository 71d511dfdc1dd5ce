package sqlite

import (
	"errors"
	"fmt"
	"os"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/filelock"
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
	// Somebody may be looking whether a server runs, for a moment.
	f, err := filelock.Wait(l.serverFile(), filelock.Shared)
	if err != nil {
		return fmt.Errorf("%w: %w", sayso.ErrUnavailable, err)
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
	f, err := filelock.Try(l.serverFile(), filelock.Exclusive)
	if err == nil {
		_ = f.Close() // nothing was written
	}
	return !errors.Is(err, filelock.ErrHeld)
}
