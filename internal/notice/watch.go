package notice

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/sayso-dev/sayso/internal/home"
)

// Watch says that somebody is watching, until the returned function is called
// or the process dies: it holds a lock on a file in a folder.
func Watch(folder string) (stop func(), err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, strconv.Itoa(os.Getpid())+".lock")
	f, err := hold(path)
	if err != nil {
		return nil, err
	}
	return func() {
		_ = os.Remove(path) // a file without a lock counts for nothing
		_ = f.Close()
	}, nil
}

// hold creates and locks a file. Somebody who looks for watchers may remove it
// between the two steps; then it is made anew.
func hold(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err := home.Flock(f, true); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		mine, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if there, err := os.Stat(path); err == nil && os.SameFile(mine, there) {
			return f, nil
		}
		_ = f.Close() // it is nobody's file by now
	}
}

// Watched reports whether anybody is watching. Files that a watcher left
// behind when it died are removed.
func Watched(folder string) bool {
	files, err := os.ReadDir(folder)
	if err != nil {
		return false // nobody ever watched, or it is not known: then rather one notice too many
	}
	for _, f := range files {
		if held(filepath.Join(folder, f.Name())) {
			return true
		}
	}
	return false
}

func held(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission)
	}
	defer f.Close()
	if home.Flock(f, false) != nil {
		return true
	}
	_ = os.Remove(path) // its watcher died
	return false
}
