package present

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sayso-dev/sayso"
)

// Safe returns s as it may be shown: code points that steer a terminal, turn
// the reading direction, or cannot be seen are written out (`\x1b`,
// `\u{202e}`), and the kinds found are returned. Line feeds and tabs stay.
func Safe(s string) (string, []sayso.WarningKind) {
	if plainASCII(s) {
		return s, nil
	}
	var b strings.Builder
	seen := map[sayso.WarningKind]bool{}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if kind := unsafeRune(r, size); kind != "" {
			seen[kind] = true
			b.WriteString(escape(r, s[i]))
		} else {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	var kinds []sayso.WarningKind
	for _, k := range []sayso.WarningKind{sayso.WarnControl, sayso.WarnBidi, sayso.WarnInvisible} {
		if seen[k] {
			kinds = append(kinds, k)
		}
	}
	return b.String(), kinds
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// unsafeRune says which kind of danger a code point is; empty for none.
func unsafeRune(r rune, size int) sayso.WarningKind {
	switch {
	case r == '\n' || r == '\t':
		return ""
	case r == utf8.RuneError && size <= 1, unicode.Is(unicode.Cc, r), r == '\u2028', r == '\u2029':
		return sayso.WarnControl
	case unicode.Is(unicode.Bidi_Control, r):
		return sayso.WarnBidi
	case unicode.Is(unicode.Cf, r) && r != '\u200d', unicode.Is(unicode.Co, r), r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0':
		return sayso.WarnInvisible
	}
	return ""
}

func escape(r rune, first byte) string {
	if r == utf8.RuneError {
		return fmt.Sprintf(`\x%02x`, first)
	}
	if r < 0x100 {
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u{%x}`, r)
}
