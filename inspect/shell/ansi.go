package shell

import (
	"strings"
	"unicode/utf8"
)

// flattenANSI appends the meaning of $'…', which stands in the text from a
// place on.
func (r *reading) flattenANSI(cells []cell, v string, from int) []cell {
	for i := 0; i < len(v); {
		at := r.origin.place(from + i)
		if v[i] != '\\' || i+1 == len(v) {
			cells = append(cells, cell{b: v[i], quoted: true, at: at})
			i++
			continue
		}
		out, size, known := ansi(v[i+1:])
		if !known {
			cells = append(cells, cell{hole: Variable, quoted: true, at: at})
		}
		if out == "\x00" { // ends the string, not the word
			return cells
		}
		for j := 0; j < len(out); j++ {
			cells = append(cells, cell{b: out[j], quoted: true, at: at})
		}
		i += 1 + size
	}
	return cells
}

// simple escapes and what they stand for.
const ansiFrom, ansiTo = `abeEfnrtv\'"?`, "\a\b\x1b\x1b\f\n\r\t\v\\'\"?"

// ansi reads an escape without its backslash, and says how many bytes it took.
// What it stands for is not known if the locale decides.
func ansi(s string) (out string, size int, known bool) {
	if k := strings.IndexByte(ansiFrom, s[0]); k >= 0 {
		return ansiTo[k : k+1], 1, true
	}
	switch {
	case s[0] >= '0' && s[0] <= '7':
		n, size := digits(s, 3, 8)
		return string([]byte{byte(n)}), size, true
	case s[0] == 'x':
		return ansiHex(s)
	case s[0] == 'u' || s[0] == 'U':
		return ansiRune(s)
	case s[0] == 'c' && len(s) > 1:
		return ansiControl(s)
	}
	return `\` + s[:1], 1, true
}

func ansiHex(s string) (string, int, bool) {
	if strings.HasPrefix(s, "x{") {
		n, size := digits(s[2:], len(s), 16)
		if size == 0 {
			return `\x`, 1, false // which braces are dropped differs by version
		}
		size += 2
		if size < len(s) && s[size] == '}' {
			size++
		}
		return string([]byte{byte(n)}), size, true
	}
	n, size := digits(s[1:], 2, 16)
	if size == 0 {
		return `\x`, 1, true
	}
	return string([]byte{byte(n)}), 1 + size, true
}

func ansiRune(s string) (string, int, bool) {
	most := 4
	if s[0] == 'U' {
		most = 8
	}
	n, size := digits(s[1:], most, 16)
	if size == 0 {
		return `\` + s[:1], 1, true
	}
	if n < utf8.RuneSelf {
		return string(rune(n)), 1 + size, true
	}
	return "", 1 + size, false
}

func ansiControl(s string) (string, int, bool) {
	size := 2
	if s[1] == '\\' && len(s) > 2 && s[2] == '\\' {
		size = 3
	}
	if s[1] == '?' {
		return "\x7f", size, true
	}
	return string([]byte{s[1] & 0x1f}), size, s[1] < utf8.RuneSelf
}

// digits reads a number of at most so many digits.
func digits(s string, most, base int) (n uint32, size int) {
	for size < most && size < len(s) {
		d := strings.IndexByte("0123456789abcdef", s[size]|0x20)
		if s[size] >= '0' && s[size] <= '9' {
			d = int(s[size] - '0')
		}
		if d < 0 || d >= base || s[size] < '0' {
			break
		}
		n = n*uint32(base) + uint32(d)
		size++
	}
	return n, size
}
