package redact

import (
	"strings"
	"unicode/utf8"
)

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isAlpha(c byte) bool { return isLower(c|0x20) && c < utf8.RuneSelf }
func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isSpace(c byte) bool { return isBlank(c) || c == '\n' || c == '\r' }
func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// isName reports whether c may stand in a name in any of the texts read here.
func isName(c byte) bool {
	return isAlnum(c) || c == '_' || c == '-' || c == '.' || c >= utf8.RuneSelf
}

func isVarName(c byte) bool { return isAlnum(c) || c == '_' }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// span0 returns the length of the run at the start of s whose bytes are ok.
func span0(s string, ok func(byte) bool) int {
	i := 0
	for i < len(s) && ok(s[i]) {
		i++
	}
	return i
}

// lineEnd returns where the line that holds i ends, before its newline.
func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s)
}

// looksRandom reports whether s reads like a generated credential and not like
// words: long enough, and changing between kinds of character all the time.
func looksRandom(s string) bool {
	if len(s) < 16 {
		return false
	}
	changes, last := 0, byte(0)
	for i := range len(s) {
		var kind byte
		switch c := s[i]; {
		case isDigit(c):
			kind = 'd'
		case isLower(c):
			kind = 'l'
		case isUpper(c):
			kind = 'u'
		case isSpace(c):
			return false
		default:
			continue
		}
		if last != 0 && kind != last {
			changes++
		}
		last = kind
	}
	return changes >= max(4, len(s)/6)
}

// likeSecret reports whether a value is a word that nobody would call a program, a
// place or a thing, as passwords are: it mixes letters with digits.
func likeSecret(v string) bool {
	return len(v) >= 7 && noWord(v) && !strings.ContainsAny(v, "./:\\ \t\n$`;|&<>()") && v[0] != '-' && !knownPrograms[v]
}
