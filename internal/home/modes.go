package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// OpenError reports a file or folder that others may read or write, or that
// belongs to somebody else. Its text names the command that closes it.
type OpenError struct {
	Path string
	Mode fs.FileMode // as found
	Want fs.FileMode // as it must be; group or others may read what they may read here
	Why  string      // if it is not the mode
}

func (e *OpenError) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("%s %s", e.Path, e.Why)
	}
	if e.readable() {
		return fmt.Sprintf("%s may be written by others (mode %04o)", e.Path, e.Mode.Perm())
	}
	return fmt.Sprintf("%s is open to others (mode %04o)", e.Path, e.Mode.Perm())
}

// readable reports whether others may read the file and must not write it.
func (e *OpenError) readable() bool { return e.Want&0o044 != 0 }

// Hint is what to type.
func (e *OpenError) Hint() string {
	if e.Why != "" {
		return "ls -ld " + Quoted(e.Path)
	}
	if e.readable() {
		return "chmod go-w " + Quoted(e.Path)
	}
	return fmt.Sprintf("chmod %o %s", e.Want, Quoted(e.Path))
}

// Make creates the folders that are missing, closed to others, and refuses
// those that are open.
func (p Paths) Make() error {
	for _, dir := range p.Folders() {
		if err := MakeFolder(dir); err != nil {
			return err
		}
	}
	return MakeSocketFolder(p.Socket())
}

// MakeSocketFolder creates the folder of a socket, closed to others, and refuses
// one that [CheckSocketFolder] does.
func MakeSocketFolder(socket string) error {
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	return CheckSocketFolder(socket)
}

// CheckSocketFolder reports a folder of a socket that others may enter, that is
// not ours, or, among everybody's folders in /tmp, that is a link: whoever may
// put one there chooses where we listen, and to whom we speak.
func CheckSocketFolder(socket string) error {
	dir := filepath.Dir(socket)
	if filepath.Dir(dir) == shortPlace {
		st, err := os.Lstat(dir)
		if err != nil {
			return err
		}
		return checkInfo(dir, st, 0o700, fs.ModeDir)
	}
	return checkFolder(dir)
}

// MakeFolder creates a folder closed to others, and refuses one that is open.
func MakeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	return checkFolder(dir)
}

// checkFolder reports a folder that others may enter or that is not ours.
func checkFolder(dir string) error { return check(dir, 0o700, fs.ModeDir) }

// checkFile reports a file that others may read or write or that is not ours.
func checkFile(path string) error { return check(path, 0o600, 0) }

// CheckPolicy reports a policy file that others may write or that is not ours.
// They may read it: rules are no secret.
func CheckPolicy(path string) error { return check(path, 0o755, 0) }

// CheckOrgFile reports a file of the whole machine that anybody but the
// administrator, or the user of this process, may write.
func CheckOrgFile(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if uid, ok := owner(st); ok && uid != 0 && uid != os.Getuid() {
		return &OpenError{Path: path, Why: fmt.Sprintf("belongs to user %d, not to the administrator", uid)}
	}
	if st.Mode().Perm()&0o022 != 0 {
		return &OpenError{Path: path, Mode: st.Mode(), Want: 0o644}
	}
	return nil
}

func check(path string, want, kind fs.FileMode) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	return checkInfo(path, st, want, kind)
}

func checkInfo(path string, st fs.FileInfo, want, kind fs.FileMode) error {
	if st.Mode().Type() == fs.ModeSymlink {
		return &OpenError{Path: path, Why: "is a link, which somebody else may have put there; take it away"}
	}
	if st.Mode().Type() != kind {
		return &OpenError{Path: path, Why: "is not what it must be: " + st.Mode().String()}
	}
	if uid, ok := owner(st); ok && uid != os.Getuid() {
		return &OpenError{Path: path, Why: fmt.Sprintf("belongs to user %d, not to you", uid)}
	}
	if st.Mode().Perm()&^want != 0 {
		return &OpenError{Path: path, Mode: st.Mode(), Want: want}
	}
	return nil
}

// Audit returns what is wrong with the modes of all folders and files that
// exist, in order of their names.
func (p Paths) Audit() []error {
	var found []error
	note := func(err error) {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			found = append(found, err)
		}
	}
	for _, dir := range p.Folders() {
		note(checkFolder(dir))
	}
	for _, path := range p.files() {
		note(checkFile(path))
	}
	note(CheckPolicy(p.Policy()))
	return found
}

// files lists everything that must be closed: what we write by name, and all
// that lies beside the database and among the tokens.
func (p Paths) files() []string {
	files := []string{p.TokenList(), p.OffFile(), p.LockFile()}
	for _, pattern := range []string{p.Database() + "*", filepath.Join(p.tokenFolder(), "*"), filepath.Join(p.Notices(), "*"), filepath.Join(p.Logins(), "*", "*")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			continue // the folder's name holds a pattern; the files by name are still looked at
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return files
}

// Write replaces a file as a whole: a reader sees the old bytes or the new
// ones, also after a crash.
func Write(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // made with mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	return syncFolder(filepath.Dir(path))
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Read returns a file that must be closed to others.
func Read(path string) ([]byte, error) {
	if err := checkFile(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
