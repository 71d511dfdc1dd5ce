package tui

import (
	"fmt"
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
type remembering struct{ at, lasts, uses int }

func (*remembering) page() bool { return true }

func (*remembering) keys(m *model) string {
	return m.ready("[enter] allow and remember") + "  [j k] cover  [t] time  [u] uses  [esc] back"
}

func (c *remembering) draw(m *model, columns, _ int) []string {
	r := m.look.request
	out := append(wrapped(paint(bold, "What a yes covers from now on")+"  ("+r.ShortID+" "+words.Summary(r)+")", columns), "")
	for i, o := range r.Covers {
		mark := "   "
		if i == c.at {
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
	}
	if len(r.Ignores) > 0 {
		out = append(out, wrapped("The tool leaves these arguments out of what is the same: "+words.Safe(strings.Join(r.Ignores, ", ")), columns)...)
	}
	return append(out, "", "   how long    "+c.howLong(), "   how often   "+c.howOften())
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
	offers := m.look.request.Covers
	switch key := name(k); key {
	case "j", "down":
		c.at = min(c.at+1, len(offers)-1)
	case "k", "up":
		c.at = max(c.at-1, 0)
	case "t":
		c.lasts = (c.lasts + 1) % len(lasts)
	case "u":
		c.uses = (c.uses + 1) % len(uses)
	case "esc":
		return m.shut()
	case "enter":
		return m.act(func() tea.Cmd { return c.send(m) })
	default:
		var n int
		if _, err := fmt.Sscanf(key, "%d", &n); err == nil && n >= 1 && n <= len(offers) {
			c.at = n - 1
		}
	}
	return nil
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
