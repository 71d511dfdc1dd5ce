package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	driver "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/sayso-dev/sayso/store/sqlite"
)

// The switches are set by reflection on the driver: a driver in which they
// cannot be reached would make every hook slower, and nothing else would tell.
func TestConfigure_reachesTheDriver(t *testing.T) {
	for _, tt := range []struct {
		name string
		turn func(*driver.Conn) bool
		kept bool // the -wal file outlives the last connection
	}{
		{"no switch", func(*driver.Conn) bool { return true }, false},
		{"NO_CKPT_ON_CLOSE", sqlite.KeepWAL, true},
		{"ENABLE_QPSG", sqlite.StablePlans, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f.db")
			c, err := driver.OpenConn(path, driver.OpenReadWrite|driver.OpenCreate|driver.OpenWAL)
			if err != nil {
				t.Fatal(err)
			}
			if !tt.turn(c) {
				t.Error("the switch cannot be reached in this version of the driver")
			}
			err = sqlitex.ExecuteScript(c, `CREATE TABLE t (x); INSERT INTO t VALUES (1);`, nil)
			if err := errors.Join(err, c.Close()); err != nil {
				t.Fatal(err)
			}
			_, err = os.Stat(path + "-wal")
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if kept := err == nil; kept != tt.kept {
				t.Errorf("the -wal file was kept: %v, want %v", kept, tt.kept)
			}
		})
	}
}

// TestRead_quickOnesPassSlowOnes: however many lists and archives are read at
// once, one connection is left to the reads that calls wait for.
func TestRead_quickOnesPassSlowOnes(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "state", "log.db"), nil)
	begun, done, ended := make(chan struct{}, slowReads), make(chan struct{}), make(chan error, slowReads)
	for range slowReads {
		go func() { ended <- l.Linger(context.Background(), begun, done) }() // ends with done
	}
	for range 3 {
		<-begun
	}
	for range 200 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		read := make(chan error, 1)
		go func() { _, err := l.Head(ctx); read <- err }() // ends at the latest with done
		select {
		case err := <-read:
			if err != nil {
				t.Error(err)
			}
		case <-ctx.Done():
			close(done)
			t.Fatal("a quick read waits behind slow ones")
		}
		cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := l.Linger(ctx, begun, done); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a slow read whose caller left: %v", err)
	}
	close(done)
	for range slowReads {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// slowReads is more than there are connections to read.
const slowReads = 8
