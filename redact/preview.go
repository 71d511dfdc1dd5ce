package redact

import (
	"fmt"
	"unicode/utf8"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// maxLevels is how deep a preview shows containers in containers.
const maxLevels = 32

// Preview shortens arguments for a list: of a string longer than MaxString
// characters it shows the beginning and the end and says how many characters
// were left out between them; of a container with more than MaxItems items or
// members likewise. Each cut has a warning of kind truncated whose text says
// what was left out. Preview hides nothing: give it what [Redactor.Args]
// returned. What is not strict JSON gives a preview that says so. The preview
// may be full itself.
func (r *Redactor) Preview(full []byte) (preview []byte, warnings []sayso.Warning) {
	p := &shortener{maxString: r.maxString, maxItems: r.maxItems, warnings: []sayso.Warning{}}
	if p.keeps(full) {
		return full, p.warnings
	}
	root, err := parse(full)
	if err != nil {
		p.warn("", "not strict JSON: not shown")
		return quote(nil, "[not strict JSON: not shown]"), p.warnings
	}
	return p.value(nil, root, "", 0), p.warnings
}

type shortener struct {
	maxString, maxItems int
	warnings            []sayso.Warning
}

// keeps reports whether a preview is what it is of, byte for byte, as far as one
// look can tell: it is short in all, and written as a preview is.
func (p *shortener) keeps(full []byte) bool {
	if len(full) > p.maxString {
		return false
	}
	commas, level, quoted := 0, 0, false
	for _, c := range full {
		switch {
		case c == '\\', c <= ' ' && !quoted:
			return false // an escape or a blank that is perhaps written otherwise
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ',':
			commas++
		case c == '{', c == '[':
			if level++; level > maxLevels {
				return false
			}
		case c == '}', c == ']':
			level--
		}
	}
	return commas < p.maxItems && jcs.Valid(full)
}

func (p *shortener) warn(path, text string) {
	p.warnings = append(p.warnings, sayso.Warning{Kind: sayso.WarnTruncated, Path: path, Text: text})
}

func (p *shortener) value(dst []byte, n *node, path string, level int) []byte {
	switch n.kind {
	case '{', '[':
		if level >= maxLevels {
			what := leftOut(max(len(n.members), len(n.items)), "nested value")
			p.warn(path, what)
			return quote(dst, "["+what+"]")
		}
		if n.kind == '{' {
			return p.members(dst, n, path, level)
		}
		return p.items(dst, n, path, level)
	case '"':
		return quote(dst, p.text(n.text, path))
	}
	if len(n.text) > p.maxString {
		return quote(dst, p.text(n.text, path))
	}
	return append(dst, n.text...)
}

func (p *shortener) text(s, path string) string {
	short, out := shorten(s, p.maxString)
	if out > 0 {
		p.warn(path, leftOut(out, "character"))
	}
	return short
}

// shown returns how many of n items are shown before and after the cut.
func (p *shortener) shown(n int) (head, tail int) {
	if n <= p.maxItems {
		return n, 0
	}
	tail = p.maxItems / 5
	return max(0, p.maxItems-1-tail), tail
}

func (p *shortener) items(dst []byte, n *node, path string, level int) []byte {
	head, tail := p.shown(len(n.items))
	dst = append(dst, '[')
	for i, item := range n.items {
		switch {
		case i < head || i >= len(n.items)-tail:
			dst = p.value(comma(dst, i), item, pointerAt(path, i), level+1)
		case i == head:
			what := leftOut(len(n.items)-head-tail, "item")
			p.warn(path, what)
			dst = quote(comma(dst, i), "["+what+"]")
		}
	}
	return append(dst, ']')
}

func (p *shortener) members(dst []byte, n *node, path string, level int) []byte {
	head, tail := p.shown(len(n.members))
	used := map[string]bool{}
	dst = append(dst, '{')
	for i, m := range n.members {
		switch {
		case i < head || i >= len(n.members)-tail:
			at := pointer(path, m.name.text)
			name := unused(p.text(m.name.text, at), used)
			dst = append(quote(comma(dst, i), name), ':')
			dst = p.value(dst, m.value, at, level+1)
		case i == head:
			what := leftOut(len(n.members)-head-tail, "member")
			p.warn(path, what)
			dst = append(quote(comma(dst, i), unused("[left out]", used)), ':')
			dst = quote(dst, "["+what+"]")
		}
	}
	return append(dst, '}')
}

func comma(dst []byte, i int) []byte {
	if i == 0 {
		return dst
	}
	return append(dst, ',')
}

func leftOut(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s left out", n, what)
}

// shorten cuts the middle out of a text of more than limit characters. It
// keeps the first two thirds and the last third of the limit.
func shorten(s string, limit int) (string, int) {
	n := 0
	if len(s) > limit {
		n = utf8.RuneCountInString(s)
	}
	if n <= limit {
		return s, 0
	}
	tail := limit / 3
	head := limit - tail
	from := runeOffset(s, head)
	to := len(s)
	for range tail {
		_, size := utf8.DecodeLastRuneInString(s[:to])
		to -= size
	}
	out := n - head - tail
	return s[:from] + " [… " + leftOut(out, "character") + " …] " + s[to:], out
}

// runeOffset returns where the nth character of s begins.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
