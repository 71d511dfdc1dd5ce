package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/present"
)

// historyPage is how many requests are read at a time.
const historyPage = 200

// history is the page of what was decided, the newest first.
type history struct {
	list   []sayso.Request // as they were read
	shown  []sayso.Request // those that the filter lets through
	cursor sayso.ID
	top    int
	limit  int
	all    bool // those that nobody was asked about too
	filter field
	typing bool
	loaded bool
	told   string
}

// over are the states of requests that wait no longer.
var over = []sayso.State{sayso.StateAllowed, sayso.StateDenied, sayso.StateExpired, sayso.StateWithdrawn}

type historyMsg struct {
	limit int
	all   bool
	list  []sayso.Request
	err   error
}

func (m *model) openHistory() tea.Cmd {
	h := &history{limit: historyPage}
	return tea.Batch(m.open(h), h.load(m))
}

func (*history) page() bool { return true }

func (h *history) load(m *model) tea.Cmd {
	if m.link != live {
		h.told = "Not connected."
		return nil
	}
	in, ctx, q := m.door.Inbox, m.ctx, sayso.RowQuery{Limit: h.limit, Asked: !h.all, States: over}
	return func() tea.Msg {
		list, err := in.Requests(ctx, q)
		return historyMsg{q.Limit, !q.Asked, list, err}
	}
}

func (msg historyMsg) deliver(m *model) tea.Cmd {
	h, ok := m.panel.(*history)
	if !ok || msg.limit != h.limit || msg.all != h.all {
		return nil
	}
	h.loaded, h.list, h.told = true, msg.list, ""
	if msg.err != nil {
		h.told = "It cannot be read: " + words.Safe(msg.err.Error())
	}
	h.find()
	return nil
}

// find works out which of them are shown.
func (h *history) find() {
	filter := h.filter.String()
	h.shown = slices.DeleteFunc(slices.Clone(h.list), func(r sayso.Request) bool { return !contains(historyText(r), filter) })
	if h.at() < 0 {
		h.cursor = ""
		if len(h.shown) > 0 {
			h.cursor = h.shown[0].ID
		}
	}
}

// historyText is what the filter looks in: who, what, when and why.
func historyText(r sayso.Request) string {
	parts := []string{
		r.ShortID, words.Summary(r), r.Tool, r.HostTool, r.Server, string(r.Kind), string(r.Risk), present.Risk(r.Risk, r.Danger), r.Host, r.Caller, r.Cwd, r.SessionID, string(r.Cause), r.Rule,
		r.CreatedAt.Local().Format(time.DateTime), ended(r), string(r.Preview), strings.Join(present.Dangers(r.Danger), " "),
	}
	return strings.ToLower(strings.Join(parts, "\n"))
}

// ended is how a request ended, and by whom.
func ended(r sayso.Request) string {
	if r.Decision == nil {
		return string(r.State)
	}
	return string(r.State) + " by " + words.Who(r.Decision)
}

// endedShort is ended where there is little room. Where nobody knows whether it was
// this person, a mark says so.
func endedShort(r sayso.Request) string {
	if d := r.Decision; d != nil && slices.ContainsFunc(d.By, func(a sayso.Actor) bool { return a.Channel == sayso.ChannelElicitation }) {
		return string(r.State) + " by " + words.Safe(d.Who()) + "?"
	}
	return ended(r)
}

// took is how long a request waited for its end.
func took(r sayso.Request) string {
	if r.Decision == nil || r.Decision.At.IsZero() {
		return ""
	}
	return words.Span(r.Decision.At.Sub(r.CreatedAt))
}

func (h *history) at() int {
	return slices.IndexFunc(h.shown, func(r sayso.Request) bool { return r.ID == h.cursor })
}

func (h *history) keys(*model) string {
	switch {
	case h.typing:
		return "[enter] keep  [esc] none"
	case h.all:
		return "[j k] next  [enter] life  [/] filter  [a] only asked  [r] again  [esc] close"
	}
	return "[j k] next  [enter] life  [/] filter  [a] by policy too  [r] again  [esc] close"
}

func (h *history) draw(m *model, columns, rows int) []string {
	head := paint(bold, "History: ") + h.size()
	if h.told != "" {
		head += "  " + h.told
	}
	out := []string{cut(head, columns)}
	if h.typing || h.filter.String() != "" {
		out = append(out, "filter: "+h.filter.draw(columns-8))
	}
	height := max(rows-len(out), 1)
	h.top = max(min(h.top, h.at()), h.at()-height+1, 0)
	for i := h.top; i < min(h.top+height, len(h.shown)); i++ {
		out = append(out, h.row(m, h.shown[i], columns))
	}
	return out
}

func (h *history) size() string {
	text := words.Counted(len(h.shown), "request")
	if len(h.list) >= h.limit {
		text += " of the newest " + fmt.Sprint(h.limit) + "; further down there are more"
	}
	return text
}

func (h *history) row(m *model, r sayso.Request, columns int) string {
	mark := "  "
	if r.ID == h.cursor {
		mark = paint(bold, "▸ ")
	}
	code, sign := "", "·"
	switch r.State {
	case sayso.StateAllowed:
		code, sign = green, "✓"
	case sayso.StateDenied:
		code, sign = red, "✗"
	}
	when := r.CreatedAt.Local().Format("Jan 02 15:04")
	return listed(mark+when+"  "+r.ShortID+" "+m.color(code, sign+" "+fit(endedShort(r), 20))+" "+fit(took(r), 6)+" "+fit(words.Tool(r), 10)+" ", r, columns)
}

func (h *history) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	if h.typing {
		return h.typed(k)
	}
	switch at := h.at(); name(k) {
	case "esc", "q", "h":
		return m.shut()
	case "j", "down":
		return h.move(m, at+1)
	case "k", "up":
		return h.move(m, at-1)
	case "space", "pgdown":
		return h.move(m, min(at+10, len(h.shown)-1))
	case "b", "pgup":
		return h.move(m, max(at-10, 0))
	case "/":
		h.typing = true
	case "a":
		h.all = !h.all
		return h.load(m)
	case "r":
		return h.load(m)
	case "enter":
		if at >= 0 {
			return m.openLife(h, h.shown[at])
		}
	}
	return nil
}

func (h *history) typed(k tea.KeyPressMsg) tea.Cmd {
	switch k.Keystroke() {
	case "enter":
		h.typing = false
	case "esc":
		h.typing = false
		h.filter.set("")
	default:
		h.filter.key(k)
	}
	h.find()
	return nil
}

func (h *history) paste(_ *model, text string) tea.Cmd {
	if h.typing {
		h.filter.insert(text)
		h.find()
	}
	return nil
}

// move looks at another one. At the end more are read.
func (h *history) move(m *model, to int) tea.Cmd {
	if to >= 0 && to < len(h.shown) {
		h.cursor = h.shown[to].ID
	}
	if to >= len(h.shown)-1 && len(h.list) >= h.limit && h.limit < 10*historyPage {
		h.limit += historyPage
		return h.load(m)
	}
	return nil
}

// life is the page of one request: all of it, and what became of it.
type life struct {
	pager
	of     sayso.Request
	read   lookedMsg
	events []sayso.Event
	err    error
	loaded bool
	back   panel
}

type lifeMsg struct {
	of     *life
	read   lookedMsg
	events []sayso.Event
	err    error
}

func (m *model) openLife(back panel, r sayso.Request) tea.Cmd {
	if m.link != live {
		return nil
	}
	l := &life{of: r, back: back}
	in, ctx := m.door.Inbox, m.ctx
	return tea.Batch(m.open(l), func() tea.Msg {
		msg := lifeMsg{of: l}
		msg.read.request, msg.read.content, msg.err = readAll(ctx, in, r.ID)
		if msg.err == nil {
			msg.events, msg.err = in.Life(ctx, r.ID)
		}
		return msg
	})
}

func (msg lifeMsg) deliver(m *model) tea.Cmd {
	if m.panel == msg.of {
		l := msg.of
		l.read, l.events, l.err, l.loaded = msg.read, msg.events, msg.err, true
		l.layOut(m)
	}
	return nil
}

func (l *life) layOut(m *model) {
	if l.err != nil {
		l.show(wrapped("It cannot be read: "+words.Safe(l.err.Error()), m.columns), m.columns)
		return
	}
	style := m.style()
	style.Columns = m.columns
	out := []string{paint(bold, "The life of "+l.of.ShortID+", "+ended(l.read.request)), ""}
	tells := words.Teller{}
	var before time.Time
	for _, e := range l.events {
		since := ""
		if !before.IsZero() {
			since = "+" + words.Span(e.At.Wall.Sub(before))
		}
		before = e.At.Wall
		for n, line := range wrapped(tells.Story(e), m.columns-28) {
			stamp := fit(e.At.Wall.Local().Format(time.DateTime), 20) + fit(since, 8)
			if n > 0 {
				stamp = strings.Repeat(" ", 28)
			}
			out = append(out, stamp+line)
		}
	}
	out = append(out, "", rule(m.columns))
	out = append(out, lines(viewOf(l.read.request, l.read.content), style)...)
	l.show(out, m.columns)
}

func (*life) page() bool { return true }

func (*life) keys(*model) string { return "[space] further  [b] back up  [esc] to the history" }

func (l *life) resize(m *model) tea.Cmd {
	if l.loaded {
		l.layOut(m)
	}
	return nil
}

func (l *life) draw(_ *model, _, rows int) []string { return l.pager.draw(rows) }

func (l *life) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	if l.pager.key(name(k)) {
		return nil
	}
	switch name(k) {
	case "esc", "q":
		m.panel = l.back
		return m.redraw()
	case "j", "down":
		l.scroll(1)
	case "k", "up":
		l.scroll(-1)
	}
	return nil
}
