package sqlite

import (
	"os"

	"golang.org/x/sys/unix"
)

// durablePragmas makes a commit wait for the disk. On macOS fsync alone leaves it in
// the drive's own memory.
var durablePragmas = []string{`PRAGMA synchronous = FULL`, `PRAGMA fullfsync = ON`, `PRAGMA checkpoint_fullfsync = ON`}

func localFileSystem(folder string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return &os.PathError{Op: "statfs", Path: folder, Err: err}
	}
	if st.Flags&unix.MNT_LOCAL == 0 {
		return networkedError(folder, unix.ByteSliceToString(st.Fstypename[:]))
	}
	return nil
}
