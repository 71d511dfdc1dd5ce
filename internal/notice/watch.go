package notice

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/sayso-dev/sayso/internal/filelock"
)

// Watch says that somebody is watching, until the returned function is called
// or the process dies: it holds a lock on a file in a folder.
func Watch(folder string) (stop func(), err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	f, err := filelock.Hold(filepath.Join(folder, strconv.Itoa(os.Getpid())+"-"+rand.Text()+".lock"))
	if err != nil {
		return nil, err
	}
	return func() { _ = filelock.Release(f) }, nil // a file without a lock counts for nothing
}

// Watched reports whether anybody is watching. Files that a watcher left
// behind when it died are removed. Where it is not known, nobody is: rather one
// notice too many.
func Watched(folder string) bool {
	files, err := os.ReadDir(folder)
	return err == nil && slices.ContainsFunc(files, func(f os.DirEntry) bool {
		held, err := filelock.Held(filepath.Join(folder, f.Name()))
		return err == nil && held
	})
}
