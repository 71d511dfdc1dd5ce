package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

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
