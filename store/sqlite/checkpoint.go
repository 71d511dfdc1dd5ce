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
	walFrame        = 4096 + 24
	autoCheckpoint  = 4000           // frames, in a commit of anybody
	closeCheckpoint = 256 * walFrame // bytes, on closing, when no server runs
)

func (l *Log) serverFile() string { return l.path + "-server" }

// lockServer tells others that a server takes care of the -wal file.
func (l *Log) lockServer() error {
	// Somebody may be looking whether a server runs, for a moment.
	f, err := filelock.Wait(l.serverFile(), filelock.Shared)
	if err != nil {
		return fmt.Errorf("%w: %w", sayso.ErrUnavailable, err)
	}
	l.server = f
	return nil
}

func (l *Log) unlockServer() error {
	if l.server == nil {
		return nil
	}
	return l.server.Close()
}

// needsCheckpoint reports whether the -wal file has grown and no server will see to it.
func (l *Log) needsCheckpoint() bool {
	info, err := os.Stat(l.path + "-wal")
	if err != nil || info.Size() < closeCheckpoint {
		return false
	}
	f, err := filelock.Try(l.serverFile(), filelock.Exclusive)
	if err == nil {
		_ = f.Close() // nothing was written
	}
	return !errors.Is(err, filelock.ErrHeld)
}
