package redact

import "strings"

// maxContainer bounds what is read between two brackets.
const maxContainer = 64 << 10

// brackets is what is known of the brackets of one text. What stands in brackets
// may be read again from each bracket in it, so what was found for the outer one
// is kept for those within: brackets in brackets are looked at once, and not once
// for each that is around them.
type brackets struct {
	ends   map[int]bracket
	broken map[int]bool // those whose values could not be told apart
	kept   int          // nothing is kept of what stands behind it
	open   int          // up to where an opening bracket is known to find no end

	// In signs.from to signs.to stands no name that says what runs. If found is set,
	// such a name ends at signs.to.
	signs struct {
		from, to int
		found    bool
	}
	looked int // how many bytes were looked at, which tests hold against the length of the text
}

// bracket is one that closes.
type bracket struct {
	end  int // behind what closes it
	code bool
}

// end returns where the brackets at from end, or 0, and whether they hold code
// rather than data: calls or statements.
func (b *brackets) end(s string, from int) (int, bool) {
	if known, ok := b.ends[from]; ok {
		return known.end, known.code
	}
	if from < b.open {
		return 0, false
	}
	b.forget(from)
	limit := min(len(s), from+maxContainer)
	code := 0 // behind the last sign of it
	var q byte
	var opened []int
	for i := from; i < limit; i++ {
		b.looked++
		c := s[i]
		switch {
		case q != 0:
			if c == q && s[i-1] != '\\' {
				q = 0
			}
		case c == '"' || c == '\'':
			if s[i-1] != '\\' {
				q = c
			}
		case c == '[' || c == '{':
			opened = append(opened, i)
		case c == ']' || c == '}':
			last := len(opened) - 1
			at := bracket{end: i + 1, code: code > opened[last]}
			b.ends[opened[last]], opened = at, opened[:last]
			if last == 0 {
				b.kept = max(b.kept, i+1)
				return at.end, at.code
			}
		case c == '(' || c == ';':
			code = i + 1
		}
	}
	b.open, b.kept = limit, max(b.kept, limit)
	return 0, false
}

// forget drops what is known of brackets that end before from.
func (b *brackets) forget(from int) {
	if b.ends == nil || from >= b.kept {
		b.ends, b.broken = map[int]bracket{}, map[int]bool{}
	}
}

// breaks notes that the values between these open brackets cannot be told apart.
func (b *brackets) breaks(opened []int) {
	for _, at := range opened {
		if b.broken != nil { // else these are on a line of their own, which is read once
			b.broken[at] = true
		}
	}
}

// namesProgram reports whether of the names in s[from:to], which stands between
// brackets, one says what runs.
func (b *brackets) namesProgram(s string, from, to int) bool {
	k := &b.signs
	if from < k.from || from > k.to || k.from == k.to {
		k.from, k.to, k.found = from, from, false
	}
	for !k.found && k.to < to {
		b.looked++
		k.found = endsProgramName(s, k.to)
		if !k.found {
			k.to++
		}
	}
	return k.found && k.to < to
}

// endsProgramName reports whether at i ends a name that says what runs.
func endsProgramName(s string, i int) bool {
	if s[i] != ':' && s[i] != '=' {
		return false
	}
	name := strings.TrimRight(s[:i], " \t\"'\\")
	from := len(name)
	for from > 0 && isName(name[from-1]) {
		from--
	}
	return runsName(name[from:])
}
