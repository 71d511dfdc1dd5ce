package path

import "os"

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

// Readlink returns the target of a link.
func (OS) Readlink(name string) (string, error) { return os.Readlink(name) }
