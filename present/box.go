package present

import (
	"strings"
)

// Box is Draw in a frame of lines: the title in its upper edge, and a line
// between the blocks. What is in it cannot leave it: each of its lines ends
// before the right edge does.
func Box(v View, s Style) (text string, whole bool) {
	columns := s.Columns
	if columns <= 0 {
		columns = DefaultWidth
	}
	columns = max(columns, minWidth+boxed)
	s.Columns = columns - boxed
	text, whole = Draw(v, s)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var b strings.Builder
	title, lines := lines[0], lines[1:]
	if len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	b.WriteString("┌─ " + title + " " + strings.Repeat("─", max(s.Columns-shownWidth(title)-1, 0)) + "┐\n")
	for _, l := range lines {
		if l == "" {
			b.WriteString("├" + strings.Repeat("─", s.Columns+2) + "┤\n")
			continue
		}
		b.WriteString("│ " + l + strings.Repeat(" ", max(s.Columns-shownWidth(l), 0)) + " │\n")
	}
	b.WriteString("└" + strings.Repeat("─", s.Columns+2) + "┘\n")
	return b.String(), whole
}

// boxed is how many columns a frame takes.
const boxed = 4

// shownWidth is how many columns a drawn line takes: its colours take none.
func shownWidth(line string) int {
	n := 0
	for i, part := range strings.Split(line, "\x1b[") {
		if _, rest, ok := strings.Cut(part, "m"); ok && i > 0 {
			part = rest
		}
		n += textWidth(part)
	}
	return n
}
