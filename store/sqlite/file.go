package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// prepareFile makes the folder and the empty file where they are missing, and
// refuses a place where others could read or change the log.
//
// An existing file is looked at and never opened: closing it would drop the
// locks that SQLite holds on it in this process.
func prepareFile(path string) error {
	folder := filepath.Dir(path)
	if err := ensureFolder(folder); err != nil {
		return err
	}
	if err := localFileSystem(folder); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	return checkFile(path)
}

// ensureFolder makes a folder that is ours alone, or makes sure that it is.
func ensureFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("the folder %s has mode %#o, so other users can reach the log in it; type: chmod 700 %s",
			folder, info.Mode().Perm(), folder)
	}
	return checkOwner(folder, info)
}

func checkFile(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file; name the database itself", path)
	}
	if info.Mode().Perm()&0o177 != 0 {
		return fmt.Errorf("the file %s has mode %#o, not 0600, so other users can reach it; type: chmod 600 %s",
			path, info.Mode().Perm(), path)
	}
	return checkOwner(path, info)
}

func networkedError(folder, name string) error {
	return fmt.Errorf("the folder %s is on a %s file system, which can lose or fork a log that several processes "+
		"write; set SAYSO_HOME to a folder on a local disk", folder, name)
}
