package path

import (
	"strings"
	"unicode"
)

// maxGlobs is how many patterns one text may stand for.
const maxGlobs = 64

// Globs takes apart the text with which a search or a list is narrowed: into
// the patterns that it stands for once braces are written out and, outside of
// them, blanks and commas separate. Plain reports whether every reader takes
// the text alike and no pattern leads out of the folder that it is used in;
// letters, digits, * and ?, and what names are otherwise made of. A text that
// is not plain may stand for patterns that are not returned.
func Globs(text string) (globs []string, plain bool) {
	if strings.Contains(text, "..") || strings.IndexFunc(text, oddInGlob) >= 0 {
		return nil, false
	}
	plain = true
	for _, one := range separate(text) {
		var ok bool
		if globs, ok = braces(globs, one); !ok {
			return nil, false
		}
	}
	for _, g := range globs {
		plain = plain && stays(strings.TrimPrefix(g, "!"))
	}
	return globs, plain
}

// GlobLeaves reports whether the text with which a search or a list is narrowed
// may lead out of the folder that it is used in: by a dot-dot, also one that
// braces or brackets put together, or by beginning elsewhere.
func GlobLeaves(text string) bool {
	if _, plain := Globs(text); plain {
		return false
	}
	begins := true
	for _, r := range text {
		if begins && strings.ContainsRune("/~$\\", r) {
			return true
		}
		begins = strings.ContainsRune("{[(,!@+ |", r)
	}
	if len(text) > 1 && text[1] == ':' {
		return true // a drive
	}
	_, plain := Globs(strings.Map(plainInGlob, text)) // where brackets are letters of a name
	for _, known := range [...]brackets{{}, {classes: true}, {escapes: true}, {true, true}} {
		if plain {
			_, plain = Globs(strings.Map(plainInGlob, loosely(text, known)))
		}
	}
	return !plain
}

// loosely writes ? for what stands in brackets and may be a dot, and * for what
// stands in the parentheses of a choice such as +(a|b) and may be nothing or more.
func loosely(text string, known brackets) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		if n := classLen(rest, known); n > 0 {
			if class := rest[1 : n-1]; mayBeDot(class) {
				b.WriteByte('?')
			} else {
				b.WriteByte('x')
			}
			i += n - 1
		} else if n := choiceLen(rest); n > 0 {
			if strings.ContainsAny(rest[2:n-1], ".?*+@![") {
				b.WriteByte('?') // then it may be dots alone
			}
			b.WriteByte('*')
			i += n - 1
		} else {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// brackets are what a reader of patterns knows in brackets, where readers differ:
// classes such as [:alpha:], and a backslash in front of what stands for itself.
type brackets struct{ classes, escapes bool }

// classLen is how long the bracket expression is that a text begins with; 0 for
// none. A bracket that comes first in it stands for itself.
func classLen(text string, known brackets) int {
	if !strings.HasPrefix(text, "[") {
		return 0
	}
	i := 1
	if i < len(text) && (text[i] == '!' || text[i] == '^') {
		i++
	}
	for first := i; i < len(text); i++ {
		if text[i] == ']' && i > first {
			return i + 1
		}
		if known.escapes && text[i] == '\\' {
			i++
			continue
		}
		if known.classes && i+1 < len(text) && text[i] == '[' && strings.IndexByte(":.=", text[i+1]) >= 0 {
			if n := strings.Index(text[i+2:], text[i+1:i+2]+"]"); n >= 0 {
				i += n + 3
			}
		}
	}
	return 0
}

// mayBeDot reports whether what stands in brackets may fit a dot.
func mayBeDot(class string) bool {
	if strings.ContainsAny(class, `!^.[\`) {
		return true
	}
	for i := 1; i+1 < len(class); i++ {
		if class[i] == '-' && class[i-1] <= '.' && '.' <= class[i+1] {
			return true
		}
	}
	return false
}

// choiceLen is how long the choice is that a text begins with; 0 for none.
func choiceLen(text string) int {
	if len(text) < 2 || strings.IndexByte("?*+@!", text[0]) < 0 || text[1] != '(' {
		return 0
	}
	depth := 0
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// plainInGlob leaves out of a pattern what stands around letters in it, and
// takes what else is odd for a letter.
func plainInGlob(r rune) rune {
	switch {
	case strings.ContainsRune(`[]()\|^!`, r):
		return -1
	case oddInGlob(r):
		return 'x'
	}
	return r
}

// oddInGlob reports whether readers of patterns differ over a character.
func oddInGlob(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.*?/,{}@+! ", r)
}

// separate splits at blanks and commas that are in no braces.
func separate(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		}
		return depth == 0 && (r == ' ' || r == ',')
	})
}

// braces writes out the first braces of a pattern, and the others behind them.
func braces(out []string, g string) ([]string, bool) {
	open := strings.IndexByte(g, '{')
	if open < 0 {
		return append(out, g), !strings.Contains(g, "}") && len(out) < maxGlobs
	}
	depth, from := 0, open+1
	var parts []string
	for i := open; i < len(g); i++ {
		switch c := g[i]; {
		case c == '{':
			depth++
		case c == ',' && depth == 1:
			parts, from = append(parts, g[from:i]), i+1
		case c == '}':
			if depth--; depth > 0 {
				continue
			}
			for _, part := range append(parts, g[from:i]) {
				var ok bool
				if out, ok = braces(out, g[:open]+part+g[i+1:]); !ok {
					return nil, false
				}
			}
			return out, true
		}
	}
	return nil, false
}

// stays reports whether a pattern matches nothing but what is in its folder.
func stays(g string) bool {
	if strings.HasPrefix(g, "/") || strings.ContainsAny(g, "!") {
		return false
	}
	names := strings.Split(g, "/")
	for i, name := range names {
		if name == ".." || i+1 < len(names) && name != "*" && name != "**" && fitsName(name, "..") {
			return false
		}
	}
	return true
}

// GlobFolder is the path in front of the first name of a pattern that stands
// for more than one; the whole pattern if there is none.
func GlobFolder(g string) string {
	wild := strings.IndexAny(g, "*?")
	if wild < 0 {
		return g
	}
	return g[:max(strings.LastIndexByte(g[:wild], '/'), 0)]
}

// GlobName is the last name of a pattern.
func GlobName(g string) string { return g[strings.LastIndexByte(g, '/')+1:] }

// GlobFits reports whether a path beneath the folder that a pattern is used in
// fits it, without regard to case. A pattern of one name fits at any depth.
func GlobFits(g, rel string) bool {
	g, rel = strings.ToLower(strings.TrimPrefix(g, "./")), strings.ToLower(rel)
	if !strings.Contains(g, "/") {
		return fitsName(g, GlobName(rel))
	}
	return fitsNames(strings.Split(g, "/"), strings.Split(rel, "/"))
}

// fitsNames goes back to the last ** only, which is enough.
func fitsNames(pattern, names []string) bool {
	p, n, star, from := 0, 0, -1, 0
	for n < len(names) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, from = p, n
			p++
		case p < len(pattern) && fitsName(pattern[p], names[n]):
			p, n = p+1, n+1
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

func fitsName(pattern, name string) bool {
	if pattern == "**" {
		return true
	}
	if strings.ContainsAny(name, "*?") { // here they stand for themselves alone
		name = strings.NewReplacer("*", "\x00", "?", "\x00").Replace(name)
	}
	return GlobsMeet(pattern, name)
}

// GlobsMeet reports whether some name fits both patterns, in which a star is
// any text and a question mark any one byte.
func GlobsMeet(a, b string) bool {
	for len(a) > 0 && len(b) > 0 && a[0] != '*' && b[0] != '*' {
		if !bytesMeet(a[0], b[0]) {
			return false
		}
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] != '*' && b[len(b)-1] != '*' {
		if !bytesMeet(a[len(a)-1], b[len(b)-1]) {
			return false
		}
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var room [2][64]bool
	row, next := room[0][:], room[1][:] // whether a[i:] and b[j:] meet, for one i and for i+1
	if len(b) >= len(row) {
		row, next = make([]bool, len(b)+1), make([]bool, len(b)+1)
	}
	for i := len(a); i >= 0; i-- {
		row, next = next, row
		for j := len(b); j >= 0; j-- {
			starA, starB := i < len(a) && a[i] == '*', j < len(b) && b[j] == '*'
			switch {
			case i == len(a) && j == len(b):
				row[j] = true
			case starA:
				row[j] = next[j] || j < len(b) && row[j+1]
			case starB:
				row[j] = row[j+1] || i < len(a) && next[j]
			default:
				row[j] = i < len(a) && j < len(b) && bytesMeet(a[i], b[j]) && next[j+1]
			}
		}
	}
	return row[0]
}

// bytesMeet reports whether two bytes of patterns, none of them a star, may be
// one.
func bytesMeet(a, b byte) bool { return a == b || a == '?' || b == '?' }
