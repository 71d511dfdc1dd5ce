package tool

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// rename moves a name from one open folder to another, where nothing must have
// the new name.
func rename(from *os.Root, name string, to *os.Root, as string) error {
	return between(from, to, func(from, to int) error {
		err := unix.Renameat2(from, name, to, as, unix.RENAME_NOREPLACE)
		if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
			return err
		}
		// The file system cannot rename so. A second name never replaces one.
		if err := unix.Linkat(from, name, to, as, 0); err != nil {
			return err
		}
		return unix.Unlinkat(from, name, 0)
	})
}
