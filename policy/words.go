package policy

import "strings"

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
func readLine(text string) (l line) {
	var room []word
	l.broken = eachCommand(text, func(words []word) {
		from := len(room)
		if from+len(words) > cap(room) {
			room, from = make([]word, 0, max(len(words), min(2*cap(room), 512), 8)), 0
		}
		room = append(room, words...)
		l.commands = append(l.commands, room[from:len(room):len(room)])
	})
	return l
}

// eachCommand hands on the words of each command of a line, which stand there
// until the next one is read, and reports whether quotes or brackets do not end.
func eachCommand(text string, found func(words []word)) (broken bool) {
	l := lexer{text: text, found: found}
	l.until(0, 0)
	if l.broken {
		// Where the quotes cannot be trusted, nothing is quoted.
		plain := lexer{text: strings.Map(unquote, text), found: found}
		plain.until(0, 0)
	}
	return l.broken
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
	text   string
	i      int
	broken bool // quotes or brackets that do not end
	found  func(words []word)
}

// command is the command being read at one level of nesting.
type command struct {
	words   []word
	piece   piece
	word    word
	open    bool // a word has begun
	skip    bool // the next word is the target of a redirection
	ran     bool // there is a word that is no keyword
	quoting byte // the quote that is open: ", or 0
	parens  int  // brackets that are open at this level
	cases   int  // case words that no esac has ended
}

// piece is the part of a word that was read: a range of the text, as long as
// nothing was left out of the middle of it, and a copy from then on.
type piece struct {
	from, to int
	copied   bool
	buf      []byte
}

// add appends a range of the text.
func (p *piece) add(text string, from, to int) {
	switch {
	case p.copied:
		p.buf = append(p.buf, text[from:to]...)
	case p.from == p.to:
		p.from, p.to = from, to
	case p.to == from:
		p.to = to
	case from < to:
		p.copied = true
		p.buf = append(append(p.buf[:0], text[p.from:p.to]...), text[from:to]...)
	}
}

// in is the piece as a string.
func (p *piece) in(text string) string {
	if p.copied {
		return string(p.buf)
	}
	return text[p.from:p.to]
}

// clear empties the piece.
func (p *piece) clear() { p.from, p.to, p.copied = 0, 0, false }

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
func (l *lexer) begin(c *command) {
	if !c.open {
		c.open, c.word = true, word{from: l.i}
		c.piece.clear()
	}
}

// add takes the current byte as it is.
func (l *lexer) add(c *command) {
	l.begin(c)
	c.piece.add(l.text, l.i, l.i+1)
	l.i++
}

// plainBytes are those that mean themselves outside of quotes, and textBytes
// those that do between double quotes.
var plainBytes, textBytes = allBut(" \t\r(\n;|&)<>#'\"\\$`"), allBut("\"\\$`")

func allBut(bytes string) [256]bool {
	out := bytesOf(bytes)
	for b := range out {
		out[b] = !out[b]
	}
	return out
}

// run takes all bytes that mean themselves, of which the current one is one.
func (l *lexer) run(c *command, set *[256]bool) {
	l.begin(c)
	from := l.i
	for l.i < len(l.text) && set[l.text[l.i]] {
		l.i++
	}
	c.piece.add(l.text, from, l.i)
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
	c.word.text, c.word.to = c.piece.in(l.text), l.i
	switch {
	case c.word.text == "case" && !c.ran:
		c.cases++
	case c.word.text == "esac" && len(c.words) == 0 && c.cases > 0:
		c.cases--
	}
	c.ran = c.ran || !keywords[c.word.text]
	c.words = append(c.words, c.word)
}

// finish ends the command.
func (l *lexer) finish(c *command) {
	l.closeWord(c)
	if len(c.words) > 0 {
		l.found(c.words)
	}
	c.words, c.skip, c.ran = c.words[:0], false, false
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
			l.add(c)
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
		l.run(c, &plainBytes)
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
	if c.open && strings.Trim(c.piece.in(l.text), "0123456789") == "" {
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
	c.piece.add(l.text, l.i+1, l.i+1+n)
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
	l.add(c)
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
	case b == '\\':
		l.add(c)
	default:
		l.run(c, &textBytes)
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
		l.add(c)
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
		l.add(c)
	}
}
