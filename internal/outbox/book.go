package outbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/filelock"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// book is the file in which it is kept how far each target has come. Any process
// may change it, one at a time; who reads it sees it whole.
type book struct{ folder string }

// page is what stands in the book.
type page struct {
	Version int               `json:"version"`
	Targets map[string]*shelf `json:"targets"`

	dropped map[string]int // of each target, what goes by the change that is made
}

// shelf is what is kept of one target.
type shelf struct {
	Seq     sayso.Seq `json:"seq"`           // the newest event that was sent, or lies here, or is not told of
	Letters []Letter  `json:"letters"`       // the oldest first
	Gone    time.Time `json:"gone,omitzero"` // since when the policy names it no more; zero if it does
}

// bookVersion is the version of the file that this release reads and writes.
const bookVersion = 1

// goneFor is how long it is kept what a target had that the policy names no more.
// It may have been taken out by mistake, or for a while.
const goneFor = 7 * 24 * time.Hour

// maxDead is how many dead letters are kept of one target; the oldest go.
const maxDead = 500

func (b book) path() string { return filepath.Join(b.folder, "notices.json") }
func (b book) lock() string { return filepath.Join(b.folder, "notices.lock") }

// sender is the file that whoever sends holds locked.
func (b book) sender() string { return filepath.Join(b.folder, "sender.lock") }

// read returns what stands in the book; nothing if there is none.
func (b book) read() (page, error) {
	p, _, err := b.load()
	return p, err
}

// load is read, and returns the text of the book too.
func (b book) load() (page, []byte, error) {
	p := page{Version: bookVersion, Targets: map[string]*shelf{}, dropped: map[string]int{}}
	text, err := os.ReadFile(b.path())
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil, nil
	}
	if err == nil {
		err = jcs.Unmarshal(text, &p)
	}
	if err == nil && p.Version != bookVersion {
		err = fmt.Errorf("%w: it has version %d, and this program reads version %d", sayso.ErrInvalid, p.Version, bookVersion)
	}
	if err != nil {
		return page{}, nil, fmt.Errorf("reading what notices wait, in %s: %w", b.path(), err)
	}
	return p, text, nil
}

// change changes the book, alone among all processes, unless it has waited for
// the others until ctx ended. The file is replaced as a whole; if f returns an
// error, or changes nothing, it is left as it is.
func (b book) change(ctx context.Context, f func(*page) error) error {
	if err := os.MkdirAll(b.folder, 0o700); err != nil {
		return err
	}
	lock, err := filelock.WaitFor(ctx, b.lock(), filelock.Exclusive)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // nothing was written to it
	p, before, err := b.load()
	if err != nil {
		return err
	}
	if err := f(&p); err != nil {
		return err
	}
	text, err := jcs.Marshal(p)
	if err != nil || bytes.Equal(before, text) {
		return err
	}
	return b.write(text)
}

// write replaces the file; what is there after a crash is the old one or the
// new one. Who writes is alone, so the file that becomes the new one has one
// name, and what a crash left of it goes.
func (b book) write(text []byte) error {
	path := b.path() + ".new"
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), b.path())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing what notices wait: %w", err), os.Remove(f.Name()))
	}
	return nil
}

// shelf returns what is kept of a target, which begins here if it is new.
func (p *page) shelf(name string, head sayso.Seq) *shelf {
	if p.Targets[name] == nil {
		p.Targets[name] = &shelf{Seq: head, Letters: []Letter{}}
	}
	return p.Targets[name]
}

// put keeps a letter in place of what was kept of it.
func (s *shelf) put(l Letter) {
	i := s.find(l.ID)
	if i < 0 {
		s.Letters = append(s.Letters, l)
		return
	}
	if kept := &s.Letters[i]; kept.Event != l.Event { // it tells of more by now
		l.Event, l.Request, l.Lost = kept.Event, kept.Request, kept.Lost
	}
	s.Letters[i] = l
}

// drop forgets a letter that was delivered, but for what it tells of more by now.
func (s *shelf) drop(l *Letter) {
	switch i := s.find(l.ID); {
	case i < 0:
	case s.Letters[i].Event == l.Event:
		s.Letters = slices.Delete(s.Letters, i, i+1)
	default:
		s.Letters[i].Lost.Count -= l.Lost.Count
	}
}

// lose keeps a letter of what died, together with the one about the same target
// that waits. Whoever has seen that one, and did not say so, has not seen this: it
// goes by the new name.
func (s *shelf) lose(l Letter) {
	i := slices.IndexFunc(s.Letters, func(w Letter) bool { return w.Kind == Dead && !w.Dead && w.Lost.Target == l.Lost.Target })
	if i < 0 {
		s.put(l)
		return
	}
	w := &s.Letters[i]
	l.Lost.Count += w.Lost.Count
	w.Event, w.Request, w.Lost = l.Event, l.Request, l.Lost
}

func (s *shelf) find(id sayso.ID) int {
	return slices.IndexFunc(s.Letters, func(l Letter) bool { return l.ID == id })
}

// part notes which targets are named no more, and forgets those that have not
// been for long. One that is named again goes on where it was.
func (p *page) part(names []string, now time.Time) {
	for name, s := range p.Targets {
		switch {
		case slices.Contains(names, name):
			s.Gone = time.Time{}
		case s.Gone.IsZero():
			s.Gone = now
		case now.Sub(s.Gone) > goneFor:
			p.dropped[name] += len(s.Letters)
			delete(p.Targets, name)
		}
	}
}

// trim forgets the oldest dead letters of each target that has too many.
func (p *page) trim() {
	for name, s := range p.Targets {
		for dead := len(s.Letters) - waiting(s.Letters); dead > maxDead; dead-- {
			i := slices.IndexFunc(s.Letters, func(l Letter) bool { return l.Dead })
			s.Letters = slices.Delete(s.Letters, i, i+1)
			p.dropped[name]++
		}
	}
}
