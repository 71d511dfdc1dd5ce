package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxNesting is how many substitutions may stand inside each other before the
// rest is taken for text without any.
const maxNesting = 50

// lexer reads a text from left to right.
type lexer struct {
	text   string
	i      int
	at     *Span // where all of it stands; nil if it stands there byte by byte
	found  func(words []Word)
	broken bool // quotes or brackets that do not end, or that may end elsewhere
	// uncommented says that nothing is taken for a comment.
	uncommented bool
	// document says that all of the text is taken for the body of a
	// here-document: only substitutions are commands, whatever stands around them.
	document bool
	depth    int // of texts inside texts
}

// spotted is the command being read at one level of nesting.
type spotted struct {
	end     byte // what ends the level
	words   []Word
	piece   piece
	word    Word
	open    bool // a word has begun
	skip    bool // the next word is the target of a redirection
	input   bool // and what a program reads
	text    bool // it is the body of a here-document
	ran     bool // there is a word that is no keyword
	quoting byte // the quote that is open: ", or 0
	parens  int  // brackets that are open at this level
	cases   int  // case words that no esac has ended
}

// closes reports whether a closing bracket belongs to something that this level
// opened: a subshell, a function's name, or the pattern of a case.
func (c *spotted) closes() bool {
	if c.parens > 0 {
		c.parens--
		return true
	}
	return c.cases > 0
}

// until reads commands up to the byte that ends this level, 0 for the end of
// the text.
func (l *lexer) until(end byte, depth int) {
	c := spotted{end: end, text: l.document && depth == 0}
	for l.i < len(l.text) {
		b := l.text[l.i]
		if b == end && end != 0 && c.quoting == 0 && (end != ')' || !c.closes()) {
			l.i++
			l.finish(&c)
			return
		}
		if c.quoting != 0 {
			l.inQuotes(&c, b, depth)
		} else {
			l.plain(&c, b, depth)
		}
	}
	l.broken = l.broken || end != 0 || c.quoting != 0
	l.finish(&c)
}

// begin opens a word at the current byte.
func (l *lexer) begin(c *spotted) {
	if !c.open {
		c.open, c.word = true, Word{Span: Span{From: l.i}}
		c.piece.clear()
	}
}

// add takes the current byte as it is.
func (l *lexer) add(c *spotted) {
	l.begin(c)
	c.piece.add(l.text, l.i, l.i+1)
	l.i++
}

// plainBytes are those that mean themselves outside of quotes, and textBytes
// those that do between double quotes.
var plainBytes, textBytes = allBut(" \t\r\x00(\n;|&)<>#'\"\\$`"), allBut("\"\\$`\x00")

func allBut(bytes string) (out [256]bool) {
	for b := range out {
		out[b] = strings.IndexByte(bytes, byte(b)) < 0
	}
	return out
}

// run takes all bytes that mean themselves, of which the current one is one.
func (l *lexer) run(c *spotted, set *[256]bool) {
	l.begin(c)
	from := l.i
	for l.i++; l.i < len(l.text) && set[l.text[l.i]]; {
		l.i++
	}
	c.piece.add(l.text, from, l.i)
}

// closeWord ends the word that is open.
func (l *lexer) closeWord(c *spotted) {
	if !c.open {
		return
	}
	c.open = false
	if c.skip {
		if c.skip = false; c.input && l.depth < maxLoose { // it may be a shell that reads it
			inner := lexer{text: strings.Clone(c.piece.in(l.text)), at: &Span{c.word.Span.From, l.i}, found: l.found, uncommented: l.uncommented, depth: l.depth + 1}
			inner.until(0, 1)
		}
		return
	}
	c.word.Text, c.word.Span.To = c.piece.in(l.text), l.i
	c.word.Fixed = len(c.word.Text)
	switch {
	case c.word.Text == "case" && !c.ran:
		c.cases++
	case c.word.Text == "case" && c.end == ')':
		l.broken = true // it may be one all the same, and the bracket that ends this level end an arm
	case c.word.Text == "esac" && len(c.words) == 0 && c.cases > 0:
		c.cases--
	}
	c.ran = c.ran || !keywords[c.word.Text]
	c.words = append(c.words, c.word)
}

// finish ends the command.
func (l *lexer) finish(c *spotted) {
	l.closeWord(c)
	if len(c.words) > 0 && !c.text {
		for i := 0; i < len(c.words) && l.at != nil; i++ {
			c.words[i].Span = *l.at
		}
		l.found(c.words)
	}
	c.words, c.skip, c.ran = c.words[:0], false, false
}

// plain reads one thing outside quotes.
func (l *lexer) plain(c *spotted, b byte, depth int) {
	if c.text && (b == '\'' || b == '"' || b == '#') {
		l.closeWord(c)
		l.i++
		return
	}
	switch b {
	case ' ', '\t', '\r', 0:
		l.closeWord(c)
		l.i++
	case '(':
		c.parens++
		l.finish(c)
		l.i++
	case '<', '>':
		if !c.text && strings.HasPrefix(l.text[l.i+1:], "(") {
			l.expansion(c, b, depth) // part of a word, as in x=a<(b)c
			return
		}
		l.redirect(c)
	case '\n', ';', '|', '&', ')':
		if strings.HasPrefix(l.text[l.i:], "&>") {
			l.redirect(c)
			return
		}
		l.finish(c)
		l.i++
	case '#':
		if c.open {
			l.add(c)
			return
		}
		if l.uncommented {
			l.i++
			return
		}
		l.i += lineLength(l.text[l.i:])
	case '\'':
		l.singleQuoted(c)
	case '"':
		l.begin(c)
		c.quoting = b
		l.i++
	case '\\':
		l.escaped(c)
	case '$', '`':
		l.expansion(c, b, depth)
	default:
		l.run(c, &plainBytes)
	}
}

// redirect skips an operator; the word behind it is no argument, and neither
// is the descriptor in front of it, which is one only as long as nothing in it
// is quoted, and it is not itself the target of another operator: 2>&1>&-.
func (l *lexer) redirect(c *spotted) {
	if c.open && !c.skip && l.text[l.i] != '&' && leadsRedirect(strings.ReplaceAll(l.text[c.word.Span.From:l.i], "\\\n", "")) {
		c.open = false
	}
	l.closeWord(c)
	from := l.i
	for l.i < len(l.text) && strings.IndexByte("<>&|", l.text[l.i]) >= 0 {
		l.i++
	}
	operator := l.text[from:l.i]
	if strings.HasSuffix(operator, "&") && l.hyphen() {
		return // it closes a descriptor: what follows is a word of the command, with or without a blank between
	}
	if operator == "<<" && strings.HasPrefix(l.text[l.i:], "-") {
		l.i++
	}
	c.skip, c.input = true, operator == "<<<"
}

// hyphen skips a hyphen, and whatever blanks stand in front of it.
func (l *lexer) hyphen() bool {
	rest := l.text[l.i:]
	for {
		short := strings.TrimPrefix(strings.TrimLeft(rest, " \t"), "\\\n")
		if len(short) == len(rest) {
			break
		}
		rest = short
	}
	if !strings.HasPrefix(rest, "-") {
		return false
	}
	l.i = len(l.text) - len(rest) + 1
	return true
}

// leadsRedirect reports whether a word in front of a redirection says what is
// redirected: a number that bash takes for one, or a variable in braces.
func leadsRedirect(word string) bool {
	if name, ok := strings.CutPrefix(word, "{"); ok && strings.HasSuffix(name, "}") {
		name, subscript, array := strings.Cut(strings.TrimSuffix(name, "}"), "[")
		return syntax.ValidName(name) && (!array || strings.HasSuffix(subscript, "]"))
	}
	return strings.Trim(word, "0123456789") == "" && numbers(word)
}

// numbers reports whether bash takes digits in front of a redirection for a
// descriptor. Greater ones are a word of the command.
func numbers(digits string) bool {
	_, err := strconv.ParseInt(digits, 10, 32)
	return err == nil
}

func (l *lexer) singleQuoted(c *spotted) {
	l.begin(c)
	rest := l.text[l.i+1:]
	n := strings.IndexByte(rest, '\'')
	if n < 0 {
		l.broken, n = true, len(rest)
	}
	c.piece.add(l.text, l.i+1, l.i+1+n)
	l.i = min(l.i+n+2, len(l.text))
}

func (l *lexer) escaped(c *spotted) {
	if l.i+1 >= len(l.text) {
		l.i++
		return
	}
	if l.text[l.i+1] == '\n' { // the line goes on
		l.i += 2
		return
	}
	l.begin(c)
	l.i++
	l.add(c)
}

// inQuotes reads one thing between double quotes.
func (l *lexer) inQuotes(c *spotted, b byte, depth int) {
	switch {
	case b == '"':
		c.quoting = 0
		l.i++
	case b == '\\' && l.i+1 < len(l.text) && strings.IndexByte(inDouble, l.text[l.i+1]) >= 0:
		l.escaped(c)
	case b == '$' || b == '`':
		l.expansion(c, b, depth)
	default:
		l.run(c, &textBytes)
	}
}

// expansion reads a substitution as a line of its own; of a variable it keeps
// the name.
func (l *lexer) expansion(c *spotted, b byte, depth int) {
	l.begin(c)
	c.word.Dynamic |= Variable
	next := byte(0)
	if l.i+1 < len(l.text) {
		next = l.text[l.i+1]
	}
	switch {
	case depth >= maxNesting:
		l.broken = true
		l.add(c)
	case b == '`':
		l.backquoted(depth)
	case next == '(':
		l.i += 2
		l.until(')', depth+1)
	case next == '\'' && c.quoting == 0 && !c.text:
		l.ansi(c)
	case next == '"' && c.quoting == 0: // text for translators, quoted as without it
		l.i++
	default:
		l.add(c)
	}
}

// backquoted reads what stands between backquotes, without the backslashes that
// quote something there.
func (l *lexer) backquoted(depth int) {
	from := l.i + 1
	n := closingQuote(l.text[from:])
	end := from + n + 1
	if n < 0 { // all of the rest is taken for what stands in them
		l.broken = true
		n, end = len(l.text)-from, from // and is read as it is, too
	}
	text, _ := backslashes(l.text[from:from+n], nil)
	at := l.at
	if at == nil {
		at = &Span{from, from + n}
	}
	inner := lexer{text: text, at: at, found: l.found, uncommented: l.uncommented, depth: l.depth}
	inner.until(0, depth+1)
	l.broken = l.broken || inner.broken
	l.i = end
}

// ansi reads $'…', of which a NUL ends the string, and not the word.
func (l *lexer) ansi(c *spotted) {
	l.i += 2
	end := l.i
	for end < len(l.text) && l.text[end] != '\'' {
		if l.text[end] == '\\' {
			end++
		}
		end++
	}
	l.broken = l.broken || end >= len(l.text)
	end = min(end, len(l.text))
	for l.i < end {
		if l.text[l.i] != '\\' || l.i+1 == end {
			c.piece.add(l.text, l.i, l.i+1)
			l.i++
			continue
		}
		out, size, _ := ansi(l.text[l.i+1 : end])
		if out == "\x00" {
			break
		}
		c.piece.write(l.text, out)
		l.i += 1 + size
	}
	l.i = min(end+1, len(l.text))
}
