package shell

import "strconv"

// maxBraces is how many words one word with braces may stand for; more are not
// written out.
const maxBraces = 64

// braces expands the lists and sequences in braces of a word, the way bash does
// before anything else. It returns the word itself if there are none, and if
// there are too many or a sequence is not understood.
func braces(cells []cell) ([][]cell, Dynamic) {
	if !mayBrace(cells) {
		return [][]cell{cells}, 0
	}
	e := expander{left: maxBraces * 64}
	list := e.expand(cells, 0)
	switch {
	case e.left < 0 || len(list) > maxBraces || e.unclear:
		whole := append([]cell{{hole: Many, at: cells[0].at}}, cells...)
		return [][]cell{whole}, Brace | Many
	case !e.found:
		return [][]cell{cells}, 0
	}
	return withoutEmpty(list), Brace
}

// withoutEmpty drops words that came from nothing: {,x} is one word, unless
// quotes made the other.
func withoutEmpty(list [][]cell) [][]cell {
	kept := list[:0]
	for _, cells := range list {
		if len(cells) > 0 {
			kept = append(kept, cells)
		}
	}
	return kept
}

// active reports an unquoted byte.
func (c cell) active(b byte) bool { return c.b == b && !c.quoted && c.hole == 0 }

func mayBrace(cells []cell) bool {
	for i, c := range cells {
		if c.active('{') {
			return contains(cells[i+1:], '}')
		}
	}
	return false
}

func contains(cells []cell, b byte) bool {
	for _, c := range cells {
		if c.active(b) {
			return true
		}
	}
	return false
}

// expander counts what it does, so that nested lists end.
type expander struct {
	left    int
	found   bool
	unclear bool
}

// expand returns the words that cells stand for.
func (e *expander) expand(cells []cell, depth int) [][]cell {
	e.left -= 1 + len(cells)/16
	open, closing := e.findList(cells)
	if open < 0 || e.left < 0 || depth > 32 {
		e.unclear = e.unclear || depth > 32
		return [][]cell{cells}
	}
	inner := cells[open+1 : closing]
	var middle [][]cell
	if contains(inner, ',') {
		middle = e.list(inner, depth)
	} else if middle = e.sequence(inner); middle == nil {
		middle = [][]cell{cells[open : closing+1]}
	}
	return e.bounded(join(cells[:open], middle, e.expand(cells[closing+1:], depth+1)))
}

// bounded counts the words of a product.
func (e *expander) bounded(list [][]cell) [][]cell {
	if e.left -= len(list); len(list) > maxBraces {
		e.left = -1
		return list[:1]
	}
	return list
}

// findList finds the first brace that opens a list or sequence, and the one
// that closes it; -1 if there is none. The first of {} opens nothing at the
// start of a word.
func (e *expander) findList(cells []cell) (open, closing int) {
	for i, c := range cells {
		if !c.active('{') || i == 0 && len(cells) > 1 && cells[1].active('}') {
			continue
		}
		if closing := closingBrace(cells, i); closing > 0 {
			return i, closing
		}
		if e.left -= 1 + (len(cells)-i)/64; e.left < 0 {
			break
		}
	}
	return -1, -1
}

// closingBrace finds the brace that closes a list or sequence: at the same
// depth, behind at least one comma or pair of dots.
func closingBrace(cells []cell, open int) int {
	depth, parts := 0, 0
	for i := open + 1; i < len(cells); i++ {
		switch c := cells[i]; {
		case c.active('}') && depth == 0 && parts > 0:
			return i
		case c.active('{'):
			depth++
		case c.active('}') && depth > 0:
			depth--
		case c.active(',') && depth == 0:
			parts++
		case c.active('.') && depth == 0 && i+1 < len(cells) && cells[i+1].active('.'):
			parts++
		}
	}
	return -1
}

// list expands what stands between braces with commas.
func (e *expander) list(cells []cell, depth int) (out [][]cell) {
	e.found = true
	from, level := 0, 0
	for i := 0; i <= len(cells); i++ {
		switch {
		case i == len(cells) || cells[i].active(',') && level == 0:
			out = append(out, e.expand(cells[from:i], depth+1)...)
			from = i + 1
		case cells[i].active('{'):
			level++
		case cells[i].active('}') && level > 0:
			level--
		}
		if len(out) > maxBraces {
			e.left = -1
			return out[:1]
		}
	}
	return out
}

// sequence expands {1..9} and {a..e..2}; nil if it is none.
func (e *expander) sequence(cells []cell) [][]cell {
	parts, ok := dotted(cells)
	if !ok || len(parts) < 2 || len(parts) > 3 {
		return nil
	}
	step := 1
	if len(parts) == 3 {
		n, err := strconv.Atoi(parts[2])
		if err != nil {
			return nil
		}
		step = n
	}
	from, err1 := strconv.Atoi(parts[0])
	to, err2 := strconv.Atoi(parts[1])
	letters := err1 != nil && err2 != nil && len(parts[0]) == 1 && len(parts[1]) == 1 && letter(parts[0][0]) && letter(parts[1][0])
	if letters {
		from, to = int(parts[0][0]), int(parts[1][0])
	} else if err1 != nil || err2 != nil {
		return nil
	}
	e.found = true
	if letters && (from < 'a') != (to < 'a') || max(padded(parts[0]), padded(parts[1])) > 0 {
		e.unclear = true // passes through quotes and brackets, or keeps its zeros
		return nil
	}
	return e.count(from, to, step, letters, cells[0].at)
}

// count writes the words of a sequence out.
func (e *expander) count(from, to, step int, letters bool, at int32) (out [][]cell) {
	if step < 0 {
		step = -step
	}
	step = max(step, 1)
	width := to - from
	if width < 0 {
		width = -width
	}
	if width < 0 || width/step >= maxBraces || from != int(int32(from)) || to != int(int32(to)) {
		e.left = -1
		return [][]cell{nil}
	}
	for i := 0; i <= width; i += step {
		n := from + i
		if to < from {
			n = from - i
		}
		text := strconv.Itoa(n)
		if letters {
			text = string(rune(n))
		}
		out = append(out, unquoted(text, at))
	}
	return out
}

func unquoted(text string, at int32) []cell {
	cells := make([]cell, len(text))
	for i := range cells {
		cells[i] = cell{b: text[i], at: at}
	}
	return cells
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// padded returns 1 if a number is written with zeros in front.
func padded(s string) int {
	for len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	if len(s) > 1 && s[0] == '0' {
		return 1
	}
	return 0
}

// dotted splits cells at pairs of dots; ok is false if any of them is quoted or
// unknown.
func dotted(cells []cell) (parts []string, ok bool) {
	text := make([]byte, 0, len(cells))
	for i := 0; i < len(cells); i++ {
		if cells[i].quoted || cells[i].hole != 0 {
			return nil, false
		}
		if cells[i].b == '.' && i+1 < len(cells) && cells[i+1].active('.') {
			parts = append(parts, string(text))
			text = text[:0]
			i++
			continue
		}
		text = append(text, cells[i].b)
	}
	return append(parts, string(text)), true
}

// join is every first, middle and last in a row.
func join(first []cell, middle, last [][]cell) [][]cell {
	out := make([][]cell, 0, len(middle)*len(last))
	for _, m := range middle {
		for _, l := range last {
			all := make([]cell, 0, len(first)+len(m)+len(l))
			out = append(out, append(append(append(all, first...), m...), l...))
			if len(out) > maxBraces {
				return out
			}
		}
	}
	return out
}
