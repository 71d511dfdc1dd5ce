package policy

import (
	"slices"
	"strings"
)

// word is a word of a command, without its quotes, and where it stands in the
// text.
type word struct {
	text     string
	from, to int
	dynamic  bool // holds a variable or a substitution
}

// line is a command line taken apart as text: the commands in it and in its
// substitutions, wherever they begin.
//
// This is no shell: it is only ever used to find more reasons to be strict.
// What it reads wrongly it reads as more commands than there are, here-document
// bodies for instance. Nothing is allowed on its word.
type line struct {
	commands [][]word
	broken   bool // quotes or brackets that do not end
}

// readLine takes a command line apart.
func readLine(text string) line {
	l := lexer{text: text}
	l.until(0, 0)
	if l.broken {
		// Where the quotes cannot be trusted, nothing is quoted.
		plain := lexer{text: strings.Map(unquote, text)}
		plain.until(0, 0)
		l.commands = append(l.commands, plain.commands...)
	}
	return l.line
}

func unquote(r rune) rune {
	if r == '\'' || r == '"' || r == '\\' {
		return ' '
	}
	return r
}

// maxNesting is how many substitutions may stand inside each other before the
// rest is taken for text without any.
const maxNesting = 50

// lexer reads a text from left to right.
type lexer struct {
	line
	text string
	i    int
}

// command is the command being read at one level of nesting.
type command struct {
	words   []word
	buf     []byte
	word    word
	open    bool // a word has begun
	skip    bool // the next word is the target of a redirection
	quoting byte // the quote that is open: ", or 0
	parens  int  // brackets that are open at this level
	cases   int  // case words that no esac has ended
}

// closes reports whether a closing bracket belongs to something that this level
// opened: a subshell, a function's name, or the pattern of a case.
func (c *command) closes() bool {
	if c.parens > 0 {
		c.parens--
		return true
	}
	return c.cases > 0
}

// until reads commands up to the byte that ends this level, 0 for the end of
// the text.
func (l *lexer) until(end byte, depth int) {
	var c command
	for l.i < len(l.text) {
		b := l.text[l.i]
		if b == end && c.quoting == 0 && (end != ')' || !c.closes()) {
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
func (l *lexer) begin(c *command) {
	if !c.open {
		c.open, c.word, c.buf = true, word{from: l.i}, c.buf[:0]
	}
}

func (l *lexer) add(c *command, b byte) {
	l.begin(c)
	c.buf = append(c.buf, b)
	l.i++
}

// closeWord ends the word that is open.
func (l *lexer) closeWord(c *command) {
	if !c.open {
		return
	}
	c.open = false
	if c.skip {
		c.skip = false
		return
	}
	c.word.text, c.word.to = string(c.buf), l.i
	switch {
	case c.word.text == "case" && !slices.ContainsFunc(c.words, isNoKeyword):
		c.cases++
	case c.word.text == "esac" && len(c.words) == 0 && c.cases > 0:
		c.cases--
	}
	c.words = append(c.words, c.word)
}

func isNoKeyword(w word) bool { return !keywords[w.text] }

// finish ends the command.
func (l *lexer) finish(c *command) {
	l.closeWord(c)
	if len(c.words) > 0 {
		l.commands = append(l.commands, c.words)
	}
	c.words, c.skip = nil, false
}

// plain reads one thing outside quotes.
func (l *lexer) plain(c *command, b byte, depth int) {
	switch b {
	case ' ', '\t', '\r':
		l.closeWord(c)
		l.i++
	case '(':
		c.parens++
		l.finish(c)
		l.i++
	case '\n', ';', '|', '&', ')':
		l.finish(c)
		l.i++
	case '<', '>':
		l.redirect(c)
	case '#':
		if c.open {
			l.add(c, b)
			return
		}
		l.i += lineLen(l.text[l.i:])
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
		l.add(c, b)
	}
}

func lineLen(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// redirect skips an operator; the word behind it is no argument, and neither
// is the number in front of it.
func (l *lexer) redirect(c *command) {
	if c.open && strings.Trim(string(c.buf), "0123456789") == "" {
		c.open = false
	}
	l.closeWord(c)
	for l.i < len(l.text) && strings.IndexByte("<>&|-", l.text[l.i]) >= 0 {
		l.i++
	}
	c.skip = true
}

func (l *lexer) singleQuoted(c *command) {
	l.begin(c)
	rest := l.text[l.i+1:]
	n := strings.IndexByte(rest, '\'')
	if n < 0 {
		l.broken, n = true, len(rest)
	}
	c.buf = append(c.buf, rest[:n]...)
	l.i = min(l.i+n+2, len(l.text))
}

func (l *lexer) escaped(c *command) {
	if l.i+1 >= len(l.text) {
		l.i++
		return
	}
	l.i++
	if l.text[l.i] == '\n' { // the line goes on
		l.i++
		return
	}
	l.add(c, l.text[l.i])
}

// inQuotes reads one thing between double quotes.
func (l *lexer) inQuotes(c *command, b byte, depth int) {
	switch {
	case b == '"':
		c.quoting = 0
		l.i++
	case b == '\\' && l.i+1 < len(l.text) && strings.IndexByte("\"\\$`\n", l.text[l.i+1]) >= 0:
		l.escaped(c)
	case b == '$' || b == '`':
		l.expansion(c, b, depth)
	default:
		l.add(c, b)
	}
}

// expansion reads a substitution as a line of its own; of a variable it keeps
// the name.
func (l *lexer) expansion(c *command, b byte, depth int) {
	l.begin(c)
	c.word.dynamic = true
	next := byte(0)
	if l.i+1 < len(l.text) {
		next = l.text[l.i+1]
	}
	switch {
	case depth >= maxNesting:
		l.broken = true
		l.add(c, b)
	case b == '`':
		l.i++
		l.until('`', depth+1)
	case next == '(':
		l.i += 2
		l.until(')', depth+1)
	case next == '\'' && c.quoting == 0:
		l.i++ // the escapes in it are left as they are, the word is dynamic
		l.singleQuoted(c)
	default:
		l.add(c, b)
	}
}
