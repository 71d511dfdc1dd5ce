package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
)

// How long and how often a yes may be remembered, to choose from.
var (
	lasts = []time.Duration{0, 30 * time.Minute, 2 * time.Hour, 8 * time.Hour}
	uses  = []int{0, 1, 3, 10}
)

// remembering asks how far a yes is remembered, the narrowest first.
type remembering struct {
	pager
	at, lasts, uses int
	from, to        int // lines of the cover that is chosen
	seen            []bool
	moved           bool // to another cover, since it was drawn
}

func (*remembering) page() bool { return true }

func (c *remembering) keys(m *model) string {
	if !c.read() {
		return "[space] look at all of this cover first  [j k] cover  [esc] back"
	}
	return m.ready("[enter] allow and remember") + "  [j k] cover  [t] time  [u] uses  [esc] back"
}

// draw returns the covers, of which those that fit are seen, and below them, always,
// how long and how often.
func (c *remembering) draw(m *model, columns, rows int) []string {
	foot := []string{"", "   how long    " + c.howLong(), "   how often   " + c.howOften()}
	text := c.covers(m, columns)
	if columns != c.columns || len(text) != len(c.seen) {
		c.seen, c.moved = make([]bool, len(text)), true
	}
	c.show(text, columns)
	height := min(len(text), rows-len(foot))
	if c.moved {
		c.top, c.moved = max(min(c.top, c.from), min(c.to-height, c.from)), false
	}
	out := c.pager.draw(height)
	for i := range height {
		c.seen[c.top+i] = true
	}
	return append(out, foot...)
}

// read reports whether all of the cover that is chosen was on the screen.
func (c *remembering) read() bool {
	return c.to > c.from && c.to <= len(c.seen) && !slices.Contains(c.seen[c.from:c.to], false)
}

// covers are the lines of all covers.
func (c *remembering) covers(m *model, columns int) []string {
	r := m.look.request
	out := append(wrapped(paint(bold, "What a yes covers from now on")+"  ("+r.ShortID+" "+words.Summary(r)+")", columns), "")
	for i, o := range r.Covers {
		mark := "   "
		if i == c.at {
			c.from = len(out)
			mark = paint(bold, " ▸ ")
		}
		text := words.Safe(o.Label)
		if o.Pattern != "" {
			text += ": " + words.Safe(o.Pattern)
		}
		for n, line := range wrapped(text, columns-6) {
			if n > 0 {
				mark = "   "
			}
			out = append(out, mark+line)
		}
		if w := words.Weight(o); w != "" {
			code := dim
			if o.Denied > 0 {
				code = yellow
			}
			out = append(out, "     "+m.color(code, w))
		}
		if i == c.at {
			c.to = len(out)
		}
	}
	if len(r.Ignores) > 0 {
		out = append(out, wrapped("The tool leaves these arguments out of what is the same: "+words.Safe(strings.Join(r.Ignores, ", ")), columns)...)
	}
	return out
}

func (c *remembering) howLong() string {
	if lasts[c.lasts] == 0 {
		return "until the session ends"
	}
	return words.Span(lasts[c.lasts])
}

func (c *remembering) howOften() string {
	if uses[c.uses] == 0 {
		return "any number of times"
	}
	return words.Counted(uses[c.uses], "time")
}

func (c *remembering) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	if c.pager.key(name(k)) {
		return m.guard.changed(m.now)
	}
	switch key := name(k); key {
	case "j", "down":
		return c.choose(m, c.at+1)
	case "k", "up":
		return c.choose(m, c.at-1)
	case "t":
		c.lasts = (c.lasts + 1) % len(lasts)
	case "u":
		c.uses = (c.uses + 1) % len(uses)
	case "esc":
		return m.shut()
	case "enter":
		if !c.read() {
			m.told = "Look at all of this cover first: Space goes down."
			return nil
		}
		return m.act(func() tea.Cmd { return c.send(m) })
	default:
		var n int
		if _, err := fmt.Sscanf(key, "%d", &n); err == nil && n >= 1 {
			return c.choose(m, n-1)
		}
	}
	return nil
}

// choose goes to another cover, which Enter then means.
func (c *remembering) choose(m *model, at int) tea.Cmd {
	if at < 0 || at >= len(m.look.request.Covers) || at == c.at {
		return nil
	}
	c.at, c.moved = at, true
	return m.guard.changed(m.now)
}

func (c *remembering) send(m *model) tea.Cmd {
	if why := m.deaf(); why != "" {
		m.told = why
		return nil
	}
	r := m.look.request
	if c.at >= len(r.Covers) {
		return nil
	}
	a := sayso.Answer{
		Effect: sayso.Allow, Scope: sayso.ScopeSession, Cover: r.Covers[c.at].Cover, For: lasts[c.lasts], Uses: uses[c.uses],
	}
	if len(r.Danger) > 0 {
		return m.ask(&slow{answer: a, danger: r.Danger, back: c})
	}
	return m.send(a)
}
