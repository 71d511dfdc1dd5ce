package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
)

// Scope says whose settings a file holds.
type Scope string

// The scopes.
const (
	ScopeUser    Scope = "user"    // of the person, in all projects
	ScopeProject Scope = "project" // of everybody who works in a project
	ScopeLocal   Scope = "local"   // of the person, in one project
	ScopeManaged Scope = "managed" // of the machine; not ours to edit
)

// Place is one settings file of a host.
type Place struct {
	Scope Scope
	Path  string
}

// Read returns a settings file; one that does not exist is empty.
func Read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// Real is the file that a path leads to, which is the one that [Replace] writes. That of
// a project must be in the project of the directory: who agrees to a change of it has
// agreed to no other, and a project can come with links.
func Real(p Place, dir string) (string, error) {
	leads, err := real(p.Path)
	if p.Scope != ScopeProject {
		if err != nil {
			return p.Path, nil
		}
		return leads, nil
	}
	folders := upward(dir)
	if err != nil || len(folders) == 0 {
		return "", errors.Join(err, fmt.Errorf("%w: it is not known where %s leads", sayso.ErrInvalid, p.Path))
	}
	root, err := filepath.EvalSymlinks(folders[len(folders)-1])
	if err != nil {
		return "", err
	}
	if in, err := filepath.Rel(root, leads); err != nil || !filepath.IsLocal(in) {
		return "", fmt.Errorf("%w: %s leads out of the project, to %s", sayso.ErrInvalid, p.Path, leads)
	}
	return leads, nil
}

// real is a path without links, also where its end does not exist yet.
func real(path string) (string, error) {
	found, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%w: %s is a link that leads nowhere", sayso.ErrInvalid, path)
	}
	folder, err := real(filepath.Dir(path))
	return filepath.Join(folder, filepath.Base(path)), err
}

// Replace writes a settings file as a whole and keeps its mode, and what was
// there before in a file beside it, whose path is returned. A link is followed,
// so that the file it leads to is the one that changes. If the file is no
// longer what was read, it is left alone.
func Replace(path string, read, text []byte, now time.Time) (backup string, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	current, err := Read(path)
	if err != nil {
		return "", err
	}
	if !bytes.Equal(current, read) {
		return "", changed(path)
	}
	mode := fs.FileMode(0o600)
	if st, err := os.Stat(path); err == nil {
		mode = st.Mode().Perm()
		if backup, err = keep(path+beside+now.UTC().Format("20060102T150405Z"), read, mode); err != nil {
			return "", fmt.Errorf("keep a copy: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return backup, whole(path, text, mode)
}

// Copies are the copies that Replace left beside a settings file, the oldest first.
func Copies(path string) ([]string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Glob(globbed.Replace(path) + beside + "*")
}

// RemoveOwn deletes a settings file that we made, once nothing is left in it.
// What somebody else made has a copy beside it, from when we first wrote into it.
func RemoveOwn(path string, read, text []byte) (gone bool, err error) {
	if !empty(text) {
		return false, nil
	}
	if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() {
		return false, nil // a link is somebody's own
	}
	copies, err := Copies(path)
	if err != nil || len(copies) > 0 {
		return false, err
	}
	current, err := Read(path)
	if err != nil {
		return false, err
	}
	if !bytes.Equal(current, read) {
		return false, changed(path)
	}
	return true, os.Remove(path)
}

// empty reports whether settings hold nothing but what a new file begins with.
func empty(text []byte) bool {
	if len(text) == 0 {
		return true // it was ours as a whole
	}
	v := jsontext.Value(bytes.Clone(text))
	if v.Compact() != nil {
		return false
	}
	return string(v) == "{}" || string(v) == `{"version":1}`
}

// globbed has a path match itself alone.
var globbed = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`)

// beside is what the name of a copy has behind that of the file.
const beside = ".before-sayso-"

func changed(path string) error {
	return fmt.Errorf("%w: %s was changed meanwhile; run the command again", sayso.ErrConflict, path)
}

// maxCopies is how many copies of one second there may be.
const maxCopies = 100

// keep writes a copy beside those that are there: none takes the place of another.
// Until it is whole the file that it is of stays as it was.
func keep(path string, text []byte, mode fs.FileMode) (string, error) {
	name := path
	for n := 2; ; n++ {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && n <= maxCopies {
			name = fmt.Sprintf("%s-%d", path, n)
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(text)
		if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
			return "", errors.Join(err, os.Remove(name))
		}
		return name, nil
	}
}

// whole writes a file so that a reader sees all of it or what was there before.
func whole(path string, text []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".sayso-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
