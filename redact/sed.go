package redact

import (
	"regexp"
	"strings"
)

// adds finds the texts that the commands a, i and c of sed put into a file. Each
// takes the rest of its line.
var adds = regexp.MustCompile(`(?m)(?:^|[/0-9$!;{} \t])[aic](?:\\\n?|[ \t])[ \t]*(.+)$`)

// script searches a word of sed: the commands s/pattern/replacement/ and the texts
// that it adds. A pattern shows what is looked for and stays; what takes the place
// of a telling name is a secret like what stands behind one.
func (c *command) script(w *word) {
	for i := 0; i+3 < len(w.text); {
		pattern, replacement, end, ok := substitute(w.text, i)
		if !ok {
			i++
			continue
		}
		c.replacement(w, w.text[pattern.from:pattern.to], replacement)
		c.behindName(w, addressBefore(w.text[:i]), w.text[pattern.from:pattern.to], replacement)
		i = end
	}
	for _, at := range adds.FindAllStringSubmatchIndex(w.text, -1) {
		c.f.text(w.text[at[2]:at[3]], w.from(at[2]), c.depth+1)
	}
}

// substitute finds the parts of the command s at s[i:], which begins a command
// there, and where it ends.
func substitute(s string, i int) (pattern, replacement span, end int, ok bool) {
	if s[i] != 's' || i > 0 && strings.IndexByte("; \t\n{}/,!0123456789$", s[i-1]) < 0 {
		return pattern, replacement, 0, false
	}
	sign := s[i+1]
	if isName(sign) || isSpace(sign) || strings.IndexByte("\\;{}", sign) >= 0 {
		return pattern, replacement, 0, false
	}
	pattern.from = i + 2
	if pattern.to = signAt(s, pattern.from, sign); pattern.to < 0 {
		return pattern, replacement, 0, false
	}
	replacement.from = pattern.to + 1
	if replacement.to = signAt(s, replacement.from, sign); replacement.to < 0 {
		return pattern, replacement, 0, false
	}
	return pattern, replacement, replacement.to + 1, true
}

// signAt returns where a sign stands next without a backslash in front, or -1.
func signAt(s string, i int, sign byte) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case sign:
			return i
		}
	}
	return -1
}

// replacement hides what takes the place of a telling name, or searches it for
// names with values of its own.
func (c *command) replacement(w *word, pattern string, at span) {
	text := w.text[at.from:at.to]
	c.f.text(text, w.from(at.from), c.depth+1)
	for len(text) > 1 && text[0] == '\\' && isDigit(text[1]) { // what was found and kept
		at.from, text = at.from+2, text[2:]
	}
	name := namedLast(pattern)
	if name == "" || !c.f.telling(name) || len(text) < 4 || isDigits(text) || isReference(text) || c.f.telling(text) && !noWord(text) || strings.ContainsAny(text, " =:(") {
		return
	}
	if name == strings.ToUpper(name) || strings.ContainsAny(pattern, "{<@%") || len(text) >= 6 && noWord(text) {
		w.secret(c.f, at.from, at.to, strings.Trim(name, "_"))
	}
}

// addressBefore is the pattern of the lines that a command is for, which ends where
// the command begins: /pattern/s, /pattern/ s.
func addressBefore(s string) string {
	s = strings.TrimRight(s, " \tI")
	if !strings.HasSuffix(s, "/") {
		return ""
	}
	s = s[max(0, len(s)-1-maxCode) : len(s)-1]
	return s[strings.LastIndexByte(s, '/')+1:]
}

// behindName hides what takes the place of what stands behind a telling name, where
// that is in the pattern of the line: /password/s/=.*/=x/.
func (c *command) behindName(w *word, address, pattern string, at span) {
	name := namedLast(address)
	if name == "" || !c.f.telling(name) || !strings.ContainsAny(pattern[:min(1, len(pattern))], "=: ") || !strings.ContainsAny(pattern, "*+[") {
		return
	}
	text := w.text[at.from:at.to]
	from := span0(text, func(b byte) bool { return strings.IndexByte("=: \t\"'", b) >= 0 })
	v := strings.TrimRight(text[from:], `"', `)
	if v == "" || strings.ContainsAny(v, " \\&") || isReference(v) {
		return
	}
	w.secret(c.f, at.from+from, at.from+from+len(v), strings.Trim(name, "_"))
}

// namedLast is the last name in a pattern.
func namedLast(pattern string) (name string) {
	for part := range strings.FieldsFuncSeq(pattern, func(r rune) bool { return r > 0x7f || !isName(byte(r)) || r == '.' || r == '*' }) {
		if len(part) > 1 {
			name = part
		}
	}
	return name
}
