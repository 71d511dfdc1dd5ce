package redact

import "strings"

// maxType bounds how far the type between a name and its value is read.
const maxType = 96

// given finds the value that source code gives to a telling name in another way
// than name = value: in a declaration that has the type between the two, as an
// argument behind the name, or as the argument of what is called by the name.
func (r *reader) given(i, j int, name string) (at int, ok bool) {
	if j >= len(r.s) || !r.f.telling(name) {
		return 0, false
	}
	switch c := r.s[j]; {
	case isQuote(c):
		return r.secondArgument(i, j)
	case c == '(' || c == '{':
		return j + 1, r.opensQuote(j+1) && r.soleSecret(j+1)
	case r.last[1] == "define" && isBlank(c):
		at = j + span0(r.s[j:], isBlank)
		return at, r.opensQuote(at)
	}
	return r.declared(j)
}

func (r *reader) opensQuote(i int) bool {
	return i < len(r.s) && isQuote(r.s[i]) && (&value{reader: r}).closes(i)
}

// declared reads name TYPE = "…" and name: TYPE = "…".
func (r *reader) declared(j int) (at int, ok bool) {
	line := r.s[j:lineEnd(r.s, j)]
	eq := strings.IndexByte(line[:min(len(line), maxType)], '=')
	if eq <= 0 {
		return 0, false
	}
	kind := strings.TrimLeft(line[:eq], "?!")
	bare, typed := strings.CutPrefix(strings.TrimLeft(kind, " \t"), ":")
	bare = strings.TrimSpace(bare)
	if !typed && (kind == strings.TrimLeft(kind, " \t") || strings.ContainsAny(bare, " \t")) || !isType(bare) {
		return 0, false
	}
	at = j + eq + 1
	at += span0(r.s[at:], isBlank)
	if at < len(r.s) {
		at += stringPrefix(r.s[at:])
	}
	return at, r.opensQuote(at)
}

// isType reports whether a text is the name of a type, with what languages put
// around one.
func isType(s string) bool {
	if span0(s, func(c byte) bool { return isVarName(c) || strings.IndexByte(" .:<>[]|&*'?,", c) >= 0 }) != len(s) {
		return false
	}
	word := strings.TrimLeft(s, "&*[]")
	if lifetime, rest, ok := strings.Cut(word, " "); ok && strings.HasPrefix(lifetime, "'") {
		word = rest
	}
	word = word[:span0(word, isVarName)]
	if word == "" || strings.ContainsAny(word, "0123456789") {
		return false
	}
	capital := word[0] >= 'A' && word[0] <= 'Z' && word != strings.ToUpper(word)
	return capital || typeNames[strings.ToLower(word)]
}

// secondArgument reads f("name", "…").
func (r *reader) secondArgument(i, j int) (at int, ok bool) {
	s := r.s
	if i < 2 || s[i-1] != s[j] || s[i-2] != '(' {
		return 0, false
	}
	at = j + 1 + span0(s[j+1:], isBlank)
	if at >= len(s) || s[at] != ',' {
		return 0, false
	}
	at += 1 + span0(s[at+1:], isBlank)
	if !r.opensQuote(at) {
		return 0, false
	}
	text := s[at+1:]
	n := span0(text, func(c byte) bool { return isAlpha(c) || c == '_' })
	return at, n > 16 || n >= len(text) || text[n] != s[at] // a word is another name
}

// soleSecret reports whether what is quoted at i looks like a secret, and not
// like the name of one: it has digits and no blanks.
func (r *reader) soleSecret(i int) bool {
	n := strings.IndexByte(r.s[i+1:], r.s[i])
	text := r.s[i+1 : i+1+n]
	return n >= 8 && strings.ContainsAny(text, "0123456789") && !strings.ContainsAny(text, " \t\n")
}
