package shell

import (
	"strconv"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// scan finds every place in a text where a program may stand, without a
// grammar. It is for texts that were not read whole, and only ever used to
// find more reasons to be strict: what it reads wrongly it reads as more
// commands than there are. It takes time in proportion to the text.
//
// Where the quotes are not trusted, the text is read without them as well.
func scan(text string, trusted bool, programs func(string) *program) [][]Word {
	s := spotter{programs: programs}
	if broken := s.read(text, nil, 0); broken || !trusted {
		s.uncommented = true
		s.read(text, nil, 0)
		s.lines(text)
		s.read(strings.Map(unquote, strings.ReplaceAll(text, "\\\n", "")), nil, 0)
	}
	if plainText(text) {
		return s.places
	}
	if bare := strings.Map(visible, text); bare != text { // split by something that nobody sees
		s.read(bare, nil, 0)
		s.read(strings.Map(ending, text), nil, 0)
	}
	return s.places
}

func visible(r rune) rune {
	if r == '\n' || r == '\t' || !unicode.IsControl(r) && !invisible(r) && !turns(r) {
		return r
	}
	return -1
}

// ending takes what nobody sees for the end of a command.
func ending(r rune) rune {
	if visible(r) < 0 {
		return '\n'
	}
	return r
}

// spotter gathers the places where a program may stand, each with the words
// behind it.
type spotter struct {
	programs func(string) *program
	places   [][]Word
	// uncommented says that nothing is taken for a comment.
	uncommented bool
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

// read takes a text apart, and reports whether its quotes or brackets do not
// end. What it finds stands at a span, if that is given.
func (s *spotter) read(text string, at *Span, depth int) (broken bool) {
	l := lexer{text: text, uncommented: s.uncommented}
	l.until(0, 0)
	for _, words := range l.commands {
		if at != nil {
			for i := range words {
				words[i].Span = *at
			}
		}
		s.command(words, depth)
	}
	return l.broken
}

// lines reads each line as if no quote reached over its end.
func (s *spotter) lines(text string) {
	for from := 0; from < len(text); {
		to := from
		for {
			to += lineLength(text[to:])
			if to >= len(text) || endSlashes(text[from:to])%2 == 0 {
				break
			}
			to++ // the line goes on
		}
		s.read(text[from:to], &Span{from, to}, 0)
		from = to + 1
	}
}

// keywords may stand before a program.
var keywords = set("!", "{", "}", "if", "then", "elif", "else", "while", "until", "do", "time", "coproc", "function", "fi", "done", "esac")

// maxLoose is how often a text inside a text is read.
const maxLoose = 4

// command gathers the places in the words of one command: its first word, and
// those behind a word that may be nothing, that runs what follows, or that only
// stands in front of a program.
func (s *spotter) command(words []Word, depth int) {
	wraps, place, timed := false, true, false
	for i, w := range words {
		if i > 0 {
			place = wraps || leads(words[i-1].Text) || place && before(words[i-1], timed) || i > 1 && words[i-2].Text == "coproc"
		}
		if place {
			timed = timed || w.Text == "time"
			s.places = append(s.places, words[i:])
			s.braced(words[i:])
			s.defaulted(words[i:])
			wraps = wraps || s.passes(w.Text)
		}
		if i > 0 && wraps && depth < maxLoose && strings.ContainsAny(w.Text, " \t\n;|&()<>$`'\"\\#") {
			s.read(w.Text, &w.Span, depth+1)
		}
	}
}

// before reports whether a word where a program may stand may have the program
// behind it. If it was quoted, it is a program all the same.
func before(w Word, timed bool) bool {
	return w.Dynamic != 0 || keywords[w.Text] || isAssignment(w.Text) || timed && dashed(w.Text)
}

// leads reports whether the word behind this one is a program.
func leads(word string) bool {
	switch word {
	case "run", "exec", "-exec", "-execdir", "-ok", "-okdir", "--exec", "-x", "-X", "--", "{", ")", "do", "then", "else", "!", "time", "coproc":
		return true
	}
	return false
}

// passes reports whether a program runs what its words say.
func (s *spotter) passes(name string) bool {
	p := s.programs(nameOf(base(name)))
	return p != nil && p.passes
}

// braced takes a list in braces for the words of a command.
func (s *spotter) braced(words []Word) {
	first := words[0]
	if !strings.HasPrefix(first.Text, "{") || !strings.Contains(first.Text, ",") {
		return
	}
	var list []Word
	for text := range strings.SplitSeq(strings.Trim(first.Text, "{}"), ",") {
		list = append(list, Word{Span: first.Span, Text: text, Fixed: len(text), Dynamic: Brace})
	}
	s.places = append(s.places, list)
}

// defaulted takes the word that stands for a variable without a value for the
// program.
func (s *spotter) defaulted(words []Word) {
	rest, ok := strings.CutPrefix(words[0].Text, "${")
	if !ok {
		return
	}
	if i := strings.IndexAny(rest, "-+=?"); i >= 0 {
		first := words[0]
		first.Text = strings.Trim(rest[i+1:], "}")
		first.Fixed = len(first.Text)
		s.places = append(s.places, append([]Word{first}, words[1:]...))
	}
}

// maxNesting is how many substitutions may stand inside each other before the
// rest is taken for text without any.
const maxNesting = 50

// lexer reads a text from left to right.
type lexer struct {
	text     string
	i        int
	commands [][]Word
	room     []Word // where the words of commands are kept
	broken   bool   // quotes or brackets that do not end
	// uncommented says that nothing is taken for a comment.
	uncommented bool
}

// spotted is the command being read at one level of nesting.
type spotted struct {
	words   []Word
	piece   piece
	word    Word
	open    bool // a word has begun
	skip    bool // the next word is the target of a redirection
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
	var c spotted
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
		c.skip = false
		return
	}
	c.word.Text, c.word.Span.To = c.piece.in(l.text), l.i
	c.word.Fixed = len(c.word.Text)
	switch {
	case c.word.Text == "case":
		c.cases++
	case c.word.Text == "esac" && len(c.words) == 0 && c.cases > 0:
		c.cases--
	}
	c.words = append(c.words, c.word)
}

// finish ends the command.
func (l *lexer) finish(c *spotted) {
	l.closeWord(c)
	if len(c.words) > 0 {
		l.commands = append(l.commands, l.kept(c.words))
	}
	c.words, c.skip = c.words[:0], false
}

// kept is a copy of words that stays.
func (l *lexer) kept(words []Word) []Word {
	if len(l.room)+len(words) > cap(l.room) {
		l.room = make([]Word, 0, max(len(words), min(2*cap(l.room), 512), 8))
	}
	from := len(l.room)
	l.room = append(l.room, words...)
	return l.room[from:len(l.room):len(l.room)]
}

// plain reads one thing outside quotes.
func (l *lexer) plain(c *spotted, b byte, depth int) {
	switch b {
	case ' ', '\t', '\r', 0:
		l.closeWord(c)
		l.i++
	case '(':
		c.parens++
		l.finish(c)
		l.i++
	case '<', '>':
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
// is quoted.
func (l *lexer) redirect(c *spotted) {
	if c.open && l.text[l.i] != '&' && leadsRedirect(strings.ReplaceAll(l.text[c.word.Span.From:l.i], "\\\n", "")) {
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
	c.skip = true
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
		name, _, _ = strings.Cut(strings.TrimSuffix(name, "}"), "[")
		return syntax.ValidName(name)
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
	case next == '\'' && c.quoting == 0:
		l.ansi(c)
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
	inner := lexer{text: text, uncommented: l.uncommented}
	inner.until(0, depth+1)
	at := Span{from, from + n}
	for _, words := range inner.commands {
		for i := range words {
			words[i].Span = at
		}
	}
	l.commands = append(l.commands, inner.commands...)
	l.broken = l.broken || inner.broken
	l.i = end
}

// ansi reads $'…'. What stands behind a NUL in it is read as well.
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
		c.piece.write(l.text, out)
		l.i += 1 + size
	}
	l.i = min(end+1, len(l.text))
}
