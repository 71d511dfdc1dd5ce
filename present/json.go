package present

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// maxWarnings bounds the warnings of one kind about one document. A person
// reads ten; a hostile document has a million.
const maxWarnings = 50

// SafeJSON makes every string and every member name of a JSON document safe to
// show and says what was found where: the paths are JSON pointers with the
// names as they are shown. Order of members and spelling of numbers are kept;
// blanks between them are not. It is an error if raw is not one strict JSON
// value.
func SafeJSON(raw []byte) (shown []byte, warnings []sayso.Warning, err error) {
	if !jcs.Valid(raw) {
		return nil, nil, fmt.Errorf("show JSON: %w", fault(raw))
	}
	d := document{Cursor: jcs.Walk(string(raw)), warnings: []sayso.Warning{}}
	return d.value(make([]byte, 0, len(raw)), "", ""), d.warnings, nil
}

// fault says why raw is not one strict JSON value.
func fault(raw []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	for whole := false; ; whole = dec.StackDepth() == 0 {
		_, err := dec.ReadToken()
		if err == nil && whole {
			err = errors.New("more than one value")
		}
		if err != nil {
			return err
		}
	}
}

type document struct {
	jcs.Cursor
	warnings []sayso.Warning
	counts   map[sayso.WarningKind]int
}

func (d *document) note(ws []sayso.Warning, path string) {
	if len(ws) > 0 && d.counts == nil {
		d.counts = map[sayso.WarningKind]int{}
	}
	for _, w := range ws {
		if d.counts[w.Kind]++; d.counts[w.Kind] <= maxWarnings {
			w.Path = path
			d.warnings = append(d.warnings, w)
		}
	}
}

// quote appends s, made safe, as a JSON string.
func (d *document) quote(dst []byte, s, path, name string) []byte {
	text, ws := inspect(s, !holdsDocument(name))
	d.note(ws, path)
	return quote(dst, text)
}

func quote(dst []byte, s string) []byte {
	out, err := jcs.AppendString(dst, s)
	if err != nil {
		return append(dst, `""`...) // text is valid UTF-8, so this is not reached
	}
	return out
}

// value copies one value. Name is that of the member it stands in or under.
func (d *document) value(dst []byte, path, name string) []byte {
	switch d.Peek() {
	case '{':
		return d.members(dst, path)
	case '[':
		return d.items(dst, path, name)
	case '"':
		return d.quote(dst, jcs.Unquote(d.Plain()), path, name)
	}
	return append(dst, d.Plain()...)
}

func (d *document) members(dst []byte, path string) []byte {
	d.Step()
	used := map[string]bool{}
	dst = append(dst, '{')
	for first := true; d.Peek() != '}'; first = false {
		if !first {
			dst = append(dst, ',')
		}
		shown, ws := inspect(jcs.Unquote(d.Plain()), true)
		shown = free(shown, used)
		at := path + "/" + strings.ReplaceAll(strings.ReplaceAll(shown, "~", "~0"), "/", "~1")
		d.note(ws, at)
		dst = d.value(append(quote(dst, shown), ':'), at, shown)
	}
	d.Step()
	return append(dst, '}')
}

// free returns the name, numbered if two names came to look the same.
func free(name string, used map[string]bool) string {
	out := name
	for i := 2; used[out]; i++ {
		out = name + " #" + strconv.Itoa(i)
	}
	used[out] = true
	return out
}

func (d *document) items(dst []byte, path, name string) []byte {
	d.Step()
	dst = append(dst, '[')
	for i := 0; d.Peek() != ']'; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = d.value(dst, path+"/"+strconv.Itoa(i), name)
	}
	d.Step()
	return append(dst, ']')
}

// holdsDocument reports whether a member of this name holds a document of some
// kind, in which markup is what it is made of.
func holdsDocument(name string) bool {
	switch strings.ToLower(name) {
	case "content", "contents", "file_text", "new_string", "old_string", "new_str", "old_str", "html", "code", "source",
		"patch", "diff", "new_source", "insert_text", "text", "body", "data", "markdown", "svg", "xml":
		return true
	}
	return false
}
