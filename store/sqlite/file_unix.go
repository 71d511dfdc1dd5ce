//go:build linux || darwin

package sqlite

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkOwner refuses what belongs to another user: one of the two would lock the
// other out with the files that SQLite makes.
func checkOwner(path string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d and this is user %d; run as its owner", path, st.Uid, os.Geteuid())
	}
	return nil
}
