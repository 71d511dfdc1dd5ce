package shell

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNamed is how many characters of one text are named as problems.
const maxNamed = 16

// characters returns a problem for each character that a command has no reason
// to hold: what steers a terminal, what turns the direction of text, what
// nobody can see. They are looked for before the grammar sees the text, because
// the grammar reads some of them otherwise than bash does.
func characters(text string) (found []Problem) {
	if plainText(text) {
		return nil
	}
	for i := 0; i < len(text) && len(found) < maxNamed; {
		r, size := utf8.DecodeRuneInString(text[i:])
		if what := hidden(r, size, text[:i]); what != "" {
			found = append(found, Problem{
				Span: Span{i, i + size}, Kind: Character, What: fmt.Sprintf("%s, U+%04X", what, r),
			})
		}
		i += size
	}
	return found
}

// plainText reports whether a text is ASCII without controls.
func plainText(text string) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c >= 0x7f || c < ' ' && c != '\t' && c != '\n' {
			return false
		}
	}
	return true
}

// hidden says what is wrong with a character, "" if nothing is; before is the
// text in front of it.
func hidden(r rune, size int, before string) string {
	switch {
	case r == '\t' || r == '\n' || r >= ' ' && r < 0x7f:
		return ""
	case r == utf8.RuneError && size == 1:
		return "a byte that is not UTF-8"
	case r < 0xa0:
		return "a control character"
	case turns(r):
		return "a character that turns the direction of text"
	case r >= 0xe0000 && r <= 0xe0fff:
		return "a tag character"
	case r == 0xfe0f && sign(before):
		return "" // makes an emoji of the sign before it
	case invisible(r):
		return "a character that cannot be seen"
	}
	return ""
}

// turns reports the controls that change the direction of text.
func turns(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// invisible reports what takes no room or shows nothing.
func invisible(r rune) bool {
	switch {
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff0 && r <= 0xfffb:
		return true
	case r == 0x2028, r == 0x2029, r == 0x2065, r >= 0x1d173 && r <= 0x1d17a:
		return true
	case r >= 0x0600 && r <= 0x0605, r == 0x06dd, r == 0x070f, r == 0x08e2, r == 0x110bd, r == 0x110cd:
		return false // signs of Arabic, Syriac and Kaithi that are drawn
	}
	return unicode.Is(unicode.Cf, r)
}

func sign(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return unicode.Is(unicode.So, r)
}

// blank reports what looks like a blank and separates nothing.
func blank(r rune) bool { return r > ' ' && unicode.Is(unicode.Zs, r) }

// stands says which bytes stand for those that the grammar would not read as
// part of a word, as bash does; 0 for none.
type stands struct{ forReturn, forNUL byte }

// readable replaces what the grammar would drop or take for a blank by bytes
// that are not in the text.
func readable(text string) (string, stands) {
	if !strings.ContainsAny(text, "\x00\r") {
		return text, stands{}
	}
	var free []byte
	for b := byte(1); b < ' '; b++ {
		if b != '\t' && b != '\n' && b != '\r' && strings.IndexByte(text, b) < 0 {
			free = append(free, b)
		}
	}
	if len(free) < 2 {
		free = []byte{1, 2}
	}
	s := stands{forReturn: free[0], forNUL: free[1]}
	out := []byte(text)
	for i, b := range out {
		switch b {
		case '\r':
			out[i] = s.forReturn
		case 0:
			out[i] = s.forNUL
		}
	}
	return string(out), s
}

// original puts the bytes back that others stand for.
func (s stands) original(text string) string {
	if s.forReturn == 0 {
		return text
	}
	out := []byte(text)
	for i, b := range out {
		switch b {
		case s.forReturn:
			out[i] = '\r'
		case s.forNUL:
			out[i] = 0
		}
	}
	return string(out)
}
