package policy

import (
	"iter"
	stdpath "path"
	"strings"
	"unicode/utf8"
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

// shellWords yields the pieces of a command without quotes that stand between
// everything that may stand between two words, inside quotes as well: more words
// than there are do no harm.
func shellWords(unquoted, home, cwd string) iter.Seq[shellWord] {
	return func(yield func(shellWord) bool) {
		for left, to := maxShellWords, 0; left > 0; {
			from := to
			for from < len(unquoted) && betweenWords[unquoted[from]] {
				from++
			}
			plain := true
			for to = from; to < len(unquoted) && !betweenWords[unquoted[to]]; to++ {
				plain = plain && !oddInWord[unquoted[to]]
			}
			if from == to {
				return
			}
			w, ok := shellWord{text: unquoted[from:to], plain: unquoted[from] == '/'}, true
			if !plain {
				w, ok = readShellWord(w.text, home, cwd)
			}
			if !ok {
				continue
			}
			if left--; !yield(w) {
				return
			}
		}
	}
}

// betweenWords are the bytes that stand between words, and oddInWord those that
// make a word more, or less, than its bytes.
var (
	betweenWords = bytesOf(" \t\r\n;|&<>()`=,:")
	oddInWord    = bytesOf("~$*?[{ABCDEFGHIJKLMNOPQRSTUVWXYZ")
)

func init() {
	for b := utf8.RuneSelf; b < len(oddInWord); b++ {
		oddInWord[b] = true // may be a capital letter
	}
}

func bytesOf(bytes string) (out [256]bool) {
	for i := range len(bytes) {
		out[bytes[i]] = true
	}
	return out
}

// unquoted drops quotes and backslashes, and puts a star for braces and for
// escapes.
func unquoted(text string) string {
	if !strings.ContainsAny(text, "'\"\\{") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	lists := braceLists{text: text}
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
			i += lists.braced(&b, i)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// maxBraced is how long a list in braces may be; what is longer is read as if
// it were none.
const maxBraced = 1024

// braceLists finds the ends of lists in braces, looking at each byte once.
type braceLists struct {
	text     string
	from, to int     // the part without blanks that was looked at
	closing  []int32 // in it, behind each brace that opens the one that closes it; 0 for none
	open     []int32
}

// braced writes what a list in braces may become, and returns how many bytes
// behind the first it took.
func (l *braceLists) braced(b *strings.Builder, at int) int {
	if at >= l.to {
		l.look(at)
	}
	switch n := int(l.closing[at-l.from]); {
	case n > 0 && n < maxBraced:
		if strings.Contains(l.text[at:at+n], "/") {
			b.WriteString("/**/")
		} else {
			b.WriteByte('*')
		}
		return n
	case n == 0 && l.to < len(l.text) && l.to-at < maxBraced:
		b.WriteByte(' ') // a blank ends it
	}
	return 0
}

// look finds out which braces belong together from a place up to the next blank.
func (l *braceLists) look(from int) {
	l.from, l.to, l.open = from, len(l.text), l.open[:0]
	if n := strings.IndexAny(l.text[from:], " \t\n"); n >= 0 {
		l.to = from + n
	}
	l.closing = append(l.closing[:0], make([]int32, l.to-from)...)
	for i := range l.closing {
		switch l.text[from+i] {
		case '{':
			l.open = append(l.open, int32(i))
		case '}':
			if last := len(l.open) - 1; last >= 0 {
				l.closing[l.open[last]] = int32(i) - l.open[last]
				l.open = l.open[:last]
			}
		}
	}
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
	brackets, braces := strings.LastIndexByte(text, ']'), strings.LastIndexByte(text, '}')
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '?', '`':
			b.WriteByte('*')
		case '[':
			b.WriteByte('*')
			// Which brackets belong together was said by quotes that are gone.
			if i < brackets {
				name, _, _ := strings.Cut(text[i:], "/")
				i += max(strings.LastIndexByte(name, ']'), 0)
			}
		case '{':
			b.WriteByte('*')
			if i < braces {
				i += strings.IndexByte(text[i:], '}')
			}
		case '$':
			b.WriteByte('*')
			if i < braces || !strings.HasPrefix(text[i+1:], "{") {
				i += variable(text[i+1:])
			}
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
