//go:build unix

package home

import (
	"io/fs"
	"syscall"
)

func owner(st fs.FileInfo) (uid int, ok bool) {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(sys.Uid), true
}

// inode is the identity of a file on its file system; zero if it is not known.
func inode(st fs.FileInfo) uint64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return sys.Ino
	}
	return 0
}
