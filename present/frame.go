package present

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// minRoom is the least number of columns left for text beside a prefix.
const minRoom = 8

// Frame makes s safe and breaks it into lines of at most the given width, each
// with a prefix: first before what begins a line of s, and next before what
// continues one that was too long. Nothing of s is lost, and nothing of it can
// stand where a prefix stands. Prefixes are taken as they are.
func Frame(s string, columns int, first, next string) []string {
	shown, _ := Safe(s)
	return frameSafe(shown, columns, first, next)
}

// frameSafe is Frame for a text that is safe already.
func frameSafe(s string, columns int, first, next string) []string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		prefix := first
		for _, part := range wrap(line, max(minRoom, columns-textWidth(first)), max(minRoom, columns-textWidth(next))) {
			out = append(out, prefix+part)
			prefix = next
		}
	}
	return out
}

// wrap breaks one line into parts of at most first, then next columns.
func wrap(line string, first, next int) []string {
	parts := wrapRuns([]colored{{"", line}}, first, next)
	out := make([]string, len(parts))
	for i, part := range parts {
		out[i] = part[0].text
	}
	return out
}

// early are the parts of one line, each of at most so many columns. A part ends behind
// a blank or a slash where its second half has one: the name of a file stays whole.
func early(line string, room int) (parts []string) {
	begin, soft, col := 0, 0, 0
	for i, r := range line {
		n := runeWidth(r)
		if col+n > room && n > 0 {
			at := i
			if soft > begin+(i-begin)/2 && textWidth(line[soft:i])+n <= room {
				at = soft
			}
			parts = append(parts, line[begin:at])
			begin, col = at, textWidth(line[at:i])
		}
		if col += n; r == ' ' || r == '/' {
			soft = i + 1
		}
	}
	return append(parts, line[begin:])
}

// wrapRuns is wrap for a line of coloured runs. Tabs become blanks, so that
// columns stay what they are counted as.
func wrapRuns(line []colored, first, next int) [][]colored {
	var out [][]colored
	var part []colored
	room, col := first, 0
	for _, run := range line {
		var b strings.Builder
		for _, r := range run.text {
			n, text := runeWidth(r), string(r)
			if r == '\t' {
				n = tabWidth - col%tabWidth
				text = strings.Repeat(" ", n)
			}
			if col+n > room && n > 0 {
				out = append(out, append(part, colored{run.color, b.String()}))
				part, room, col = nil, next, 0
				b.Reset()
				if r == '\t' {
					n, text = 1, " "
				}
			}
			b.WriteString(text)
			col += n
		}
		part = append(part, colored{run.color, b.String()})
	}
	return append(out, part)
}

// textWidth returns how many columns s takes on a terminal.
func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth returns how many columns a code point takes: at least as many as
// any terminal gives it, so that a line is never longer than counted.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1f000 && r <= 0x1fbff, pictograph(r):
		return 2
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// oneLine makes s safe and shows its line breaks and tabs escaped.
func oneLine(s string) string {
	shown, _ := Safe(s)
	return onOneLine.Replace(shown)
}
