package install

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// style is how a file is laid out.
type style struct {
	unit   string // one step of indentation
	spread bool   // members stand on lines of their own
	end    string // of a line
}

// styleOf looks at the first member of the whole. A file that holds nothing is
// laid out by two spaces.
func styleOf(text []byte, root *node) style {
	s := style{unit: "  ", spread: true, end: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		s.end = "\r\n"
	}
	if len(root.members) == 0 {
		return s
	}
	before := text[root.from+1 : root.members[0].from]
	if i := bytes.LastIndexByte(before, '\n'); i < 0 {
		s.spread = false
	} else if i+1 < len(before) {
		s.unit = string(before[i+1:])
	}
	return s
}

// lay is value laid out as a member at a depth.
func (s style) lay(value []byte, depth int) []byte {
	v := jsontext.Value(slices.Clone(value))
	if !s.spread {
		if err := v.Compact(); err != nil {
			return value
		}
		return v
	}
	err := v.Indent(jsontext.WithIndent(s.indent()), jsontext.WithIndentPrefix(s.margin(depth)))
	if err != nil {
		return value
	}
	return bytes.ReplaceAll(v, []byte("\n"), []byte(s.end))
}

// indent is the unit as far as JSON writers take it: blanks and tabs.
func (s style) indent() string {
	if len(bytes.Trim([]byte(s.unit), " \t")) > 0 {
		return "  "
	}
	return s.unit
}

func (s style) margin(depth int) string {
	return string(bytes.Repeat([]byte(s.indent()), depth))
}

// insert puts an entry at the end of an object or array that stands at a depth
// of its own: what is in it, one deeper.
func (s style) insert(text []byte, into *node, depth int, entry []byte) []byte {
	last := into.from + 1 // behind the bracket
	var out []byte
	if n := len(into.members); n > 0 {
		last = into.members[n-1].value.to
		out = append(out, ',')
	} else if n := len(into.elements); n > 0 {
		last = into.elements[n-1].to
		out = append(out, ',')
	}
	rest := text[last:]
	switch {
	case s.spread && len(out) == 0: // it was empty
		out = append(out, s.end+s.margin(depth+1)...)
		out = append(out, entry...)
		out = append(out, s.end+s.margin(depth)...)
		rest = text[into.to-1:]
	case s.spread: // no break behind it: taking it out again leaves no trace
		out = append(out, s.end+s.margin(depth+1)...)
		out = append(out, entry...)
	default:
		out = append(out, entry...)
	}
	return slices.Concat(text[:last], out, rest)
}

// cut removes the i-th entry of an object or array, with the comma and the
// space that belong to it.
func cut(text []byte, in *node, i int) []byte {
	type span struct{ from, to int }
	var spans []span
	for _, m := range in.members {
		spans = append(spans, span{m.from, m.value.to})
	}
	for _, e := range in.elements {
		spans = append(spans, span{e.from, e.to})
	}
	switch {
	case len(spans) == 1:
		return slices.Concat(text[:in.from+1], text[in.to-1:])
	case i == 0:
		return slices.Concat(text[:spans[0].from], text[spans[1].from:])
	}
	return slices.Concat(text[:spans[i-1].to], text[spans[i].to:])
}
