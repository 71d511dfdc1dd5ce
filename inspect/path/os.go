package path

import (
	"errors"
	"io"
	"os"
)

// OS is the file system of this machine.
type OS struct{}

// Lstat describes a name; the name of a link is the link.
func (OS) Lstat(name string) (Info, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return Info{Mode: info.Mode(), Links: links(info)}, nil
}

// Names returns up to n names in a folder, in no order.
func (OS) Names(dir string, n int) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	names, err := f.Readdirnames(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// Entries returns up to n names in a folder, in no order, with what they are.
func (OS) Entries(dir string, n int) ([]Entry, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	list, err := f.ReadDir(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	out := make([]Entry, len(list))
	for i, e := range list {
		out[i] = Entry{e.Name(), e.Type()}
	}
	return out, err
}

// Readlink returns the target of a link.
func (OS) Readlink(name string) (string, error) { return os.Readlink(name) }
