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
	"github.com/sayso-dev/sayso/internal/jcs"
)

var errEmpty = errors.New("no JSON value")

// node is one JSON value with what is to be hidden of it. Members keep their
// order and numbers their spelling.
type node struct {
	kind    jsontext.Kind
	hidden  bool   // the whole value
	command bool   // the string is part of a command, in which secrets are looked for as in one
	text    string // of a string decoded, of a number or literal as spelled
	members []member
	items   []*node
	at      int    // where it stands in the text it was read from
	size    int    // bytes of the value as spelled
	key     string // the name it is hidden under
	spans   []span // parts of a string
}

type member struct {
	name  *node
	value *node
}

// parse reads one strict JSON value. Its error shows nothing of the text.
func parse(raw []byte, opts ...jsontext.Options) (*node, error) {
	if !jsontext.Value(raw).IsValid(opts...) {
		return nil, fault(raw, opts...)
	}
	p := parser{Cursor: jcs.Walk(string(raw))}
	return p.value(), nil
}

// fault says where and why raw is not one strict JSON value.
func fault(raw []byte, opts ...jsontext.Options) error {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), opts...)
	for whole := false; ; whole = dec.StackDepth() == 0 {
		_, err := dec.ReadToken()
		if err == nil && whole {
			err = errors.New("more than one value")
		}
		if err != nil {
			return fmt.Errorf("redact arguments: not strict JSON near byte %d: %s", dec.InputOffset(), plainCause(err))
		}
	}
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

// parser reads valid JSON.
type parser struct {
	jcs.Cursor
	nodes []node // to be used next
}

func (p *parser) value() *node {
	if len(p.nodes) == 0 {
		p.nodes = make([]node, 12) // enough for most calls
	}
	n := &p.nodes[0]
	p.nodes = p.nodes[1:]
	first := p.Peek()
	n.kind, n.at = kindOf(first), p.Offset()
	switch first {
	case '{':
		p.members(n)
	case '[':
		p.items(n)
	case '"':
		n.text = jcs.Unquote(p.Plain())
	default:
		n.text = p.Plain()
	}
	n.size = p.Offset() - n.at
	return n
}

// kindOf is the kind of a value that begins with this byte.
func kindOf(first byte) jsontext.Kind {
	if first == '-' || isDigit(first) {
		return '0'
	}
	return jsontext.Kind(first)
}

func (p *parser) members(n *node) {
	p.Step()
	for p.Peek() != '}' {
		if n.members == nil {
			n.members = make([]member, 0, 6) // enough for most calls
		}
		name := p.value()
		n.members = append(n.members, member{name, p.value()})
	}
	p.Step()
}

func (p *parser) items(n *node) {
	p.Step()
	for p.Peek() != ']' {
		n.items = append(n.items, p.value())
	}
	p.Step()
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

// quote appends s as a JSON string. What is not UTF-8 in it is replaced.
func quote(dst []byte, s string) []byte {
	out, err := jcs.AppendString(dst, s)
	if err != nil {
		out, _ = jsontext.AppendQuote(dst, s)
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
