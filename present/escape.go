package present

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sayso-dev/sayso"
	"golang.org/x/text/unicode/norm"
)

// maxMarks is how many marks may be stacked on one character. Scripts use up
// to four or five; a pile of them draws over the lines above and below.
const maxMarks = 6

// escape replaces every code point that may not be shown raw by a visible
// form: \x1b for a control character or a stray byte, \u{202e} for the rest.
func escape(s string, f *findings) string {
	e := escaper{s: s, f: f}
	e.b.Grow(len(s))
	for e.i = 0; e.i < len(s); e.i += e.size {
		e.r, e.size = utf8.DecodeRuneInString(s[e.i:])
		e.step()
	}
	return e.b.String()
}

type escaper struct {
	s     string
	f     *findings
	b     strings.Builder
	i     int
	r     rune
	size  int
	prev  rune // the character before, marks and joiners not counted
	last  rune // the code point before
	marks int
}

func (e *escaper) step() {
	kind, bad := e.judge()
	if bad {
		e.f.addRune(kind, e.r)
		e.write()
		e.prev, e.last, e.marks = '}', '}', maxMarks // a mark would sit on the brace
		return
	}
	e.b.WriteString(e.s[e.i : e.i+e.size])
	if !unicode.In(e.r, unicode.Mn, unicode.Me) && !joiner(e.r) {
		e.prev, e.marks = e.r, 0
	}
	e.last = e.r
}

// write writes the visible form of the code point at hand.
func (e *escaper) write() {
	switch {
	case e.r == utf8.RuneError && e.size == 1:
		fmt.Fprintf(&e.b, `\x%02x`, e.s[e.i])
	case e.r == '\r':
		e.b.WriteString(`\r`)
	case e.r < 0xa0:
		fmt.Fprintf(&e.b, `\x%02x`, e.r)
	default:
		fmt.Fprintf(&e.b, `\u{%x}`, e.r)
	}
}

// judge says whether the code point at hand is shown escaped, and what kind of
// warning it is worth.
func (e *escaper) judge() (sayso.WarningKind, bool) {
	r := e.r
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
		return "", false
	case r == utf8.RuneError && e.size == 1:
		return sayso.WarnControl, true
	case r < 0xa0 || unicode.Is(unicode.Noncharacter_Code_Point, r):
		return sayso.WarnControl, true
	case isBidi(r):
		return sayso.WarnBidi, true
	case isBlank(r):
		return sayso.WarnWhitespace, !e.ordinaryBlank()
	case isInvisible(r):
		return sayso.WarnInvisible, !e.ordinaryInvisible()
	case unicode.In(r, unicode.Mn, unicode.Me):
		e.marks++
		return sayso.WarnInvisible, e.marks > maxMarks
	}
	return "", false
}

// next returns the code point after the one at hand.
func (e *escaper) next() rune {
	r, _ := utf8.DecodeRuneInString(e.s[e.i+e.size:])
	return r
}

// isBidi reports the controls that change the direction of text.
func isBidi(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// isBlank reports what looks like a blank and is none, and what breaks lines.
func isBlank(r rune) bool {
	switch {
	case r >= 0x2000 && r <= 0x200a, r == 0x2028, r == 0x2029, r == 0x2800:
		return true
	}
	return r > ' ' && unicode.Is(unicode.Zs, r)
}

// isInvisible reports what takes no room or shows nothing: formats, fillers,
// selectors, tags, and whatever a renderer may ignore.
func isInvisible(r rune) bool {
	switch {
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	case r >= 0xfff0 && r <= 0xfffb, r == 0x2065, r >= 0x1d173 && r <= 0x1d17a, r == 0x1d159, r == 0xfffc:
		return true
	case r >= 0x0600 && r <= 0x0605, r == 0x06dd, r == 0x070f, r == 0x0890, r == 0x0891, r == 0x08e2, r == 0x110bd, r == 0x110cd:
		return false // signs of Arabic, Syriac and Kaithi that are drawn
	}
	return unicode.Is(unicode.Cf, r)
}

func joiner(r rune) bool { return r == 0x200c || r == 0x200d || r >= 0xfe00 && r <= 0xfe0f }

// ordinaryBlank reports whether the blank at hand stands where writers of some
// language put it: the wide blank among wide characters, the unbreakable one
// before French punctuation and inside numbers, the Braille one among Braille.
func (e *escaper) ordinaryBlank() bool {
	next := e.next()
	switch e.r {
	case 0x3000:
		return wide(e.last) || wide(next)
	case 0x2800:
		return braille(e.last) || braille(next)
	case 0xa0, 0x202f, 0x2009:
		if unicode.IsDigit(e.last) && (unicode.IsDigit(next) || strings.ContainsRune("€%°$£", next)) {
			return true
		}
		return unicode.IsLetter(e.last) && strings.ContainsRune("!?:;»", next) || e.last == '«' && unicode.IsLetter(next)
	}
	return false
}

func wide(r rune) bool {
	return cjk(r) || r >= 0x3001 && r <= 0x303f || r >= 0xff01 && r <= 0xff65
}

func cjk(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
}

func braille(r rune) bool { return r > 0x2800 && r <= 0x28ff }

// ordinaryInvisible reports whether the joiner or selector at hand does the
// work it is there for.
func (e *escaper) ordinaryInvisible() bool {
	switch r := e.r; {
	case r == 0x200d:
		return virama(e.last) || (pictograph(e.last) || e.last == 0xfe0f) && pictograph(e.next())
	case r == 0x200c:
		return virama(e.last) || joining(e.prev) && joining(e.next())
	case r == 0xfe0f || r == 0xfe0e:
		return e.last == e.prev && (pictograph(e.prev) || keycap(e.prev) && e.next() == 0x20e3)
	case r >= 0xfe00 && r <= 0xfe02, r >= 0xe0100 && r <= 0xe01ef:
		return e.last == e.prev && unicode.Is(unicode.Han, e.prev)
	case r >= 0x180b && r <= 0x180e:
		return e.last == e.prev && unicode.Is(unicode.Mongolian, e.prev)
	}
	return false
}

// virama reports the marks after which Indic scripts use joiners.
func virama(r rune) bool {
	return r >= 0x0900 && norm.NFC.PropertiesString(string(r)).CCC() == 9
}

// joining reports the letters of scripts written joined up, where a non-joiner
// is spelling.
func joining(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Thaana) && unicode.IsLetter(r)
}

func pictograph(r rune) bool {
	switch {
	case r >= 0x1f000 && r <= 0x1faff, r >= 0x2190 && r <= 0x21ff, r >= 0x2300 && r <= 0x23ff, r >= 0x25a0 && r <= 0x27bf,
		r >= 0x2900 && r <= 0x297f, r >= 0x2b00 && r <= 0x2bff:
		return true
	}
	return r == 0xa9 || r == 0xae || r == 0x203c || r == 0x2049 || r == 0x2122 || r == 0x2139 || r == 0x24c2 ||
		r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299
}

func keycap(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }
