package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
)

// small reports whether the screen is too small to decide anything on.
func (m *model) small() bool { return m.columns < minColumns || m.rows < minRows }

// wide reports whether the list stands beside the request, and not above it.
func (m *model) wide() bool { return m.columns >= 110 }

// full reports whether something stands in the place of the list.
func (m *model) full() bool { return m.panel != nil && m.panel.page() }

// The rows that are not the list's or the request's.
const (
	headRows = 2
	footRows = 2
)

func (m *model) bodyRows() int { return max(m.rows-headRows-footRows, 1) }

func (m *model) listColumns() int {
	if !m.wide() {
		return m.columns
	}
	return min(m.columns*2/5, 60)
}

// listRows is how much room the list has: above the request as much as it needs,
// and at most two fifths.
func (m *model) listRows() int {
	if m.wide() {
		return m.bodyRows()
	}
	return max(min(len(m.list), m.bodyRows()*2/5), 3)
}

// detailColumns is how wide the request is drawn.
func (m *model) detailColumns() int {
	if _, ok := m.panel.(*full); ok || !m.wide() {
		return m.columns
	}
	return m.columns - m.listColumns() - 3
}

// screen is the whole screen.
func (m *model) screen() string {
	switch {
	case m.columns == 0:
		return ""
	case m.small():
		return strings.Join(wrapped(fmt.Sprintf("This window is %d×%d. At least %d×%d is needed to read what you answer. Make it larger, or leave with q or Ctrl-C and type: sayso prompt",
			m.columns, m.rows, minColumns, minRows), max(m.columns, 10)), "\n")
	}
	out := m.head()
	switch {
	case m.full():
		out = append(out, filled(m.panel.draw(m, m.columns, m.bodyRows()), m.bodyRows())...)
	case m.wide():
		out = append(out, m.beside()...)
	default:
		list := m.drawList(m.listRows())
		out = append(out, list...)
		out = append(out, rule(m.columns))
		out = append(out, m.detail(m.columns, m.bodyRows()-len(list)-1)...)
	}
	return strings.Join(append(out, m.foot()...), "\n")
}

// beside is the list with the request beside it.
func (m *model) beside() []string {
	rows := m.bodyRows()
	left, right := m.drawList(rows), m.detail(m.detailColumns(), rows)
	out := make([]string, rows)
	for i := range out {
		out[i] = fit(left[i], m.listColumns()) + paint(dim, " │ ") + right[i]
	}
	return out
}

// filled is exactly so many rows.
func filled(lines []string, rows int) []string {
	lines = slices.Clone(lines[:min(len(lines), rows)])
	for len(lines) < rows {
		lines = append(lines, "")
	}
	return lines
}

func (m *model) title() string {
	if n := m.items.waiting(); n > 0 {
		return fmt.Sprintf("(%d) sayso", n)
	}
	return "sayso"
}

// head are the first lines: how many wait, where, and what is out of the
// ordinary.
func (m *model) head() []string {
	text := paint(bold, "sayso") + "  " + fmt.Sprintf("%d waiting", m.items.waiting())
	if n := len(m.marked); n > 0 {
		text += ", " + paint(bold, fmt.Sprintf("%d selected", n))
	}
	if m.filter != "" {
		text += "  filter: " + words.Safe(m.filter)
	}
	if mode := m.modeText(); mode != "" {
		text += "  " + m.color(yellow, paint(bold, mode))
	}
	second := ""
	switch {
	case m.link == connecting:
		second = "connecting…"
	case m.link == lost:
		second = m.color(red, paint(bold, "CONNECTION LOST. What is shown may be old, and no answer can be given. Trying…"))
	case m.now.Before(m.away.until):
		second = fmt.Sprintf("Connected again. Meanwhile %d came in and %d ended.", m.away.came, m.away.went)
	case m.switched != "":
		second = m.color(yellow, paint(bold, words.Safe(m.switched)))
	case m.changed != "":
		second = m.color(yellow, paint(bold, words.Safe(m.changed)))
	default:
		second = paint(dim, words.Safe(m.door.Where))
	}
	return []string{cut(text, m.columns), cut(second, m.columns)}
}

// modeText is the mode where it is not the usual one, with its end.
func (m *model) modeText() string {
	text := ""
	switch m.mode.Mode {
	case sayso.ModeApproveAll:
		text = "whatever would be asked is ALLOWED"
	case sayso.ModeStrict:
		text = "whatever would be asked is DENIED"
	default:
		return ""
	}
	if !m.modeEnd.IsZero() {
		text += ", " + words.Span(max(m.modeEnd.Sub(m.now), 0)) + " at most"
	}
	return text
}

func (m *model) drawList(rows int) []string {
	var out []string
	more := m.requestsFrom(m.top + rows)
	for i := m.top; i < min(m.top+rows, len(m.list)); i++ {
		columns := m.listColumns()
		if more > 0 && i == m.top+rows-1 {
			columns -= 12 // for how many more there are
		}
		out = append(out, m.drawRow(m.list[i], columns))
	}
	if len(m.list) == 0 {
		text := "Nothing waits."
		if m.filter != "" {
			text = "Nothing that waits has these words."
		}
		out = append(out, paint(dim, text))
	}
	if more > 0 && len(out) > 0 {
		out[len(out)-1] += paint(dim, fmt.Sprintf(" … %d more", more))
	}
	return filled(out, rows)
}

// requestsFrom counts the requests in the rows of the list from one on.
func (m *model) requestsFrom(at int) (n int) {
	for _, r := range m.list[min(at, len(m.list)):] {
		if r.item != nil {
			n++
		}
	}
	return n
}

func (m *model) drawRow(r row, columns int) string {
	if r.item == nil {
		return cut(paint(dim, r.head+fmt.Sprintf(" (%d)", r.size)), columns)
	}
	i := r.item
	mark := "  "
	if i.ID == m.cursor {
		mark = paint(bold, "▸ ")
	}
	box := " "
	if m.marked[i.ID] {
		box = paint(bold, "x")
	}
	tool := words.Tool(i.Request) + "  "
	if r.twin > 0 {
		tool = fmt.Sprintf("=%d ", r.twin) + tool
	}
	before := mark + box + " "
	if i.Unread != "" && i.State.Open() {
		return cut(before+m.color(yellow, "?  ")+i.ShortID+" cannot be read  "+tool, columns)
	}
	if !i.State.Open() {
		return cut(before+paint(dim, listed("- "+i.ShortID+" ended  "+tool, i.Request, columns-ansi.StringWidth(before))), columns)
	}
	shape, _ := m.risk(i.Request)
	danger := " "
	if len(i.Danger) > 0 {
		danger = m.color(red, "!")
	}
	return listed(before+shape+danger+" "+i.ShortID+" "+m.clock(i.due, m.now)+"  "+tool, i.Request, columns)
}

// countdown is a time that is left, in five columns.
func countdown(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%4ds", s)
	case s < 3600:
		return fmt.Sprintf("%2d:%02d", s/60, s%60)
	case s < 48*3600:
		return fmt.Sprintf("%2dh%02d", s/3600, s/60%60)
	}
	return fmt.Sprintf("%4dd", s/86400)
}

// detail is the request that is looked at, or the question about it.
func (m *model) detail(columns, rows int) []string {
	out := m.about(columns)
	var ask []string
	if m.panel != nil {
		ask = append([]string{rule(columns)}, m.panel.draw(m, columns, rows)...)
		ask = ask[:min(len(ask), max(rows-len(out)-3, 1))]
	}
	room := max(rows-len(out)-len(ask), 1)
	l := &m.look
	switch {
	case l.id == "":
		out = append(out, filled(nil, room)...)
	case l.failed != nil:
		out = append(out, filled(wrapped("This request cannot be shown: "+words.Safe(l.failed.Error()), columns), room)...)
	case l.lines == nil || m.columns < l.columns:
		out = append(out, filled([]string{paint(dim, "reading…")}, room)...)
	default:
		out = append(out, m.paged(columns, room)...)
	}
	return filled(append(out, ask...), rows)
}

// paged is what of the request is on the screen, and how much more there is.
func (m *model) paged(columns, rows int) []string {
	l := &m.look
	if len(l.lines) <= rows {
		return l.draw(rows)
	}
	out := l.draw(rows - 1)
	switch {
	case l.below() > 0 && !l.whole && m.deaf() == "" && m.waits():
		return append(out, m.color(yellow, cut(fmt.Sprintf("… %d more lines: Space goes on. It cannot be allowed before its end was here.", l.below()), columns)))
	case l.below() > 0:
		return append(out, paint(dim, fmt.Sprintf("… %d more lines", l.below())))
	}
	return append(out, paint(dim, "(its end)"))
}

// waits reports whether the request that is looked at takes an answer still.
func (m *model) waits() bool {
	i := m.items.byID[m.cursor]
	return i != nil && i.State.Open()
}

// about is the line over a request: its place, its risk, how long it has, or how
// it ended.
func (m *model) about(columns int) []string {
	i := m.items.byID[m.cursor]
	if i == nil {
		return nil
	}
	if !i.State.Open() {
		return []string{cut(paint(reverse, " ENDED ")+" "+paint(bold, i.end), columns), ""}
	}
	_, risk := m.risk(i.Request)
	left := "waits for ever"
	if !i.due.IsZero() {
		left = strings.TrimSpace(m.clock(i.due, m.now)) + " left"
	}
	if i.Unread != "" {
		return []string{cut(m.place()+"  "+m.color(yellow, "cannot be read"), columns)}
	}
	before, after := m.place()+"  "+left, risk
	if n := i.Requirement.Count; n > 1 {
		after += fmt.Sprintf("  %d of %d people said yes", i.said, n)
	}
	text := before + "  " + after
	if i.State == sayso.StateParked {
		text += "  its agent has stopped waiting"
	}
	if i.State == sayso.StateParked && ansi.StringWidth(text) > columns { // the risk in full stands below
		text = before + "  parked  " + after
	}
	return []string{cut(text, columns)}
}

// place is which of those that wait this one is.
func (m *model) place() string {
	at, of := 0, 0
	for _, r := range m.list {
		if r.item == nil || !r.item.State.Open() {
			continue
		}
		of++
		if r.item.ID == m.cursor {
			at = of
		}
	}
	if at == 0 {
		return fmt.Sprintf("not among these %d", of)
	}
	return fmt.Sprintf("%d of %d", at, of)
}

// foot are the last lines: what became of an answer, and the keys.
func (m *model) foot() []string {
	told := m.told
	keys := m.queueKeys()
	if m.panel != nil {
		keys = m.panel.keys(m)
	}
	for _, more := range []string{"  [j k] next", "  [/] filter", "  [q] leave"} {
		if m.panel == nil && ansi.StringWidth(keys+more) <= m.columns {
			keys += more
		}
	}
	return []string{cut(paint(bold, told), m.columns), cut(keys, m.columns)}
}

// ready draws keys that answer: dim, and behind another sign, while they are deaf.
func (m *model) ready(text string) string {
	if m.guard.live {
		return paint(bold, "» "+text)
	}
	return paint(dim, "· "+text)
}

func (m *model) queueKeys() string {
	const rest = "  [?] keys"
	if n := len(m.marked); n > 0 {
		return fmt.Sprintf("[y] allow these %d…  [n] deny them…  [x] select  [esc] none", n) + rest
	}
	i := m.items.byID[m.cursor]
	switch {
	case i == nil:
		return "[g] grants  [h] history" + rest
	case !i.State.Open():
		return "[enter] go on  [g] grants  [h] history" + rest
	case m.link != live:
		return rest[2:]
	case !m.look.ready:
		return rest[2:]
	}
	r := m.look.request
	if !m.look.whole {
		return paint(bold, "[space] further") + "  " + m.ready("[n] deny…  [esc] deny") + rest
	}
	line := "[y] allow once"
	if len(r.Danger) > 0 {
		line += "…"
	}
	if len(r.Covers) > 0 {
		line += "  [s] session…"
	}
	line += "  [n] deny…"
	if r.CanEdit {
		line += "  [e] edit…"
	}
	return m.ready(line+"  [esc] deny") + rest
}
