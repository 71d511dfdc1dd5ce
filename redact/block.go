package redact

import "strings"

// container hides what stands between the brackets at from, if they close and
// hold data. It returns where to read on, or 0 if it is no such thing.
func (v *value) container(from int) int {
	s := v.s
	to, code := v.brackets.end(s, from)
	if to == 0 {
		return 0
	}
	if code {
		return from + 1 // read what is in it
	}
	body := s[from+1 : to-1]
	if text := strings.Trim(body, " \t\r\n"); text != "" && !plainNumbers(v.name, text) && !strings.HasPrefix(text, markerHead) {
		if v.brackets.broken[from] || !v.leaves(from+1, to-1) {
			if isSession(v.name) || v.brackets.namesProgram(s, from+1, to-1) {
				return from + 1
			}
			v.f.found(s, from+1, to-1, v.name, v.h)
			v.learnParts(body)
		}
	}
	return to
}

// leaves hides the values between brackets one by one, so that what is left has the
// names and the form that it had. It reports whether it could: what stands there is
// names, values, brackets and commas. What is spared for its name is searched.
func (v *value) leaves(from, to int) bool {
	var found, spared []span
	var around []string // for each open bracket the name for which all in it is spared
	var opened []int    // and where it stands
	name, shown, program := v.name, "", v.brackets.namesProgram(v.s, from, to)
	for i := from; i < to; {
		v.brackets.looked++
		if c := v.s[i]; isSpace(c) || strings.IndexByte("[]{},", c) >= 0 {
			switch c {
			case '{', '[':
				around, opened, name = append(around, shown), append(opened, i), v.name
			case '}', ']':
				around, opened = around[:max(0, len(around)-1)], opened[:max(0, len(opened)-1)]
			case ',':
				if name, shown = v.name, ""; len(around) > 0 {
					shown = around[len(around)-1]
				}
			}
			i++
			continue
		}
		at, next := v.scalar(i, to)
		if at.to <= at.from && next <= i {
			v.brackets.breaks(opened)
			return false
		}
		v.brackets.looked += next - i
		i = next + span0(v.s[next:to], isBlank)
		if i < to && v.s[i] == ':' {
			if name = v.s[at.from:at.to]; spares(v.name, name, program) && !v.f.telling(name) {
				shown = name
			} else if v.f.telling(name) {
				shown = ""
			}
			i++
			continue
		}
		if at.key = name; shown != "" {
			at.key = shown
			spared = append(spared, at)
			continue
		}
		found = append(found, at)
	}
	for _, at := range spared {
		v.searched(at)
	}
	for _, at := range found {
		if text := v.s[at.from:at.to]; !isReference(text) && !plainFigure(at.key, text) {
			v.f.found(v.s, at.from, at.to, v.name, v.h)
		}
	}
	return true
}

// scalar reads a text in quotes, or without, up to where it ends in a list.
func (v *value) scalar(i, to int) (at span, next int) {
	if escapes, q := v.opening(i); q != 0 {
		begin := i + escapes + 1
		if end, ok := closing(v.s[:to], begin, q, escapes); ok && end+escapes+1 <= to {
			return span{from: begin, to: end}, end + escapes + 1
		}
		return span{}, i
	}
	if n := opaque(v.s[i:to]); n > 0 {
		return span{from: i, to: i}, i + n
	}
	end := i
	for end < to && strings.IndexByte(",[]{}\"'\n", v.s[end]) < 0 && !(v.s[end] == ':' && (end+1 == to || isSpace(v.s[end+1]))) {
		end++
	}
	return span{from: i, to: len(strings.TrimRight(v.s[:end], " \t\r"))}, end
}

// plainNumbers reports whether text lists numbers under a plural name.
func plainNumbers(name, text string) bool {
	return measure(name) && span0(text, func(c byte) bool { return isDigit(c) || strings.IndexByte(" ,.\t\r\n-", c) >= 0 }) == len(text)
}

// learnParts remembers the quoted texts in s one by one.
func (v *value) learnParts(s string) {
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("\"'\\,{}[] \t\r\n", r) }) {
		v.f.learn(part, v.name)
	}
}

// block hides the indented lines below a name, as YAML writes long texts,
// lists and maps. The names in a map stay visible.
func (v *value) block(from int) int {
	s := v.s
	indent, item := v.indent()
	scalar := from < len(s) && (s[from] == '|' || s[from] == '>')
	i := lineEnd(s, from)
	shown := shownLines{at: -1}
	defer func() { v.searchLines(&shown) }()
	for i < len(s) {
		begin := i + 1
		end := lineEnd(s, min(begin, len(s)))
		if begin >= len(s) {
			break
		}
		lead := span0(s[begin:end], func(c byte) bool { return c == ' ' })
		text := strings.TrimRight(s[begin+lead:end], " \t\r")
		list := !scalar && !item && lead == indent && strings.HasPrefix(text, "- ")
		if text != "" && lead <= indent && !list {
			break
		}
		switch {
		case text == "":
		case !scalar && shown.has(v, begin, lead, text):
			shown.to = end
		default:
			v.searchLines(&shown)
			v.blockLine(begin+lead, begin+lead+len(text), scalar)
		}
		i = end
	}
	return i
}

// shownLines are lines of a block that are searched, and not hidden, for the name
// that the first of them has.
type shownLines struct {
	at       int // how far the name is indented, -1 if there are none
	from, to int
}

// has reports whether a line is one of them, or the first of new ones.
func (l *shownLines) has(v *value, begin, lead int, text string) bool {
	if l.at >= 0 && (lead > l.at || lead == l.at && strings.HasPrefix(text, "- ")) {
		return true
	}
	v.searchLines(l)
	for strings.HasPrefix(text, "- ") {
		lead, text = lead+2, text[2:]
	}
	text = strings.TrimLeft(text, "\"'")
	n := span0(text, isName)
	if !strings.HasPrefix(strings.TrimLeft(text[n:], "\"'"), ":") || !spares(v.name, text[:n], false) || v.f.telling(text[:n]) {
		return false
	}
	l.at, l.from = lead, begin
	return true
}

func (v *value) searchLines(l *shownLines) {
	if l.at >= 0 {
		v.f.text(v.s[l.from:l.to], shift(v.h, l.from), v.depth+1)
	}
	l.at = -1
}

// indent returns how far the name's line is indented, and whether the name
// stands in an item of a list.
func (v *value) indent() (n int, item bool) {
	begin := strings.LastIndexByte(v.s[max(0, v.start-256):v.start], '\n') + 1 + max(0, v.start-256)
	if v.start-begin > 255 {
		begin = 0
	}
	line := v.s[begin:v.start]
	n = span0(line, func(c byte) bool { return c == ' ' })
	return n, strings.HasPrefix(line[n:], "- ")
}

// blockLine hides one line of a block: all of it in a text, the value of a
// pair in a map.
func (v *value) blockLine(from, to int, scalar bool) {
	s := v.s
	if !scalar {
		for strings.HasPrefix(s[from:to], "- ") {
			from += 2
		}
		if n := span0(s[from:to], func(c byte) bool { return isName(c) || isQuote(c) }); n > 0 && from+n < to && s[from+n] == ':' {
			from += n + 1
		}
		from += span0(s[from:to], isBlank)
		if to-from >= 2 && isQuote(s[from]) && s[to-1] == s[from] {
			from, to = from+1, to-1
		}
	}
	if from < to && (s[from] == '{' || s[from] == '[') && markerEnd(s[from:to]) == 0 && v.leaves(from, to) {
		return
	}
	if from < to && !isReference(s[from:to]) && s[from:to] != "|" {
		v.f.found(s, from, to, v.name, v.h)
	}
}
