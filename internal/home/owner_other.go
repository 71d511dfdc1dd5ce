//go:build !unix

package home

import (
	"errors"
	"io/fs"
	"os"
)

func owner(fs.FileInfo) (uid int, ok bool) { return 0, false }

// Inode is not known on this system.
func Inode(fs.FileInfo) uint64 { return 0 }

// Flock always fails on this system.
func Flock(*os.File, bool) error {
	return errors.New("sayso does not run here natively; use the Windows Subsystem for Linux")
}
