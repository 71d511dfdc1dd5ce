package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/present"
)

type writeArgs struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

// write plans write_file: all of a file, old or new.
func (f *Files) write(_ context.Context, c sayso.Call) (*plan, error) {
	var a writeArgs
	if err := arguments(c, &a); err != nil {
		return nil, err
	}
	if a.Content == nil {
		return nil, fmt.Errorf("%w: content is missing; for an empty file it is \"\"", sayso.ErrInvalid)
	}
	if len(*a.Content) > MaxFile {
		return nil, fmt.Errorf("%w: content may have %d bytes", sayso.ErrInvalid, MaxFile)
	}
	p, err := f.open(a.Path, os.O_RDWR, false)
	if err != nil {
		return nil, err
	}
	w, err := p.rewrite(c, "Write to", []byte(*a.Content), "content")
	return p.keep(w, err)
}

type editArgs struct {
	Path string `json:"path"`
	Old  string `json:"old_string"`
	New  string `json:"new_string"`
	All  bool   `json:"replace_all"`
}

// edit plans edit_file: one text in a file for another.
func (f *Files) edit(_ context.Context, c sayso.Call) (*plan, error) {
	var a editArgs
	if err := arguments(c, &a); err != nil {
		return nil, err
	}
	p, err := f.open(a.Path, os.O_RDWR, false)
	if err != nil {
		return nil, err
	}
	w, err := p.editing(c, a)
	return p.keep(w, err)
}

func (p *place) editing(c sayso.Call, a editArgs) (*plan, error) {
	if err := p.regular(); err != nil {
		return nil, err
	}
	if _, err := p.changing(c, ""); err != nil {
		return nil, err // before anything of what is in the file is told
	}
	old, err := readAt(p.file, MaxFile)
	if err != nil {
		return nil, err
	}
	switch n := strings.Count(string(old), a.Old); {
	case a.Old == "" || a.Old == a.New:
		return nil, fmt.Errorf("%w: old_string must be some text, and new_string another", sayso.ErrInvalid)
	case n == 0:
		return nil, fmt.Errorf("%w: old_string is not in %s; read it again", sayso.ErrNotFound, p.title())
	case n > 1 && !a.All:
		return nil, fmt.Errorf("%w: old_string is %d times in %s; make it longer, or set replace_all", sayso.ErrInvalid, n, p.title())
	}
	text := strings.ReplaceAll(string(old), a.Old, a.New)
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%w: the file would have more than %d bytes", sayso.ErrInvalid, MaxFile)
	}
	return p.rewrite(c, "Edit", []byte(text), "new_string", "old_string", "replace_all")
}

// keep returns a plan that holds the place open, or lets go of it.
func (p *place) keep(w *plan, err error) (*plan, error) {
	if err != nil {
		p.close()
		return nil, err
	}
	w.close = p.close
	return w, nil
}

// rewrite plans that the place holds text and nothing else.
func (p *place) rewrite(c sayso.Call, title string, text []byte, ignores ...string) (*plan, error) {
	if p.dir != nil {
		return nil, p.regular()
	}
	part, err := p.changing(c, title, ignores...)
	if err != nil {
		return nil, err
	}
	var old content
	if p.file != nil {
		if old, err = load(p.file); err != nil {
			return nil, fmt.Errorf("%s: %w", p.title(), err)
		}
		part.operands[0].Digest = old.digest
	}
	if part.ask != nil {
		part.ask.Present = func(context.Context) (*sayso.Presentation, error) { return p.shows(old, text), nil }
	}
	still := func() error { return p.unchanged(old) }
	run := func(context.Context) (Result, error) {
		if err := p.put(old, text); err != nil {
			return Result{}, fmt.Errorf("%s %s: %w", c.Tool, p.title(), err)
		}
		return Result{Text: fmt.Sprintf("%d bytes are in %s", len(text), p.title())}, nil
	}
	return &plan{parts: onePart(part), still: still, run: run}, nil
}

func onePart(p part) []part { return []part{p} }

// shows is the change as people see it.
func (p *place) shows(old content, text []byte) *sayso.Presentation {
	shown := present.File(p.rel, string(text))
	if p.file != nil {
		shown = present.Diff(p.rel, string(old.text), string(text))
	}
	return &shown
}

// unchanged reports whether the place is what it was, and holds what it held.
func (p *place) unchanged(old content) error {
	if err := p.still(); err != nil || p.file == nil {
		return err
	}
	return old.unchanged(p)
}

// put writes text to the place, if it still is what was decided about.
func (p *place) put(old content, text []byte) error {
	if err := p.unchanged(old); err != nil {
		return err
	}
	if p.file != nil {
		return old.replace(p.file, text)
	}
	if err := p.make(); err != nil {
		return err
	}
	// Exclusively: neither a file nor a link that came in between is written to.
	in := p.parent()
	f, err := in.OpenFile(p.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o666)
	if errors.Is(err, os.ErrExist) {
		return p.moved("there was nothing of that name, and now there is")
	}
	if err != nil {
		return err
	}
	err = errors.Join(fill(f, text), f.Close())
	if err != nil {
		err = errors.Join(err, in.Remove(p.name)) // half a file is none
	}
	return err
}

// make makes the folders that are not there yet. One that came in between is
// not gone into.
func (p *place) make() error {
	for _, name := range p.absent {
		in := p.parent()
		if err := in.Mkdir(name, 0o777); err != nil {
			if errors.Is(err, os.ErrExist) {
				return p.moved("there was no folder " + name + ", and now there is")
			}
			return err
		}
		s, err := p.enter(in, name, nil)
		if err != nil {
			if errors.Is(err, errSwapped) {
				err = p.moved("the new folder " + name + " was taken away")
			}
			return err
		}
		p.steps = append(p.steps, s)
	}
	p.absent = nil
	return nil
}
