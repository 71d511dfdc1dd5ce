package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
)

// room is what must fit on the disk for the database to be called writable.
const room = 256 << 10

// Writable reports why nothing can be recorded on this machine, as far as that
// can be found out without recording anything: the folder cannot be written to,
// the disk is full, or another program holds the database, for which it waits a
// second. A place that does not exist yet is no error; the first call makes it.
func Writable(ctx context.Context, paths home.Paths) error {
	if _, err := os.Stat(paths.Database()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := errors.Join(roomIn(paths.State), turn(ctx, paths.Database())); err != nil {
		return fmt.Errorf("%w: nothing can be recorded: %w", sayso.ErrUnavailable, err)
	}
	return nil
}

// roomIn reports whether a small file can be written to a folder.
func roomIn(dir string) error {
	f, err := os.CreateTemp(dir, ".room-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, room))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// turn takes the place of who writes, and gives it back.
func turn(ctx context.Context, database string) error {
	c, err := sqlite.OpenConn(database, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetInterrupt(ctx.Done())
	c.SetBusyTimeout(time.Second)
	err = sqlitex.ExecuteTransient(c, "BEGIN IMMEDIATE", nil)
	if sqlite.ErrCode(err) == sqlite.ResultBusy {
		return fmt.Errorf("the database is locked by another process; see which with: fuser -v %s", database)
	}
	if err != nil {
		return err
	}
	return sqlitex.ExecuteTransient(c, "ROLLBACK", nil)
}
