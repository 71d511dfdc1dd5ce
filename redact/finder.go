package redact

import (
	"slices"
	"strings"
)

// maxDepth is how many texts in texts are read. What is nested deeper is
// still searched for shapes and for values found elsewhere.
const maxDepth = 8

// finder looks for secrets in the texts of one call.
type finder struct {
	names names
	learn func(value, key string)
	reads func(value, key string) // learn, for what the content of a file says; nil if that is the same
	ours  bool                    // our own text: session is a word of ours there, not a secret

	// known, if not nil, makes the finder look for the secrets in the table and
	// for nothing else: a second reading of a command line, after all that is
	// secret in the call is known.
	known *table

	held  []held          // what is hidden unless a command uses it otherwise
	lines []*line         // the commands of the call
	again []func(*finder) // the searches to be done once more with known

	line  *line      // the command line that is read, nil if none is
	loose bool       // in a word of a program that is not known to take a secret there
	vars  *variables // of that line
}

// telling is names.telling, less the words that are ours.
func (f *finder) telling(name string) bool {
	return f.names.telling(name) && !(f.ours && f.ownName(name))
}

// ownName reports whether a name is a telling one only by the word session.
func (f *finder) ownName(name string) bool {
	rest := slices.DeleteFunc(words(name), func(w string) bool { return w == "session" || w == "sessionid" })
	return !f.names.anyTelling(rest)
}

// found hides and remembers s[from:to], less markers of what is hidden already.
func (f *finder) found(s string, from, to int, key string, h hide) {
	for from < to {
		end, next := to, to
		if n := strings.Index(s[from:to], markerHead); n >= 0 {
			end, next = from+n, from+n+max(1, markerEnd(s[from+n:]))
			if markerEnd(s[from+n:]) == 0 {
				end = next
			}
		}
		f.hidden(s, from, end, key, h)
		from = next
	}
}

func (f *finder) hidden(s string, from, to int, key string, h hide) {
	if from >= to || strings.TrimSpace(s[from:to]) == "" {
		return
	}
	v := s[from:to]
	f.learn(v, key)
	if strings.IndexByte(v, '\\') >= 0 { // it may be known elsewhere without its escapes
		f.learn(unescape(v), key)
	}
	h(from, to, to-from, key)
}

// unescape takes one level of backslashes off v.
func unescape(v string) string {
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' && i+1 < len(v) {
			i++
			b.WriteByte(ansiByte(v[i]))
			continue
		}
		b.WriteByte(v[i])
	}
	return b.String()
}

// foundText is found for a value in which command substitutions may stand.
// They are no part of what is hidden: they will run, so they are shown, and
// searched themselves.
func (f *finder) foundText(s string, from, to int, key string, h hide, depth int) {
	at := from
	for i := from; i < to; {
		n := substitution(s[i:to])
		if n == 0 {
			i += max(1, markerEnd(s[i:to]))
			continue
		}
		f.found(s, at, i, key, h)
		f.inside(s, i, i+n, h, depth)
		i += n
		at = i
	}
	f.found(s, at, to, key, h)
}

// inside searches the commands of a substitution at s[from:to].
func (f *finder) inside(s string, from, to int, h hide, depth int) {
	body := strings.TrimPrefix(s[from:to], "$(")
	body = strings.TrimPrefix(body, "`")
	off := to - len(body)
	f.shell(strings.TrimRight(body, ")`"), shift(h, off), depth+1)
}

// shift returns a hide for a text that begins at off in the text of h.
func shift(h hide, off int) hide {
	return func(from, to, size int, key string) { h(from+off, to+off, size, key) }
}

// substitution returns the length of the command substitution at the start of
// s, or 0. One that is not closed is as long as s.
func substitution(s string) int {
	switch {
	case s == "":
		return 0
	case s[0] == '`':
		if n := strings.IndexByte(s[1:], '`'); n > 0 {
			return n + 2
		}
		return 0
	case !strings.HasPrefix(s, "$(") && !strings.HasPrefix(s, "<(") && !strings.HasPrefix(s, ">("):
		return 0
	}
	depth := 0
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// opaque returns the length of what at the start of s belongs together whatever
// stands in it, or 0: a substitution, a reference, a marker. A backquote ends a
// word more often than it begins a substitution.
func opaque(s string) int {
	if s[0] == '[' {
		return markerEnd(s)
	}
	if s[0] == '`' {
		return 0
	}
	return max(substitution(s), reference(s))
}

// reference returns the length of a thing at the start of s that stands for a
// value kept elsewhere, or 0: $NAME, ${NAME}, ${{ … }}, {{ … }}, %NAME%.
func reference(s string) int {
	switch {
	case s == "":
		return 0
	case strings.HasPrefix(s, "${{"), strings.HasPrefix(s, "{{"):
		return closedBy(s, "}}")
	case strings.HasPrefix(s, "${"):
		n := 2 + span0(s[2:], func(c byte) bool { return isName(c) || c == ':' })
		if n > 2 && n < len(s) && s[n] == '}' && !strings.Contains(s[2:n], ":-") {
			return n + 1
		}
	case s[0] == '$' && len(s) > 1 && (isAlpha(s[1]) || s[1] == '_'):
		return 1 + span0(s[1:], func(c byte) bool { return isVarName(c) || c == ':' })
	case s[0] == '%':
		n := 1 + span0(s[1:], isVarName)
		if n > 1 && n < len(s) && s[n] == '%' && isAlpha(s[1]) {
			return n + 1
		}
	}
	return 0
}

func closedBy(s, end string) int {
	limit := min(len(s), 300)
	if n := strings.Index(s[:limit], end); n >= 0 && !strings.Contains(s[:n], "\n") {
		return n + len(end)
	}
	return 0
}

// isReference reports whether all of v stands for a value kept elsewhere, or
// for a value to be filled in.
func isReference(v string) bool {
	if v == "" || reference(v) == len(v) || substitution(v) == len(v) || len(v) == 2 && v[0] == '%' && isAlpha(v[1]) {
		return true
	}
	if v[0] == '<' && v[len(v)-1] == '>' && len(v) < 60 {
		return span0(v[1:len(v)-1], func(c byte) bool { return isAlpha(c) || c == ' ' || c == '_' || c == '-' }) == len(v)-2
	}
	return false
}

// plainFigure reports whether v under this name is a number or a switch that
// tells nothing: max_tokens 4096, use_cookies true.
func plainFigure(name, v string) bool {
	switch v {
	case "true", "false", "yes", "no", "on", "off":
		return isSwitch(name)
	}
	return len(v) <= 12 && span0(v, func(c byte) bool { return isDigit(c) || c == '.' || c == '_' }) == len(v) && measure(name)
}

// placeWords end names that say where a secret is kept, not what it is.
var placeWords = set(`file path dir directory folder jar stdin prompt`)

// isPlace reports whether a name says where a secret is kept and v is such a
// place: --password-file /run/secrets/db.
func isPlace(name, v string) bool {
	if isFile(v) {
		return true
	}
	ws := words(name)
	if len(ws) == 0 || !placeWords[ws[len(ws)-1]] || looksRandom(v) {
		return false
	}
	return strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") ||
		strings.HasPrefix(v, "~") || fileName(v) || strings.Contains(v, "/") && span0(v, func(c byte) bool { return isLower(c) || strings.IndexByte("/-_", c) >= 0 }) == len(v)
}

// isFile reports whether a value says which file holds the secret, whatever its name:
// file:///run/token, @/run/token.
func isFile(v string) bool {
	if strings.HasPrefix(v, "file://") || strings.HasPrefix(v, "fileb://") {
		return true
	}
	path, ok := strings.CutPrefix(v, "@")
	return ok && (path == "-" || strings.HasPrefix(path, "/") || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../"))
}

// fileName reports whether v is a name with an ordinary ending.
func fileName(v string) bool {
	dot := strings.LastIndexByte(v, '.')
	return dot >= 0 && len(v)-dot <= 6 && span0(v, func(c byte) bool { return isName(c) || c == '/' }) == len(v)
}
