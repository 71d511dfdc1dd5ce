package shell

import "strings"

// Loosely takes a text apart without a grammar: found is given the words of each
// command in it and in its substitutions, wherever they begin, which stand there
// until it returns. Broken says that quotes or brackets do not end; then the text
// is read once more in which nothing is quoted.
//
// This is no shell: it is only ever used to find more reasons to be strict. What
// it reads wrongly it reads as more commands than there are, the bodies of
// here-documents for instance. Nothing may be allowed on its word.
func Loosely(text string, found func(words []Word)) (broken bool) {
	if broken = read(text, nil, false, found); broken {
		distrusted(text, found)
	}
	documents(text, found)
	return broken
}

// documents finds the substitutions of a text that may have here-documents, in
// which quotes and comments are text.
func documents(text string, found func(words []Word)) {
	if strings.Contains(text, "<<") {
		l := lexer{text: text, found: found, document: true}
		l.until(0, 0)
	}
}

// read takes a text apart, and reports whether its quotes or brackets do not end.
// What it finds stands at a span, if that is given.
func read(text string, at *Span, uncommented bool, found func(words []Word)) (broken bool) {
	l := lexer{text: text, at: at, found: found, uncommented: uncommented}
	l.until(0, 0)
	return l.broken
}

// distrusted takes a text apart whose quotes cannot be trusted: without comments,
// each line for itself, and with nothing quoted.
func distrusted(text string, found func(words []Word)) {
	read(text, nil, true, found)
	lines(text, found)
	joined, at := strings.ReplaceAll(text, "\\\n", ""), (*Span)(nil)
	if len(joined) < len(text) {
		at = &Span{0, len(text)} // nothing in it stands where it stood
	}
	read(strings.Map(unquote, joined), at, true, found)
}

func unquote(r rune) rune {
	switch r {
	case '\'', '"', '\\', '#':
		return ' '
	case '`':
		return '\n'
	}
	return r
}

// lines reads each line as if no quote reached over its end.
func lines(text string, found func(words []Word)) {
	for from := 0; from < len(text); {
		to := from
		for {
			to += lineLength(text[to:])
			if to >= len(text) || endSlashes(text[from:to])%2 == 0 {
				break
			}
			to++ // the line goes on
		}
		read(text[from:to], &Span{from, to}, true, found)
		from = to + 1
	}
}

// keywords may stand before a program.
var keywords = set("!", "{", "}", "if", "then", "elif", "else", "while", "until", "do", "time", "coproc", "function", "fi", "done", "esac")
