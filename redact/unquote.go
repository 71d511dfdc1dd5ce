package redact

import (
	"strings"
	"unicode/utf8"
)

// wordBuilder takes the quotes off a word while it is read.
type wordBuilder struct {
	*lexer
	start, i int
	plain    bool // so far the word stands as it is
	buf      []byte
	places   []place
	dynamic  []part
	quotes   []part
}

func (b *wordBuilder) word() word {
	if b.plain {
		return word{text: b.s[b.start:b.i], h: b.h, at: b.start}
	}
	return word{text: string(b.buf), h: b.h, places: b.places, dynamic: b.dynamic, quotes: b.quotes, quoted: len(b.quotes) > 0}
}

// add appends a byte that stands at s[from:to].
func (b *wordBuilder) add(c byte, from, to int) {
	b.buf = append(b.buf, c)
	b.places = append(b.places, place{int32(from), int32(to)})
}

// copy appends s[from:to] as it is.
func (b *wordBuilder) copy(from, to int) {
	for i := from; i < to; i++ {
		b.add(b.s[i], i, i+1)
	}
}

// bend notes that the word no longer stands as it is.
func (b *wordBuilder) bend() {
	if b.plain {
		b.plain = false
		b.copy(b.start, b.i)
	}
}

func (b *wordBuilder) piece(c, closing byte) {
	switch c {
	case '\'':
		b.bend()
		b.single()
	case '"':
		b.bend()
		b.double(closing)
	case '\\':
		b.bend()
		b.escape()
	case '$', '`':
		b.bend()
		b.dollar(closing)
	default:
		if !b.plain {
			b.add(c, b.i, b.i+1)
		}
		b.i++
	}
}

func (b *wordBuilder) single() {
	at, from := b.i, len(b.buf)
	end := len(b.s)
	if n := strings.IndexByte(b.s[at+1:], '\''); n >= 0 {
		end = at + 1 + n
	}
	b.copy(at+1, end)
	b.i = min(len(b.s), end+1)
	b.quotes = append(b.quotes, part{from, len(b.buf), at, b.i})
}

func (b *wordBuilder) double(closing byte) {
	at, from := b.i, len(b.buf)
	for b.i++; b.i < len(b.s) && b.s[b.i] != '"'; {
		if n := markerEnd(b.s[b.i:]); n > 0 {
			b.keep(b.i + n)
			continue
		}
		switch c := b.s[b.i]; {
		case c == '\\' && b.i+1 < len(b.s):
			b.doubleEscape()
		case c == '$' || c == '`' && closing != '`':
			b.dollar(closing)
		default:
			b.add(c, b.i, b.i+1)
			b.i++
		}
	}
	b.i = min(len(b.s), b.i+1)
	b.quotes = append(b.quotes, part{from, len(b.buf), at, b.i})
}

func (b *wordBuilder) doubleEscape() {
	switch next := b.s[b.i+1]; {
	case strings.IndexByte("\\\"$`", next) >= 0:
		b.add(next, b.i, b.i+2)
		b.i += 2
	case next == '\n':
		b.i += 2
	default:
		b.add('\\', b.i, b.i+1)
		b.i++
	}
}

func (b *wordBuilder) escape() {
	if b.i+1 >= len(b.s) {
		b.i++
		return
	}
	_, n := utf8.DecodeRuneInString(b.s[b.i+1:])
	if b.s[b.i+1] != '\n' {
		b.add(b.s[b.i+1], b.i, b.i+2)
		b.copy(b.i+2, b.i+1+n)
	}
	b.i += 1 + n
}

// dollar reads what begins with $ or a backquote.
func (b *wordBuilder) dollar(closing byte) {
	s, i := b.s, b.i
	rest := s[i:]
	switch {
	case rest[0] == '`' && closing != '`' && b.nesting < maxNesting:
		b.substitution(i+1, '`')
	case strings.HasPrefix(rest, "$(") && b.nesting < maxNesting:
		b.substitution(i+2, ')')
	case strings.HasPrefix(rest, "$'"):
		b.ansi()
	case strings.HasPrefix(rest, "${"):
		b.parameter()
	default:
		n := 1
		if len(rest) > 1 && (isAlpha(rest[1]) || rest[1] == '_') {
			n = 1 + span0(rest[1:], isVarName)
		} else if len(rest) > 1 && strings.IndexByte("?!#@*$-0123456789", rest[1]) >= 0 {
			n = 2
		}
		if n > 1 {
			b.keep(i + n)
			return
		}
		b.copy(i, i+n)
		b.i += n
	}
}

// substitution reads the commands of a substitution as commands, and keeps its
// text in the word as something that stays visible.
func (b *wordBuilder) substitution(body int, closing byte) {
	b.nesting++
	end := min(len(b.s), b.list(body, closing)+1)
	b.nesting--
	from := len(b.buf)
	b.add('$', b.i, end)
	b.dynamic = append(b.dynamic, part{from, len(b.buf), b.i, end})
	b.i = end
}

// parameter reads ${NAME} and ${NAME:-word}. The word may be a secret, all
// else of it is none.
func (b *wordBuilder) parameter() {
	i := b.i
	n := 2 + span0(b.s[i+2:], func(c byte) bool { return isVarName(c) || strings.IndexByte("!#", c) >= 0 })
	n += span0(b.s[i+n:], func(c byte) bool { return strings.IndexByte(":-=+?/%^,", c) >= 0 })
	b.keep(i + n)
	for b.i < len(b.s) && b.s[b.i] != '}' {
		switch c := b.s[b.i]; {
		case (c == '$' || c == '`') && b.nesting < maxNesting:
			b.nesting++
			b.dollar(0)
			b.nesting--
		case c == '\n' || c == '"':
			return
		default:
			b.copy(b.i, b.i+1)
			b.i++
		}
	}
	b.keep(min(len(b.s), b.i+1))
}

// keep copies what stands before to as something that stays visible.
func (b *wordBuilder) keep(to int) {
	from, at := len(b.buf), b.i
	b.copy(at, to)
	b.i = to
	if from < len(b.buf) {
		b.dynamic = append(b.dynamic, part{from, len(b.buf), at, to})
	}
}

// ansi reads $'…', in which backslashes escape.
func (b *wordBuilder) ansi() {
	at, from := b.i, len(b.buf)
	for b.i += 2; b.i < len(b.s) && b.s[b.i] != '\''; b.i++ {
		if b.s[b.i] == '\\' && b.i+1 < len(b.s) {
			b.add(ansiByte(b.s[b.i+1]), b.i, b.i+2)
			b.i++
			continue
		}
		b.add(b.s[b.i], b.i, b.i+1)
	}
	b.i = min(len(b.s), b.i+1)
	b.quotes = append(b.quotes, part{from, len(b.buf), at, b.i})
}

func ansiByte(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	}
	return c
}
