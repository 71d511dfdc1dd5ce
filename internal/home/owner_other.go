//go:build !unix

package home

import "io/fs"

func owner(fs.FileInfo) (uid int, ok bool) { return 0, false }

// inode is not known on this system.
func inode(fs.FileInfo) uint64 { return 0 }
