package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// usedEvery is how exactly the last use of a token is known.
const usedEvery = time.Minute

// usedFolder holds an empty file for each token that was shown, whose time is
// that of its last use. The list itself is not written for that: it is what lets
// people in.
func (t *Tokens) usedFolder() string { return filepath.Join(filepath.Dir(t.path), "used") }

// Used returns when a token was last shown, to the minute; zero if never.
func (t *Tokens) Used(id string) time.Time {
	st, err := os.Stat(filepath.Join(t.usedFolder(), id))
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// markLocked notes that a token was shown. t.mu must be held. A disk that is full
// loses the note, and must not keep people out.
func (t *Tokens) markLocked(id string, now time.Time) {
	if since := now.Sub(t.marked[id]); since >= 0 && since < usedEvery {
		return
	}
	if t.marked == nil {
		t.marked = map[string]time.Time{}
	}
	t.marked[id] = now
	path := filepath.Join(t.usedFolder(), id)
	err := os.Chtimes(path, now, now)
	if errors.Is(err, fs.ErrNotExist) && MakeFolder(t.usedFolder()) == nil {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_ = f.Close()
			_ = os.Chtimes(path, now, now)
		}
	}
}

// forgetLocked drops the notes of tokens that are no longer in the list. t.mu must
// be held.
func (t *Tokens) forgetLocked(list []Token) {
	there := map[string]bool{}
	for _, k := range list {
		there[k.ID] = true
	}
	files, _ := os.ReadDir(t.usedFolder()) // none, where nothing was noted
	for _, f := range files {
		if !there[f.Name()] {
			delete(t.marked, f.Name())
			_ = os.Remove(filepath.Join(t.usedFolder(), f.Name())) // what stays says nothing of any token
		}
	}
}
