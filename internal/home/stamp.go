package home

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Stamp tells whether a file is still the one that was read. The zero Stamp is
// that of a file that could not be looked at, and is the same as no other.
type Stamp struct {
	known   bool
	missing bool
	young   bool // another write might leave the same stamp
	size    int64
	changed time.Time
	inode   uint64
	mode    fs.FileMode
}

// StampOf looks at a file, links followed, which is to be read after that. A
// link to nothing is not a missing file: it has the zero Stamp.
func StampOf(path string) Stamp {
	st, err := os.Stat(path)
	if err == nil {
		return Stamp{known: true, young: young(st.ModTime(), time.Now()), size: st.Size(), changed: st.ModTime(), inode: inode(st), mode: st.Mode()}
	}
	_, link := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) && errors.Is(link, fs.ErrNotExist) {
		return Stamp{known: true, missing: true}
	}
	return Stamp{}
}

// Same reports whether the file that has the stamp now is, unchanged, the one
// that had s. A file that was written just before it was looked at is not: the
// clock of a file system moves in steps, and the inode of a file that was
// replaced is given to the next one, so that two writes within one step can
// look alike.
func (s Stamp) Same(now Stamp) bool { return s.known && !s.young && s == now }

// young reports whether the clock of the file system may still show the time
// at which a file was changed. It moves every few milliseconds; where the time
// has no parts of a second, every second or two.
func young(changed, now time.Time) bool {
	step := 100 * time.Millisecond
	if changed.Nanosecond() == 0 {
		step = 3 * time.Second
	}
	age := now.Sub(changed)
	return -step < age && age < step
}
