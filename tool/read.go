package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
)

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

// read plans read_file: the text of a file, or some of its lines.
func (f *Files) read(_ context.Context, c sayso.Call) (*plan, error) {
	var a readArgs
	if err := arguments(c, &a); err != nil {
		return nil, err
	}
	if a.Offset < 0 || a.Limit < 0 {
		return nil, fmt.Errorf("%w: offset and limit count lines; they are not negative", sayso.ErrInvalid)
	}
	p, err := f.open(a.Path, os.O_RDONLY, false)
	if err != nil {
		return nil, err
	}
	part, err := p.looking(c, "Read from", "limit", "offset")
	if err == nil {
		err = p.regular()
	}
	run := func(context.Context) (Result, error) {
		text, err := p.lines(a)
		if err != nil {
			return Result{}, fmt.Errorf("%s %s: %w", c.Tool, p.title(), err)
		}
		return Result{Text: text}, nil
	}
	return p.keep(&plan{parts: onePart(part), still: p.still, run: run}, err)
}

// lines returns lines of the file that is open.
func (p *place) lines(a readArgs) (string, error) {
	if err := p.still(); err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.NewSectionReader(p.file, 0, MaxFile+1))
	if err != nil {
		return "", err
	}
	if len(text) > MaxFile {
		return "", fmt.Errorf("%w: %w: more than %d bytes", sayso.ErrInvalid, errTooLarge, MaxFile)
	}
	if !isText(text) {
		return "", fmt.Errorf("%w: it is a binary file of %d bytes", sayso.ErrInvalid, len(text))
	}
	if a.Offset > 0 || a.Limit > 0 {
		text = someLines(text, a.Offset, a.Limit)
	}
	if len(text) > MaxRead {
		n := bytes.LastIndexByte(text[:MaxRead], '\n') + 1
		if n == 0 {
			n = MaxRead
		}
		rest := len(text) - n
		return fmt.Sprintf("%s\n[%d more bytes; read them by lines, with offset and limit]\n", text[:n], rest), nil
	}
	return string(text), nil
}

// someLines returns up to limit lines from the one of that number on, the first
// being 1; a limit of zero is none.
func someLines(text []byte, offset, limit int) []byte {
	var out []byte
	n := 0
	for line := range bytes.SplitAfterSeq(text, []byte("\n")) {
		n++
		if n < offset {
			continue
		}
		if limit > 0 && n >= max(offset, 1)+limit {
			break
		}
		out = append(out, line...)
	}
	return out
}

type listArgs struct {
	Path *string `json:"path"`
}

// list plans list_files: the names in a folder.
func (f *Files) list(_ context.Context, c sayso.Call) (*plan, error) {
	var a listArgs
	if len(c.Args) > 0 {
		if err := arguments(c, &a); err != nil {
			return nil, err
		}
	}
	where := "."
	if a.Path != nil {
		where = *a.Path
	}
	p, err := f.open(where, os.O_RDONLY, false)
	if err != nil {
		return nil, err
	}
	if p.dir == nil {
		return p.keep(nil, fmt.Errorf("%s: %w: there is no such folder", p.title(), sayso.ErrNotFound))
	}
	part, err := p.looking(c, "List")
	run := func(context.Context) (Result, error) {
		text, err := p.listed()
		if err != nil {
			return Result{}, fmt.Errorf("%s %s: %w", c.Tool, p.title(), err)
		}
		return Result{Text: text}, nil
	}
	return p.keep(&plan{parts: onePart(part), still: p.still, run: run}, err)
}

// listed is a line for each name in the folder that is open: folders with a
// slash, links with an at sign, what is neither a file with a bar.
func (p *place) listed() (string, error) {
	if err := p.still(); err != nil {
		return "", err
	}
	d, err := p.dir.Open(".")
	if err != nil {
		return "", err
	}
	defer d.Close() // only read
	entries, err := d.ReadDir(MaxNames + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	var names []string
	for _, e := range entries[:min(len(entries), MaxNames)] {
		names = append(names, e.Name()+mark(e.Type()))
	}
	slices.Sort(names)
	if len(entries) > MaxNames {
		names = append(names, fmt.Sprintf("[more than %d names]", MaxNames))
	}
	return strings.Join(append(names, ""), "\n"), nil
}

func mark(t fs.FileMode) string {
	switch {
	case t.IsDir():
		return "/"
	case t&fs.ModeSymlink != 0:
		return "@"
	case !t.IsRegular():
		return "|"
	}
	return ""
}
