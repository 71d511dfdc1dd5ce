package redact

import "strings"

// maxNesting is how deep substitutions and groups are followed. What is nested
// deeper is read as part of the word it stands in.
const maxNesting = 100

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
	if f.line == nil {
		f.commandLine(&line{text: s}, h, func(h hide) { f.shell(s, h, depth) })
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
			w.secret(l.f, 0, len(w.text), passwordName(*ws))
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
