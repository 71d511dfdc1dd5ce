package redact

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// maxNesting is how deep substitutions and groups are followed. What is nested
// deeper is read as part of the word it stands in.
const maxNesting = 100

// word is one word of a command after quotes are taken off.
type word struct {
	text    string
	h       hide
	at      int     // where it begins in the text of h
	places  []place // per byte of text; nil if text stands as it is
	dynamic []part  // parts of text that are substitutions
	quotes  []part  // parts of text that stood in quotes
	quoted  bool    // some of it was quoted, or it is an argument by itself
}

// place is where a byte of a word stands in the line.
type place struct{ from, to int32 }

// part is a part of a word, and where it stands in the line, quotes included.
type part struct{ from, to, lineFrom, lineTo int }

// hide hides a part of the word where it stands in the line, less the
// substitutions in it.
func (w *word) hide(from, to, size int, key string) {
	at := from
	for _, d := range w.dynamicIn(from, to) {
		w.hideStatic(at, d.from, d.from-at, key)
		at = d.to
	}
	if at == from {
		w.hideStatic(from, to, size, key)
		return
	}
	w.hideStatic(at, to, to-at, key)
}

func (w *word) hideStatic(from, to, size int, key string) {
	if from >= to {
		return
	}
	if w.places == nil {
		w.h(w.at+from, w.at+to, size, key)
		return
	}
	lineFrom, lineTo := int(w.places[from].from), int(w.places[to-1].to)
	first, last := w.quoteAt(from), w.quoteAt(to-1)
	if first != last {
		if first >= 0 {
			lineFrom = w.quotes[first].lineFrom
		}
		if last >= 0 {
			lineTo = w.quotes[last].lineTo
		}
	}
	w.h(w.at+lineFrom, w.at+lineTo, size, key)
}

// from returns a hide for the rest of the word from a byte on.
func (w *word) from(off int) hide {
	if off == 0 {
		return w.hide
	}
	return shift(w.hide, off)
}

// quoteAt returns the quotes that the byte at i stood in, or -1.
func (w *word) quoteAt(i int) int {
	n := firstPart(w.quotes, i)
	if n < len(w.quotes) && i >= w.quotes[n].from {
		return n
	}
	return -1
}

// firstPart returns the index of the first part that ends after i.
func firstPart(parts []part, i int) int {
	return sort.Search(len(parts), func(n int) bool { return parts[n].to > i })
}

// dynamicIn returns the substitutions that stand in text[from:to].
func (w *word) dynamicIn(from, to int) []part {
	i := firstPart(w.dynamic, from)
	j := i
	for j < len(w.dynamic) && w.dynamic[j].from < to {
		j++
	}
	return w.dynamic[i:j]
}

// secret hides text[from:to] less its substitutions, which stay visible.
func (w *word) secret(f *finder, from, to int, key string) {
	if to <= from {
		return
	}
	at := from
	for _, d := range w.dynamicIn(from, to) {
		f.found(w.text, at, max(at, d.from), key, w.hide)
		at = d.to
	}
	f.found(w.text, at, max(at, to), key, w.hide)
}

func isHidden(v string) bool { return v == "" || markerEnd(v) == len(v) }

// lexer reads a command line into words, as a shell would, and hands each
// simple command to the finder. It never fails: a quote or bracket that is not
// closed ends with the text.
type lexer struct {
	f       *finder
	s       string
	h       hide
	depth   int // of texts in texts
	nesting int
	pending []heredoc
}

type heredoc struct {
	end     string
	tabs    bool // leading tabs are taken off
	toShell bool // a shell reads it
}

// shell finds the secrets in a command line.
func (f *finder) shell(s string, h hide, depth int) {
	if len(s) < 3 {
		return
	}
	if depth > maxDepth {
		f.text(s, h, depth)
		return
	}
	if f.known == nil {
		f.shapes(s, h)
	}
	l := &lexer{f: f, s: s, h: h, depth: depth}
	l.list(0, 0)
}

// list reads commands from i up to the closing sign, or the end.
func (l *lexer) list(i int, closing byte) int {
	var ws, piped []word
	flush := func() {
		if len(ws) > 0 {
			l.f.simple(ws, l.depth)
			l.f.fed(piped, ws)
		}
		ws, piped = nil, nil
	}
	for i < len(l.s) {
		c := l.s[i]
		switch {
		case closing != 0 && c == closing:
			flush()
			return i
		case isBlank(c) || c == '\r':
			i++
		case c == '\\' && i+1 < len(l.s) && l.s[i+1] == '\n':
			i += 2
		case c == '\n':
			flush()
			i = l.heredocs(i + 1)
		case c == '#':
			end := lineEnd(l.s, i)
			l.f.text(l.s[i:end], shift(l.h, i), l.depth+1)
			i = end
		case c == '<' || c == '>':
			i = l.redirect(i, closing, &ws)
		case c == '(' && l.nesting < maxNesting:
			flush()
			l.nesting++
			i = min(len(l.s), l.list(i+1, ')')+1)
			l.nesting--
		case c == '|' && !strings.HasPrefix(l.s[i:], "||"):
			left := ws
			flush()
			piped = left
			i++
		case strings.IndexByte(";&|()", c) >= 0:
			flush()
			i += max(1, span0(l.s[i:], func(c byte) bool { return c == '|' }))
		default:
			i = l.addWord(i, closing, &ws)
		}
	}
	flush()
	return i
}

// addWord reads a word, and the elements after it if it opens an array.
func (l *lexer) addWord(i int, closing byte, ws *[]word) int {
	w, next := l.word(i, closing)
	*ws = append(*ws, w)
	if next >= len(l.s) || l.s[next] != '(' || !strings.HasSuffix(w.text, "=") || l.nesting >= maxNesting {
		return max(next, i+1)
	}
	name := strings.TrimSuffix(strings.TrimSuffix(w.text, "="), "+")
	for i = next + 1; i < len(l.s) && l.s[i] != ')'; {
		if isSpace(l.s[i]) {
			i++
			continue
		}
		if strings.IndexByte(";&|(<>", l.s[i]) >= 0 {
			return i
		}
		el, end := l.word(i, ')')
		if l.f.known == nil && l.f.telling(name) {
			el.secret(l.f, 0, len(el.text), name)
		} else {
			l.f.text(el.text, el.hide, l.depth+1)
		}
		i = max(end, i+1)
	}
	return min(len(l.s), i+1)
}

// redirect reads a redirection and its target.
func (l *lexer) redirect(i int, closing byte, ws *[]word) int {
	s := l.s
	if strings.HasPrefix(s[i:], "<(") || strings.HasPrefix(s[i:], ">(") {
		if l.nesting < maxNesting {
			l.nesting++
			end := min(len(s), l.list(i+2, ')')+1)
			l.nesting--
			*ws = append(*ws, word{text: "<()", h: func(int, int, int, string) {}, dynamic: []part{{0, 3, i, end}}})
			return end
		}
		return i + 2
	}
	j := i + span0(s[i:], func(c byte) bool { return c == '<' || c == '>' || c == '&' || c == '|' })
	op := s[i:j]
	if op == "<<" && j < len(s) && s[j] == '-' {
		op, j = "<<-", j+1
	}
	j += span0(s[j:], isBlank)
	if j >= len(s) || strings.IndexByte("\n;&|()<>#", s[j]) >= 0 {
		return j
	}
	w, next := l.word(j, closing)
	switch op {
	case "<<", "<<-":
		l.pending = append(l.pending, heredoc{w.text, op == "<<-", len(*ws) > 0 && shells[base((*ws)[len(*ws)-1].text)]})
	case "<<<":
		w.quoted = true
		if l.f.known == nil && readsPassword(*ws) {
			w.secret(l.f, 0, len(w.text), "password")
		} else {
			l.f.text(w.text, w.hide, l.depth+1)
		}
	default:
		l.f.text(w.text, w.hide, l.depth+1)
	}
	return max(next, j+1)
}

// heredocs reads the documents that begin at i, in the order they were named.
func (l *lexer) heredocs(i int) int {
	for _, d := range l.pending {
		from := i
		for i < len(l.s) {
			end := lineEnd(l.s, i)
			line := l.s[i:end]
			if d.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if line == d.end {
				break
			}
			i = min(len(l.s), end+1)
		}
		body := l.s[from:i]
		if d.toShell {
			l.f.shell(body, shift(l.h, from), l.depth+1)
		} else {
			l.f.text(body, shift(l.h, from), l.depth+1)
		}
		i = min(len(l.s), lineEnd(l.s, min(i, len(l.s)))+1)
	}
	l.pending = nil
	return i
}

// word reads one word at i.
func (l *lexer) word(i int, closing byte) (word, int) {
	b := wordBuilder{lexer: l, start: i, plain: true}
	for b.i = i; b.i < len(l.s); {
		c := l.s[b.i]
		if n := markerEnd(l.s[b.i:]); n > 0 {
			b.bend()
			b.keep(b.i + n)
			continue
		}
		if isSpace(c) || strings.IndexByte(";&|()<>", c) >= 0 || closing == '`' && c == '`' {
			break
		}
		b.piece(c, closing)
	}
	return b.word(), b.i
}

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
