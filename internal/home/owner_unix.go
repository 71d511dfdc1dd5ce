//go:build unix

package home

import (
	"io/fs"
	"os"
	"syscall"
)

func owner(st fs.FileInfo) (uid int, ok bool) {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(sys.Uid), true
}

// flock takes an exclusive lock on a file, waiting for it if wait is set. The
// kernel frees it when the file is closed or the process dies.
func flock(f *os.File, wait bool) error {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}
