package policy

import (
	stdpath "path"
	"strings"
)

// shellWord is a piece of a command that may name a file: without its quotes,
// in lower case, with a star for what is only known when it runs and ** for
// what may be several names.
type shellWord struct {
	text  string
	plain bool // absolute, and nothing in it had to be guessed
	// below is what stands behind a tilde or HOME, which may be another folder
	// where the command runs; empty if neither is there.
	below string
}

// maxShellWords bounds what is looked at of one command; a command has to be
// asked about long before.
const maxShellWords = 20_000

// shellWords splits a command at everything that may stand between two words,
// inside quotes as well: more words than there are do no harm.
func shellWords(text, home, cwd string) []shellWord {
	var out []shellWord
	for _, raw := range strings.FieldsFunc(unquoted(text), betweenWords) {
		if len(out) == maxShellWords {
			break
		}
		if w, ok := readShellWord(raw, home, cwd); ok {
			out = append(out, w)
		}
	}
	return out
}

func betweenWords(r rune) bool {
	return r < 0x80 && strings.IndexByte(" \t\r\n;|&<>()`=,:", byte(r)) >= 0
}

// unquoted drops quotes and backslashes, and puts a star for braces and for
// escapes.
func unquoted(text string) string {
	if !strings.ContainsAny(text, "'\"\\{") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\'', '"':
		case '$':
			if strings.HasPrefix(text[i:], "$'") {
				end := strings.IndexByte(text[i+2:], '\'')
				if end >= 0 && strings.Contains(text[i+2:i+2+end], `\`) {
					b.WriteByte('*')
					i += 2 + end
				}
				continue
			}
			b.WriteByte(c)
		case '\\':
			if i+1 < len(text) && text[i+1] != '\n' {
				b.WriteByte(text[i+1])
			}
			i++
		case '{':
			if i > 0 && text[i-1] == '$' {
				b.WriteByte(c)
				continue
			}
			i += braced(&b, text[i:])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// maxBraced is how long a list in braces may be; what is longer is read as if
// it were none.
const maxBraced = 1024

// braced writes what a list in braces may become, and returns how many bytes
// behind the first it took.
func braced(b *strings.Builder, text string) int {
	depth := 0
	for i, r := range text[:min(len(text), maxBraced)] {
		switch r {
		case '{':
			depth++
		case '}':
			if depth--; depth > 0 {
				continue
			}
			if strings.Contains(text[:i], "/") {
				b.WriteString("/**/")
			} else {
				b.WriteByte('*')
			}
			return i
		case ' ', '\t', '\n':
			b.WriteByte(' ')
			return 0
		}
	}
	return 0
}

// readShellWord puts folders for a tilde and for the variables that everybody
// has, and stars for the rest.
func readShellWord(raw, home, cwd string) (shellWord, bool) {
	if !strings.ContainsAny(raw, "~$*?[{`") {
		return shellWord{text: strings.ToLower(raw), plain: raw[0] == '/'}, true
	}
	text, below := raw, ""
	for i, v := range [...]struct{ name, value string }{{"~", home}, {"$HOME", home}, {"${HOME}", home}, {"$PWD", cwd}, {"${PWD}", cwd}} {
		rest, ok := strings.CutPrefix(text, v.name)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		if i < 3 {
			below, _ = loosen(strings.ToLower(rest))
		}
		if v.value != "" {
			text = v.value + rest
		}
		break
	}
	folders := strings.HasPrefix(text, "$") || strings.HasPrefix(text, "~")
	loose, _ := loosen(text)
	if folders {
		_, rest, _ := strings.Cut(loose, "/")
		loose = "/**/" + rest
	}
	return shellWord{text: strings.ToLower(loose), plain: raw == loose && raw[0] == '/', below: below}, loose != ""
}

// loosen puts a star for each part of a word that is only known when it runs.
func loosen(text string) (loose string, wild bool) {
	if !strings.ContainsAny(text, "*?[{$`") {
		return text, false
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '?':
			b.WriteByte('*')
		case '[':
			b.WriteByte('*')
			i += max(strings.IndexByte(text[i:], ']'), 0)
		case '{':
			b.WriteByte('*')
			i += max(strings.IndexByte(text[i:], '}'), 0)
		case '`':
			b.WriteByte('*')
		case '$':
			b.WriteByte('*')
			i += variable(text[i+1:])
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String(), true
}

// variable returns how many bytes the name behind a dollar sign has.
func variable(rest string) int {
	if strings.HasPrefix(rest, "{") {
		return strings.IndexByte(rest, '}') + 1
	}
	n := 0
	for n < len(rest) && (rest[n] == '_' || rest[n]|0x20 >= 'a' && rest[n]|0x20 <= 'z' || rest[n] >= '0' && rest[n] <= '9') {
		n++
	}
	if n == 0 && rest != "" && strings.IndexByte("@*#?-$!", rest[0]) >= 0 {
		return 1
	}
	return n
}

// absolute makes a word absolute in a folder and clean.
func absolute(dir, word string) string {
	if !strings.HasPrefix(word, "/") {
		word = dir + "/" + word
	}
	return strings.ToLower(stdpath.Clean(word))
}
