// Package patch reads the patches of apply_patch: which files one would add,
// change, move or delete, and how.
//
//	*** Begin Patch
//	*** Update File: src/a.go
//	@@ func a() {
//	-	old
//	+	new
//	*** Delete File: src/b.go
//	*** End Patch
//
// The reader is stricter than the programs that apply such patches, which
// forgive much. A line that could be taken for the head of another file and is
// not plainly one, and anything else that is out of place, is an error: a patch
// that is read here changes the files that are named, and no others.
package patch

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Do is what a patch does with a file.
type Do uint8

// What a patch does.
const (
	Update Do = iota
	Add       // or overwrite
	Delete
)

func (d Do) String() string { return [...]string{"update", "add", "delete"}[d] }

// File is what a patch does with one file.
type File struct {
	Do   Do
	Path string // as it stands there
	To   string // where an update moves it; empty if it stays
	Text string // of an added file
	// Edits are those of an update, in order.
	Edits []Edit
}

// Edit replaces lines by others.
type Edit struct {
	At       string // a line that stands somewhere before; empty if none is named
	Old, New string // whole lines
}

// ErrNone reports that a text is no patch, or none that is read strictly.
var ErrNone = errors.New("no patch that can be read strictly")

// The marks of a patch.
const (
	begin = "*** Begin Patch"
	end   = "*** End Patch"
	eof   = "*** End of File"
	move  = "*** Move to: "
)

var heads = []struct {
	mark string
	do   Do
}{{"*** Add File: ", Add}, {"*** Update File: ", Update}, {"*** Delete File: ", Delete}}

// Parse reads a patch. The errors wrap [ErrNone] and quote nothing of it.
func Parse(text string) ([]File, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 3 || lines[0] != begin || lines[len(lines)-1] != end {
		return nil, fmt.Errorf("%w: it does not begin and end with the lines of a patch", ErrNone)
	}
	r := reader{lines: lines[1 : len(lines)-1]}
	var files []File
	for r.at < len(r.lines) {
		f, err := r.file()
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrNone, r.at+2, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// Named are the paths that any reader of such patches could take from a text that
// is not read strictly, however the lines are written that name them. What stands
// for a name in what would be written is among them.
func Named(text string) []string {
	var names []string
	eachHead(text, func(_, name string) { names = append(names, name) })
	return names
}

// Heads say what a patch does with which files, as in "update src/a.go", for a
// list. Of a text that is not read strictly it is what it may do.
func Heads(text string) []string {
	files, err := Parse(text)
	var heads []string
	for _, f := range files {
		heads = append(heads, f.Do.String()+" "+f.Path)
		if f.To != "" {
			heads = append(heads, "move to "+f.To)
		}
	}
	if err == nil {
		return heads
	}
	heads = nil
	eachHead(text, func(what, name string) { heads = append(heads, what+" "+name) })
	return heads
}

// eachHead calls back with what every line does that may be the head of a file,
// and with the name.
func eachHead(text string, yield func(what, name string)) {
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimLeftFunc(line, notMark)
		rest := strings.TrimLeft(line, "*")
		if rest == line {
			continue
		}
		words, name, _ := strings.Cut(rest, ":")
		what := naming[strings.ToLower(strings.Join(strings.Fields(words), " "))]
		if name = strings.TrimSpace(name); what != "" && name != "" {
			yield(what, name)
		}
	}
}

// naming are the words in front of a name, and what they say is done.
var naming = map[string]string{"add file": "add", "update file": "update", "delete file": "delete", "move to": "move to"}

// notMark reports whether a sign may stand in front of the mark of a line.
func notMark(r rune) bool {
	return r != '*' && (unicode.IsSpace(r) || !unicode.IsLetter(r) && !unicode.IsDigit(r))
}

// Names are all paths that a file of a patch is about.
func (f File) Names() []string {
	if f.To != "" {
		return []string{f.Path, f.To}
	}
	return []string{f.Path}
}

type reader struct {
	lines []string
	at    int
}

// file reads what is done with one file: its head and what follows.
func (r *reader) file() (f File, err error) {
	for _, h := range heads {
		if name, ok := strings.CutPrefix(r.lines[r.at], h.mark); ok {
			f.Do, f.Path, err = h.do, name, checkName(name)
			r.at++
			if err != nil {
				return f, err
			}
			return f, r.body(&f)
		}
	}
	return f, errors.New("it is not the head of a file")
}

func (r *reader) body(f *File) error {
	switch f.Do {
	case Add:
		return r.added(f)
	case Update:
		if err := r.moved(f); err != nil {
			return err
		}
		return r.edits(f)
	}
	return nil
}

// next is the next line of a file's body. ok is false at the end of it.
func (r *reader) next() (line string, ok bool, err error) {
	if r.at == len(r.lines) {
		return "", false, nil
	}
	line = r.lines[r.at]
	if !strings.HasPrefix(strings.TrimSpace(line), "***") || line == eof {
		return line, true, nil
	}
	for _, h := range heads {
		if strings.HasPrefix(line, h.mark) {
			return "", false, nil
		}
	}
	return "", false, errors.New("it may be taken for the head of a file")
}

// added reads the lines of an added file.
func (r *reader) added(f *File) error {
	var b strings.Builder
	for ; ; r.at++ {
		line, ok, err := r.next()
		if err != nil || !ok {
			f.Text = b.String()
			return err
		}
		text, ok := strings.CutPrefix(line, "+")
		if !ok {
			return errors.New("a line of an added file does not begin with +")
		}
		b.WriteString(text + "\n")
	}
}

// moved reads where an updated file is moved, if it is.
func (r *reader) moved(f *File) error {
	if r.at == len(r.lines) {
		return nil
	}
	name, ok := strings.CutPrefix(r.lines[r.at], move)
	if !ok {
		return nil
	}
	r.at++
	f.To = name
	return checkName(name)
}

// edits reads the edits of an update.
func (r *reader) edits(f *File) error {
	var e *Edit
	for ; ; r.at++ {
		line, ok, err := r.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if line == eof {
			e = nil
			continue
		}
		if at, ok := strings.CutPrefix(line, "@@"); ok {
			f.Edits = append(f.Edits, Edit{At: strings.TrimPrefix(at, " ")})
			e = &f.Edits[len(f.Edits)-1]
			continue
		}
		if e == nil {
			f.Edits = append(f.Edits, Edit{})
			e = &f.Edits[len(f.Edits)-1]
		}
		if err := e.line(line); err != nil {
			return err
		}
	}
	if len(f.Edits) == 0 && f.To == "" {
		return errors.New("an update changes nothing")
	}
	return nil
}

// line adds a line of an edit. One that is empty is an empty line that stays.
func (e *Edit) line(line string) error {
	if line == "" {
		line = " "
	}
	text := line[1:] + "\n"
	switch line[0] {
	case ' ':
		e.Old, e.New = e.Old+text, e.New+text
	case '-':
		e.Old += text
	case '+':
		e.New += text
	default:
		return errors.New("a line of an update begins with none of the signs")
	}
	return nil
}

// checkName refuses a name that a program may read otherwise.
func checkName(name string) error {
	if name == "" || strings.TrimSpace(name) != name {
		return errors.New("the name of a file is empty, or begins or ends with white space")
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }) {
		return errors.New("the name of a file has control characters in it")
	}
	return nil
}
