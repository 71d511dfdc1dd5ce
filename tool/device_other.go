//go:build unix && !linux

package tool

import (
	"os"
	"syscall"
)

// device says which mounted file system something lies on.
type device struct{ id uint64 }

func (d device) synthetic() string { return "" }

// deviceOf says where an open folder lies.
func deviceOf(dir *os.Root) (device, error) {
	f, err := dir.Open(".")
	if err != nil {
		return device{}, err
	}
	defer f.Close() // only looked at
	return deviceOfFile(f)
}

// deviceOfFile says where an open file lies.
func deviceOfFile(f *os.File) (device, error) {
	info, err := f.Stat()
	if err != nil {
		return device{}, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return device{uint64(st.Dev)}, nil
	}
	return device{}, nil
}
