package address

import "strings"

// unescapePlain decodes the escapes that never needed to be ones (letters,
// digits, - _ ~), so that a rule about a path cannot be passed by spelling it
// differently. It reports whether others were left that servers disagree
// about, and whether every percent sign begins an escape.
func unescapePlain(s string) (decoded string, escaped, ok bool) {
	if strings.IndexByte(s, '%') < 0 {
		return s, false, true
	}
	ok = true
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c, hex := escapeAt(s, i)
		switch {
		case s[i] != '%':
			b.WriteByte(s[i])
			continue
		case !hex:
			ok = false
			b.WriteByte('%')
			continue
		case unreserved(c):
			b.WriteByte(c)
		default:
			b.WriteString(strings.ToUpper(s[i : i+3]))
		}
		escaped = escaped || c == '/' || c == '\\' || c == '.' || c == '%' || c < ' '
		i += 2
	}
	return b.String(), escaped, ok
}

// unescapeAll decodes every escape. It is only for recognising what is
// forbidden.
func unescapeAll(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c, ok := escapeAt(s, i); ok {
			b.WriteByte(c)
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// escapeAt returns the byte that the escape at s[i] stands for.
func escapeAt(s string, i int) (byte, bool) {
	if s[i] != '%' || i+2 >= len(s) {
		return 0, false
	}
	hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2])
	return byte(hi<<4 | lo), hi >= 0 && lo >= 0
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

func unreserved(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '_' || c == '~'
}
