package present

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sayso-dev/sayso"
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
	d := document{warnings: []sayso.Warning{}, counts: map[sayso.WarningKind]int{}}
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	shown, err = d.value(nil, dec, "", "")
	if err == nil {
		if _, err = dec.ReadToken(); errors.Is(err, io.EOF) {
			return shown, d.warnings, nil
		}
		if err == nil {
			err = errors.New("more than one value")
		}
	}
	return nil, nil, fmt.Errorf("show JSON: %w", err)
}

type document struct {
	warnings []sayso.Warning
	counts   map[sayso.WarningKind]int
}

func (d *document) note(ws []sayso.Warning, path string) {
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
	out, err := jsontext.AppendQuote(dst, text)
	if err != nil {
		return append(dst, `""`...) // text is valid UTF-8, so this is not reached
	}
	return out
}

// value copies one value. Name is that of the member it stands in or under.
func (d *document) value(dst []byte, dec *jsontext.Decoder, path, name string) ([]byte, error) {
	switch dec.PeekKind() {
	case '{':
		return d.members(dst, dec, path)
	case '[':
		return d.items(dst, dec, path, name)
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	if raw.Kind() != '"' {
		return append(dst, raw...), nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	return d.quote(dst, string(text), path, name), err
}

func (d *document) members(dst []byte, dec *jsontext.Decoder, path string) ([]byte, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	used := map[string]bool{}
	dst = append(dst, '{')
	for first := true; dec.PeekKind() != '}'; first = false {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		if !first {
			dst = append(dst, ',')
		}
		shown, ws := inspect(tok.String(), true)
		shown = free(shown, used)
		at := path + "/" + strings.ReplaceAll(strings.ReplaceAll(shown, "~", "~0"), "/", "~1")
		d.note(ws, at)
		if dst, err = jsontext.AppendQuote(dst, shown); err != nil {
			return nil, err
		}
		if dst, err = d.value(append(dst, ':'), dec, at, shown); err != nil {
			return nil, err
		}
	}
	_, err := dec.ReadToken()
	return append(dst, '}'), err
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

func (d *document) items(dst []byte, dec *jsontext.Decoder, path, name string) ([]byte, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	dst = append(dst, '[')
	for i := 0; dec.PeekKind() != ']'; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = d.value(dst, dec, path+"/"+strconv.Itoa(i), name); err != nil {
			return nil, err
		}
	}
	_, err := dec.ReadToken()
	return append(dst, ']'), err
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
