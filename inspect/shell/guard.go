package shell

import "strings"

// Limits of what the grammar is given. It calls itself for everything that
// stands inside of something, and a text can be nothing but beginnings.
const (
	maxOpen   = 500  // beginnings without their ends
	maxOpened = 8000 // beginnings at all
)

// shallow reports whether the grammar can be trusted with the text.
func (r *reading) shallow() bool {
	g := guard{text: r.text}
	for g.i < len(r.text) {
		if g.step(); max(g.open, g.prefixes) > maxOpen || g.opened > maxOpened {
			r.problem(r.origin.span(0, len(r.text)), TooDeep, "too much stands inside of something else")
			return false
		}
	}
	return true
}

// guard counts what begins in a text, and roughly what ends.
type guard struct {
	text     string
	i        int
	quoted   bool // between double quotes, in which single ones mean nothing
	open     int  // beginnings without their ends
	opened   int  // beginnings at all
	prefixes int  // words in front of a command
}

func (g *guard) step() {
	switch b := g.text[g.i]; b {
	case '\\':
		g.i++
	case '\'':
		if !g.quoted {
			g.i += quotedLength(g.text[g.i:])
		}
	case '"':
		g.quoted = !g.quoted
	case '(', '{', '[', '`':
		g.opened++
		g.open++
	case ')', '}', ']':
		g.open = max(g.open-1, 0)
	case 'i', 'f', 'w', 'u', 'c', 's':
		if wordAt(g.text, g.i, openers[:]) {
			g.opened++
			g.open++
		}
	case '!', 't':
		if wordAt(g.text, g.i, prefixes[:]) {
			g.prefixes++
		}
	case ';', '\n', '&', '|':
		g.prefixes = 0
		g.open = max(g.open-closedBy(g.text[g.i+1:]), 0)
	}
	g.i++
}

// openers are words that begin something which other words end; prefixes stand
// in front of a command.
var (
	openers  = [...]string{"if", "for", "while", "until", "case", "select"}
	prefixes = [...]string{"!", "time"}
)

// wordAt reports whether one of some words stands at a place where a command
// may begin.
func wordAt(text string, i int, words []string) bool {
	if i > 0 && (strings.IndexByte(" \t\n;&|({", text[i-1]) < 0 || !beginsAt(text, i)) {
		return false
	}
	for _, w := range words {
		if rest, ok := strings.CutPrefix(text[i:], w); ok && (rest == "" || strings.IndexByte(" \t\n", rest[0]) >= 0) {
			return true
		}
	}
	return false
}

// beginsAt reports whether a command may begin at a place: behind an operator,
// or a word that wants one.
func beginsAt(text string, i int) bool {
	before := strings.TrimRight(text[max(0, i-16):i], " \t")
	if before == "" || strings.IndexByte("\n;&|({!)", before[len(before)-1]) >= 0 {
		return true
	}
	switch before[strings.LastIndexAny(before, " \t\n;&|({")+1:] {
	case "if", "then", "elif", "else", "while", "until", "do", "time":
		return true
	}
	return false
}

// closedBy returns 1 if a statement begins with a word that ends something. What
// stands behind more line ends is seen at the last of them, so that each byte is
// looked at once.
func closedBy(rest string) int {
	rest = strings.TrimLeft(rest, " \t")
	for _, w := range [...]string{"fi", "done", "esac", "}"} {
		if strings.HasPrefix(rest, w) {
			return 1
		}
	}
	return 0
}
