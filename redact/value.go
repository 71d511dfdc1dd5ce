package redact

import "strings"

// value reads what stands after a telling name and hides it. Where it ends is
// told by its quotes, else by the form in which it was given.
type value struct {
	*reader
	name    string
	start   int // where the name begins
	nameEnd int
	delim   delim
}

// read hides the value at or after at and returns where to read on.
func (v *value) read(at int) int {
	s, from := v.s, at
	switch v.delim {
	case loose, colon:
		from += span0(s[from:], isBlank)
	case markup:
		return v.element(from)
	}
	if from >= len(s) || isSpace(s[from]) {
		if v.delim == colon && v.leads() {
			return v.block(from)
		}
		return from
	}
	if n := markerEnd(s[from:]); n > 0 {
		return from + n
	}
	if v.delim == colon && s[from] == '!' { // a tag of YAML
		if n := span0(s[from:], func(c byte) bool { return !isSpace(c) }); from+n+1 < len(s) && isBlank(s[from+n]) && s[from+n+1] != '\n' {
			from += n + 1
		}
	}
	if n := stringPrefix(s[from:]); n > 0 {
		from += n
	}
	if v.opensQuote(from) {
		if v.label(from) {
			return from + 1
		}
		return v.quoted(from)
	}
	if at, ok := v.converted(from); ok {
		return v.quoted(at)
	}
	if s[from] == '[' || s[from] == '{' && !strings.HasPrefix(s[from:], "{{") {
		if to := v.container(from); to > 0 {
			return to
		}
	}
	if v.delim == colon && (s[from] == '|' || s[from] == '>') && v.leads() {
		return v.block(from)
	}
	return v.bare(from)
}

// stringPrefix returns the length of the letters that may stand before a
// quote: f"…", $'…', @"…", N'…'.
func stringPrefix(s string) int {
	n := span0(s[:min(len(s), 3)], func(c byte) bool { return strings.IndexByte("frbuFRBU@$LNE", c) >= 0 })
	if n > 0 && n < 3 && n < len(s) && (s[n] == '"' || s[n] == '\'') {
		return n
	}
	return 0
}

// maxEscapes bounds the backslashes before a quote in texts quoted in texts.
const maxEscapes = 31

// opening returns the number of backslashes before the quote at i, and the
// quote; zero if there is none.
func (v *value) opening(i int) (escapes int, q byte) {
	n := span0(v.s[i:min(len(v.s), i+maxEscapes)], func(c byte) bool { return c == '\\' })
	if i+n < len(v.s) && isQuote(v.s[i+n]) {
		return n, v.s[i+n]
	}
	return 0, 0
}

func (v *value) opensQuote(i int) bool {
	_, q := v.opening(i)
	return q != 0
}

// closes reports whether the quote at i is closed on its line.
func (v *value) closes(i int) bool {
	n, q := v.opening(i)
	if q == 0 {
		return false
	}
	_, ok := v.closing(i+n+1, q, n)
	return ok
}

// closing finds the quote that ends a value opened with the given number of
// backslashes. A quote with more of them is part of the value. A value that
// runs over lines must be without blanks, as keys are.
func (v *value) closing(from int, q byte, escapes int) (int, bool) {
	return closing(v.s, from, q, escapes)
}

func closing(s string, from int, q byte, escapes int) (int, bool) {
	for i := from; ; i++ {
		n := strings.IndexByte(s[i:], q)
		if n < 0 {
			return 0, false
		}
		i += n
		b := i
		for b > from && s[b-1] == '\\' {
			b--
		}
		if run := i - b; escapes == 0 && run%2 == 1 || escapes > 0 && run > escapes {
			continue
		}
		to := b
		if escapes == 0 {
			to = i
		}
		return to, oneValue(s[from:to])
	}
}

// oneValue reports whether a quoted text may be one value: on one line, or on
// several without blanks in them.
func oneValue(s string) bool {
	nl := strings.IndexByte(s, '\n')
	if nl < 0 {
		return true
	}
	for _, line := range strings.Split(s[nl+1:], "\n") {
		if strings.ContainsAny(strings.Trim(line, " \t\r"), " \t;|&") {
			return false
		}
	}
	return true
}

// quoted hides the value between the quotes at from.
func (v *value) quoted(from int) int {
	s := v.s
	escapes, q := v.opening(from)
	at := from + escapes + 1
	if end := v.tripled(at, q); end > 0 {
		return end
	}
	to, ok := v.closing(at, q, escapes)
	if !ok {
		to = v.lineStop(at)
	}
	text := s[at:to]
	switch {
	case q == '`' && (strings.ContainsAny(text, " \t$/") || v.substituted(text)):
		v.f.inside(s, from, min(len(s), to+1), v.h, v.depth)
		return to
	case text == "", isReference(text) && !strings.HasPrefix(text, "$(") && q != '\'', plainFigure(v.name, text), isPlace(v.name, text):
		return to
	case q == '\'':
		v.credential(at, to, false)
	default:
		v.credential(at, to, true)
	}
	end := to + escapes + 1
	if next, ok := v.joined(end); ok {
		return v.quoted(next)
	}
	return end
}

// substituted reports whether a word in backquotes in a command may be a command of
// its own, as where mutt is told to set a password: `name=`program“.
func (v *value) substituted(text string) bool {
	return v.f.line != nil && v.delim == tight && !looksRandom(text) && !likeSecret(text)
}

// label reports whether the quote at i closes the text that the name stands in
// and opens none: "password: " + name, input("Password: ").
func (v *value) label(i int) bool {
	s := v.s
	if v.delim != colon || !isBlank(s[i-1]) || i+1 < len(s) && strings.IndexByte(" )],;+}\n", s[i+1]) < 0 {
		return false
	}
	begin := strings.LastIndexByte(s[:v.start], '\n') + 1
	quotes := 0
	for k := max(begin, v.start-maxCode); k < v.start; k++ {
		inWord := k > begin && isAlpha(s[k-1]) && isAlpha(s[k+1]) // don't
		if s[k] == s[i] && !inWord && (k == begin || s[k-1] != '\\') {
			quotes++
		}
	}
	return quotes%2 == 1
}

// tripled hides a value between three quotes on either side.
func (v *value) tripled(at int, q byte) int {
	three := strings.Repeat(string(q), 3)
	if at < 1 || !strings.HasPrefix(v.s[at-1:], three) {
		return 0
	}
	n := strings.Index(v.s[at+2:], three)
	if n < 0 {
		return 0
	}
	v.credential(at+2, at+2+n, false)
	return at + 2 + n + 3
}

// credential hides s[from:to] less an authorization scheme before it.
func (v *value) credential(from, to int, expands bool) {
	if n := schemeLen(v.s[from:to]); n > 0 {
		from += n
		if isReference(v.s[from:to]) && substitution(v.s[from:to]) == 0 {
			v.f.takes(v.s, from, to, v.h)
			return
		}
	}
	if expands {
		v.f.foundText(v.s, from, to, v.name, v.h, v.depth)
		return
	}
	v.f.found(v.s, from, to, v.name, v.h)
}

// element hides the text of an XML element.
func (v *value) element(from int) int {
	n := strings.IndexByte(v.s[from:], '<')
	if n <= 0 {
		return from
	}
	text := strings.TrimSpace(v.s[from : from+n])
	if strings.Contains(text, "\n") && strings.Contains(text, " ") || isReference(text) {
		return from
	}
	v.f.foundText(v.s, from, from+n, v.name, v.h, v.depth)
	return from + n
}

// leads reports whether the name is the first thing on its line but for signs
// of a list, a difference or a declaration.
func (v *value) leads() bool {
	lo := max(0, v.start-24)
	before := v.s[lo:v.start]
	if n := strings.LastIndexByte(before, '\n'); n >= 0 {
		before = before[n+1:]
	} else if lo > 0 {
		return false
	}
	before = strings.Trim(before, " \t-+>\"'\\")
	switch before {
	case "", "export", "set", "setenv", "ENV", "ARG", "env", "local", "$env:", "$", "<", "*", "•":
		return true
	}
	return false
}

// enclosed returns where the quotes end in which name and value stand
// together, as in "Authorization: …".
func (v *value) enclosed() (int, bool) {
	s := v.s
	i := v.start - 1
	if i < 0 || !isQuote(s[i]) || v.nameEnd < len(s) && s[v.nameEnd] == s[i] {
		return 0, false
	}
	escapes := 0
	for i-escapes > 0 && s[i-escapes-1] == '\\' && escapes < maxEscapes {
		escapes++
	}
	return v.closing(v.nameEnd, s[i], escapes)
}

// bare hides a value without quotes of its own.
func (v *value) bare(from int) int {
	if v.delim != query {
		line := v.s[from:min(len(v.s), from+maxCode)]
		if n := codeLen(line[:lineEnd(line, 0)], v.name); n > 0 {
			return from + n
		}
	}
	to := v.bareEnd(from)
	for to > from && isSpace(v.s[to-1]) {
		to--
	}
	text := v.s[from:to]
	switch {
	case strings.Trim(text, "*") == "", schemeLen(text+" ") > len(text):
		return from
	case isReference(text):
		v.f.takes(v.s, from, to, v.h)
		if substitution(text) == len(text) {
			v.f.inside(v.s, from, to, v.h, v.depth)
		}
	case plainFigure(v.name, text), isPlace(v.name, text), v.prose(from, to):
	default:
		v.credential(from, to, true)
	}
	return to
}

// bareEnd finds the end of a bare value by the form in which it was given.
func (v *value) bareEnd(from int) int {
	switch v.delim {
	case query:
		return v.queryEnd(from)
	case tight:
		return v.wordEnd(from)
	}
	if to, ok := v.enclosed(); ok && to >= from {
		return v.commandStop(from, to)
	}
	if v.leads() {
		return v.lineStop(from)
	}
	if n := schemeLen(v.s[from:min(len(v.s), from+40)]); n > 0 {
		return v.wordEnd(from + n)
	}
	if strings.Contains(strings.ToLower(v.name), "cookie") {
		return v.lineStop(from)
	}
	return v.wordEnd(from)
}

// queryEnd finds where the value of a query parameter ends.
func (v *value) queryEnd(from int) int {
	s := v.s
	for i := from; i < len(s); i++ {
		if n := opaque(s[i:]); n > 0 {
			i += n - 1
			continue
		}
		if c := s[i]; isSpace(c) || strings.IndexByte("&#\"'`<>|\\)]}", c) >= 0 || c == ';' && after(s, i) {
			return i
		}
	}
	return len(s)
}

// wordEnd finds where a value ends that is one word.
func (r *reader) wordEnd(from int) int {
	s := r.s
	for i := from; i < len(s); i++ {
		if n := opaque(s[i:]); n > 0 {
			i += n - 1
			continue
		}
		switch c := s[i]; {
		case isSpace(c), isQuote(c):
			return i
		case c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\'' || s[i+1] == 'n' || s[i+1] == '\n'):
			return i
		case strings.IndexByte("&;,|)]}<>", c) >= 0 && after(s, i):
			return i
		}
	}
	return len(s)
}

// after reports whether the sign at i ends a word: the text goes on behind it
// with a blank, another sign, or the next pair of name and value.
func after(s string, i int) bool {
	rest := s[i+1:]
	if rest == "" {
		return true
	}
	if isSpace(rest[0]) || isQuote(rest[0]) || strings.IndexByte("&;,|)]}<>.\\", rest[0]) >= 0 {
		return true
	}
	if s[i] == '<' {
		return isAlpha(rest[0]) || rest[0] == '/'
	}
	n := span0(rest[:min(len(rest), 64)], isName)
	return n > 0 && n < len(rest) && (rest[n] == '=' || rest[n] == ':' && s[i] == ',') || s[i] != ',' && commandFollows(rest)
}

// lineStop finds where a value ends that takes the rest of its line.
func (v *value) lineStop(from int) int {
	return v.commandStop(from, lineEnd(v.s, from))
}

// commandStop shortens a value so that it swallows neither a comment nor a
// command.
func (v *value) commandStop(from, to int) int {
	s := v.s
	for i := from; i < to; i++ {
		switch c := s[i]; {
		case c == '#' && i > from && isBlank(s[i-1]):
			return i
		case c == ';' || c == '|' || c == '&':
			if commandFollows(s[i+1 : to]) {
				return i
			}
		case c == '\\' && strings.HasPrefix(s[i:], `\n`) && i > from:
			return i
		}
	}
	return to
}

// prose reports whether a word after a weak name in the middle of a sentence
// is just the next word: "fix token: refresh logic".
func (v *value) prose(from, to int) bool {
	s := v.s
	if v.delim != colon || v.leads() || !v.f.names.weak(v.name) || to-from > 16 {
		return false
	}
	return span0(s[from:to], isLower) == to-from && to+1 < len(s) && s[to] == ' ' && isAlpha(s[to+1])
}
