package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/charmbracelet/x/ansi"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/present"
)

// full is the request that is looked at, on the whole screen.
type full struct{}

func (full) page() bool { return true }

func (full) keys(*model) string { return "[space] further  [b] back  [end] to the end  [esc] close" }

func (full) draw(m *model, _, rows int) []string { return m.look.draw(rows) }

func (full) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	if cmd, ok := m.scrolls(&m.look.pager, name(k)); ok {
		return cmd
	}
	switch name(k) {
	case "esc", "v", "q":
		return m.shut()
	case "j", "down":
		m.look.scroll(1) // View notes where that leads
	case "k", "up":
		m.look.scroll(-1)
	}
	return nil
}

// filtering is the field that says what the list shows.
type filtering struct {
	field field
	was   string
}

func (*filtering) page() bool { return false }

func (*filtering) keys(*model) string { return "[enter] keep  [esc] as before" }

func (f *filtering) draw(_ *model, columns, _ int) []string {
	return []string{"filter: " + f.field.draw(columns-8)}
}

func (f *filtering) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch k.Keystroke() {
	case "enter":
		return m.shut()
	case "esc":
		m.filter = f.was
		m.sort()
		return m.shut()
	}
	f.field.key(k)
	f.apply(m)
	return nil
}

func (f *filtering) paste(m *model, text string) tea.Cmd {
	f.field.insert(text)
	f.apply(m)
	return nil
}

func (f *filtering) apply(m *model) {
	m.filter = f.field.String()
	m.sort()
}

// help are all keys.
type help struct{ pager }

func (*help) page() bool { return true }

func (*help) keys(*model) string { return "[esc] close" }

var helpText = [][2]string{
	{"Y or A", "allow once; where it is dangerous, type the ticket"},
	{"S", "allow for the session: choose how far, how long, how often"},
	{"N or D", "deny, with words for the agent if you like"},
	{"E", "edit the arguments in your editor, look at the change, then allow"},
	{"Esc", "deny; in a question, in help or on another page it leaves only that"},
	{"J K ↓ ↑", "next and previous request; Enter is next too"},
	{"Space", "further down; also B, Page Down, Page Up, Home, End"},
	{"V", "this request on the whole screen"},
	{"X", "select it for an answer to several; Shift-X its whole group"},
	{"/", "filter the list; all words must be found"},
	{"G", "grants: what is remembered, and revoking it"},
	{"H", "history: what was decided, and the life of one request"},
	{"M", "mode: whether people are asked, for this session or for all"},
	{"Q", "leave; what waits goes on waiting"},
}

func (h *help) draw(m *model, columns, rows int) []string {
	out := []string{m.color(bold, "Keys"), ""}
	for _, line := range helpText {
		for n, text := range wrapped(line[1], columns-12) {
			key := ""
			if n == 0 {
				key = line[0]
			}
			out = append(out, fit("  "+paint(bold, fit(key, 9)), 12)+text)
		}
	}
	out = append(out, "")
	out = append(out, wrapped("A request that has just appeared or changed takes no answer for a moment, and none that was typed before it could be read. "+
		"One that ends stays until you go on. What is longer than the screen is allowed once its end was on it.", columns)...)
	h.lines = out
	return h.pager.draw(rows)
}

func (h *help) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	if h.pager.key(name(k)) {
		return nil
	}
	switch name(k) {
	case "esc", "?", "q":
		return m.shut()
	}
	return nil
}

// reasons are what is often said with a no.
var reasons = []string{"Not now", "Too broad: do less", "Use another way", "Ask me first what I want"}

// denying asks for the words of a denial.
type denying struct {
	field   field
	several []sayso.Request // empty for the request that is looked at
	pager                   // of their names
}

func (d *denying) page() bool { return len(d.several) > 0 }

func (d *denying) keys(m *model) string {
	keys := m.ready("[enter] deny") + "  [esc] back"
	if d.below() > 0 {
		keys += fmt.Sprintf("  [pgdn] %d more names", d.below())
	}
	return keys
}

func (d *denying) draw(m *model, columns, rows int) []string {
	what := "Deny it."
	if n := len(d.several); n > 0 {
		what = "Deny " + words.Counted(n, "request") + "."
	}
	out := []string{paint(bold, what) + " The agent is told:", "  " + d.field.draw(columns-2)}
	line := ""
	for i, r := range reasons {
		choice := "[alt+" + string(rune('1'+i)) + "] " + r
		if line != "" && ansi.StringWidth(line+"  "+choice) > columns {
			out, line = append(out, line), ""
		}
		if line != "" {
			line += "  "
		}
		line += choice
	}
	return append(append(out, line), d.names(m, columns, rows-len(out)-1)...)
}

// names are all of several requests, also those that the filter hides.
func (d *denying) names(m *model, columns, rows int) []string {
	if len(d.several) == 0 {
		return nil
	}
	var out []string
	for _, r := range d.several {
		shape, _ := m.risk(r)
		out = append(out, listed("  "+shape+" "+r.ShortID+"  "+words.Tool(r)+"  ", r, columns))
	}
	d.show(out, columns)
	return append([]string{""}, d.pager.draw(rows-1)...)
}

func (d *denying) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch stroke := k.Keystroke(); {
	case stroke == "enter":
		return m.act(func() tea.Cmd { return d.send(m) })
	case stroke == "esc":
		return m.shut()
	case stroke == "pgdown" || stroke == "pgup":
		d.pager.key(stroke)
	case strings.HasPrefix(stroke, "alt+"):
		if i := strings.IndexAny("1234", stroke[4:]); i >= 0 && len(stroke) == 5 {
			d.field.set(reasons[i])
		}
	default:
		d.field.key(k)
	}
	return nil
}

func (d *denying) paste(_ *model, text string) tea.Cmd {
	d.field.insert(text)
	return nil
}

func (d *denying) send(m *model) tea.Cmd {
	if why := m.deaf(); why != "" && len(d.several) == 0 {
		m.told = why
		return nil
	}
	a := sayso.Answer{Effect: sayso.Deny, Note: d.field.String()}
	if len(d.several) == 0 {
		return m.send(a)
	}
	m.panel = nil
	members, group := membersOf(d.several)
	return m.sendAll(members, group, a)
}

// slow is the slow answer: a word has to be typed.
type slow struct {
	field  field
	answer sayso.Answer
	danger []sayso.Danger
	back   panel // what Esc goes back to
}

func (*slow) page() bool { return false }

func (*slow) keys(m *model) string { return m.ready("[enter] allow") + "  [esc] back" }

func (s *slow) draw(m *model, columns, _ int) []string {
	out := []string{"Type " + paint(bold, m.look.request.ShortID) + " to allow it: " + s.field.draw(12)} // first, since what does not fit is cut off
	for _, line := range wrapped("Dangerous: "+strings.Join(present.Dangers(s.danger), ", ")+".", columns) {
		out = append(out, m.color(red, line))
	}
	return out
}

func (s *slow) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch k.Keystroke() {
	case "enter":
		return m.act(func() tea.Cmd { return s.send(m) })
	case "esc":
		m.panel = s.back
		return m.redraw()
	}
	s.field.key(k)
	return nil
}

func (s *slow) send(m *model) tea.Cmd {
	if why := m.deaf(); why != "" {
		m.told = why
		return nil
	}
	if s.field.String() != m.look.request.ShortID {
		m.told = "Not answered: that is not " + m.look.request.ShortID + "."
		return nil
	}
	return m.send(s.answer)
}
