package tool

import (
	"os"

	"golang.org/x/sys/unix"
)

// rename moves a name from one open folder to another, where nothing must have
// the new name.
func rename(from *os.Root, name string, to *os.Root, as string) error {
	return between(from, to, func(from, to int) error {
		return unix.RenameatxNp(from, name, to, as, unix.RENAME_EXCL)
	})
}
