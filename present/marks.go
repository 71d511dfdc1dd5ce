package present

import (
	"slices"

	"github.com/sayso-dev/sayso"
)

// Follow moves the marks of a text to where their parts stand in shown, which is
// the text after something in it was hidden, spelled out or left out. Marks of,
// or around, what was touched say what they say, and no longer where: they begin
// and end at 0. It relies on this alone: what both texts begin with, and what
// both end with, is the same text.
func Follow(text, shown string, marks []sayso.Mark) []sayso.Mark {
	if len(marks) == 0 {
		return nil
	}
	head, tail := common(text, shown)
	moved := slices.Clone(marks)
	for i := range moved {
		switch m := &moved[i]; {
		case m.From < 0 || m.From > m.To || m.To > len(text):
			m.From, m.To = 0, 0
		case m.To <= head:
		case m.From >= len(text)-tail:
			m.From += len(shown) - len(text)
			m.To += len(shown) - len(text)
		default:
			m.From, m.To = 0, 0
		}
	}
	return moved
}

// common is how many bytes two texts begin with, and how many after those they
// end with, that are the same.
func common(a, b string) (head, tail int) {
	short := min(len(a), len(b))
	for head < short && a[head] == b[head] {
		head++
	}
	for tail < short-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// MaxMarks is how many marks of a presentation are looked at.
const MaxMarks = 512

// painted are the marks as runs of a text that do not overlap: of two that do,
// the inner one counts where it is.
func painted(length int, marks []sayso.Mark) []sayso.Mark {
	marks = marks[:min(len(marks), MaxMarks)]
	var cuts []int
	for _, m := range marks {
		if 0 <= m.From && m.From < m.To && m.To <= length {
			cuts = append(cuts, m.From, m.To)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var out []sayso.Mark
	for i := 0; i+1 < len(cuts); i++ {
		var inner *sayso.Mark
		for k := range marks {
			m := &marks[k]
			if m.From <= cuts[i] && cuts[i+1] <= m.To && m.To <= length && (inner == nil || m.To-m.From < inner.To-inner.From) {
				inner = m
			}
		}
		if inner != nil {
			out = append(out, sayso.Mark{From: cuts[i], To: cuts[i+1], Kind: inner.Kind})
		}
	}
	return out
}
