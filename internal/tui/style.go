package tui

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/present"
)

// The attributes and colours, as numbers of the usual terminal sequences: those
// that every terminal with sixteen colours has. Nothing is told by colour alone.
const (
	bold    = "1"
	dim     = "2"
	reverse = "7"
	red     = "31"
	green   = "32"
	yellow  = "33"
	cyan    = "36"
)

func paint(code, s string) string {
	if code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// color paints where colours are wanted.
func (m *model) color(code, s string) string {
	if m.o.Plain {
		return s
	}
	return paint(code, s)
}

// fit is a line in so many columns: cut with a sign that it was, or filled up.
func fit(s string, columns int) string {
	s = ansi.Truncate(s, columns, "…")
	return s + strings.Repeat(" ", max(columns-ansi.StringWidth(s), 0))
}

// cut is a line in at most so many columns.
func cut(s string, columns int) string { return ansi.Truncate(s, columns, "…") }

// rule is a line across.
func rule(columns int) string { return paint(dim, strings.Repeat("─", columns)) }

// wrapped are our own words in lines of at most so many columns.
func wrapped(s string, columns int) []string {
	return strings.Split(ansi.Wordwrap(s, columns, ""), "\n")
}

// risk is how risky a call is: a shape, words and a colour. Red is for danger
// alone.
func (m *model) risk(r sayso.Request) (shape, text string) {
	code, shape := yellow, "▲"
	switch r.Risk {
	case sayso.RiskSafe:
		code, shape = green, "●"
	case sayso.RiskDestructive:
		shape = "■"
	}
	text = shape + " " + present.Risk(r.Risk, r.Danger)
	if len(r.Danger) > 0 {
		code = red
		text += ": " + strings.Join(present.Dangers(r.Danger), ", ")
	}
	return m.color(code, shape), m.color(code, text)
}

// listed is a request in a line, behind what stands before it.
func listed(before string, r sayso.Request, columns int) string {
	return cut(before+words.Row(r, columns-ansi.StringWidth(before)), columns)
}

// clock is a time that is left, which a row of the list has little room for.
func (m *model) clock(due, now time.Time) string {
	if due.IsZero() {
		return "  ∞  "
	}
	left := max(due.Sub(now), 0)
	text := countdown(left)
	if left < time.Minute {
		return m.color(red, text)
	}
	return text
}
