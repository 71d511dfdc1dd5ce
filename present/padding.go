package present

import (
	"fmt"
	"strings"

	"github.com/sayso-dev/sayso"
)

// Runs of blanks from these lengths on are padding. Indentation may be deeper
// than blanks inside a line: code is.
const (
	maxBlanks     = 40 // columns
	maxIndent     = 64 // columns
	maxEmptyLines = 10
	tabWidth      = 8
)

// collapse replaces runs of blanks and of empty lines that are long enough to
// push text out of sight by a note of how much was left out.
func collapse(s string, f *findings) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		n := blankRun(s[i:])
		if n == 0 {
			next := strings.IndexAny(s[i:], " \t\n\u3000")
			if next < 0 {
				next = len(s) - i
			}
			b.WriteString(s[i : i+max(next, 1)])
			i += max(next, 1)
			continue
		}
		run(&b, s[i:i+n], f)
		i += n
	}
	return b.String()
}

// blankRun returns the length of the run of blanks and line breaks at the
// start of s.
func blankRun(s string) int {
	i := 0
	for i < len(s) {
		switch {
		case s[i] == ' ' || s[i] == '\t' || s[i] == '\n':
			i++
		case strings.HasPrefix(s[i:], "\u3000"):
			i += len("\u3000")
		default:
			return i
		}
	}
	return i
}

// run writes one run of blanks.
func run(b *strings.Builder, s string, f *findings) {
	lines := strings.Split(s, "\n")
	if empty := len(lines) - 2; empty >= maxEmptyLines {
		note := fmt.Sprintf("%d empty lines left out", empty)
		f.add(sayso.WarnPadding, note)
		last := lines[len(lines)-1]
		b.WriteString("\n[" + note + "]\n")
		blanks(b, last, true, f)
		return
	}
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		blanks(b, line, i > 0 && i == len(lines)-1, f)
	}
}

// blanks writes the blanks of one line.
func blanks(b *strings.Builder, s string, indent bool, f *findings) {
	limit := maxBlanks
	if indent {
		limit = maxIndent
	}
	n := columns(s)
	if n < limit {
		b.WriteString(s)
		return
	}
	note := fmt.Sprintf("%d blanks left out", n)
	f.add(sayso.WarnPadding, note)
	b.WriteString(" [" + note + "] ")
}

// columns returns how wide blanks are.
func columns(s string) int {
	n := 0
	for _, r := range s {
		switch r {
		case '\t':
			n += tabWidth
		case 0x3000:
			n += 2
		default:
			n++
		}
	}
	return n
}
