package redact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

var errEmpty = errors.New("no JSON value")

// node is one JSON value with what is to be hidden of it. Members keep their
// order and numbers their spelling.
type node struct {
	kind    jsontext.Kind
	text    string // of a string decoded, of a number or literal as spelled
	members []member
	items   []*node
	at      int // where it stands in the text it was read from
	size    int // bytes of the value as spelled

	hidden  bool   // the whole value
	key     string // the name it is hidden under
	spans   []span // parts of a string
	command bool   // the string was read as a command line
}

type member struct {
	name  *node
	value *node
}

// parse reads one strict JSON value. Its error shows nothing of the text.
func parse(raw []byte, opts ...jsontext.Options) (*node, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), opts...)
	n, err := read(dec)
	if err == nil {
		_, err = dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err == nil {
			err = errors.New("more than one value")
		}
	}
	return nil, fmt.Errorf("redact arguments: not strict JSON near byte %d: %s", dec.InputOffset(), plainCause(err))
}

// plainCause says what is wrong with a text without quoting any of it.
func plainCause(err error) string {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		err = syntax.Err
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return "a member name is repeated"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	default:
		return "invalid syntax"
	}
}

func read(dec *jsontext.Decoder) (*node, error) {
	if k := dec.PeekKind(); k != '{' && k != '[' {
		return readPlain(dec)
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{kind: tok.Kind(), at: int(dec.InputOffset()) - 1}
	if n.kind == '{' {
		err = readMembers(dec, n)
	} else {
		err = readItems(dec, n)
	}
	n.size = int(dec.InputOffset()) - n.at
	return n, err
}

// readPlain reads a string, a number or a literal.
func readPlain(dec *jsontext.Decoder) (*node, error) {
	raw, err := dec.ReadValue()
	if err != nil {
		return nil, err
	}
	n := &node{kind: raw.Kind(), at: int(dec.InputOffset()) - len(raw), size: len(raw)}
	if n.kind != '"' {
		n.text = string(raw)
		return n, nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	n.text = string(text)
	return n, err
}

func readMembers(dec *jsontext.Decoder, n *node) error {
	for dec.PeekKind() != '}' {
		name, err := readPlain(dec)
		if err != nil {
			return err
		}
		value, err := read(dec)
		if err != nil {
			return err
		}
		n.members = append(n.members, member{name, value})
	}
	_, err := dec.ReadToken()
	return err
}

func readItems(dec *jsontext.Decoder, n *node) error {
	for dec.PeekKind() != ']' {
		item, err := read(dec)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, err := dec.ReadToken()
	return err
}

// get returns the string value of the first member with one of the names.
func (n *node) get(names ...string) (string, bool) {
	for _, m := range n.members {
		if m.value.kind == '"' && slices.Contains(names, strings.ToLower(m.name.text)) {
			return m.value.text, true
		}
	}
	return "", false
}

// hide notes a part of a string to be hidden.
func (n *node) hide(from, to, size int, key string) {
	n.spans = append(n.spans, span{from, to, size, key})
}

// bytes is the length of the value as a reader of it would count: of a string
// without its quotes and escapes.
func (n *node) bytes() int {
	if n.kind == '"' {
		return len(n.text)
	}
	return n.size
}

// leaves calls f for every string and number in n.
func (n *node) leaves(f func(string)) {
	switch n.kind {
	case '"', '0':
		f(n.text)
	case '{':
		for _, m := range n.members {
			m.value.leaves(f)
		}
	case '[':
		for _, item := range n.items {
			item.leaves(f)
		}
	}
}

// allNumbers reports whether n is a number or an array of numbers.
func (n *node) allNumbers() bool {
	if n.kind != '[' {
		return n.kind == '0'
	}
	for _, item := range n.items {
		if item.kind != '0' {
			return false
		}
	}
	return true
}

// quote appends s as a JSON string.
func quote(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil { // invalid UTF-8, which AppendQuote has replaced
		return out
	}
	return out
}

// trail is the way to a value: its JSON pointer, written out only if wanted.
type trail struct {
	up    *trail
	name  string
	index int
	named bool
}

// String returns the trail as a JSON pointer.
func (t *trail) String() string {
	var steps []string
	for ; t != nil; t = t.up {
		if t.named {
			steps = append(steps, escapePointer.Replace(t.name))
		} else {
			steps = append(steps, strconv.Itoa(t.index))
		}
	}
	var b strings.Builder
	for _, s := range slices.Backward(steps) {
		b.WriteByte('/')
		b.WriteString(s)
	}
	return b.String()
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// pointer extends a JSON pointer.
func pointer(path, name string) string {
	return path + "/" + escapePointer.Replace(name)
}

func pointerAt(path string, i int) string {
	return path + "/" + strconv.Itoa(i)
}
