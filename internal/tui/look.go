package tui

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/present"
)

// look is the request on the screen: all of it, as lines.
type look struct {
	id      sayso.ID
	request sayso.Request
	content sayso.RequestedFull
	ready   bool  // request and content are there
	failed  error // why they are not
	pager
}

// pager is a text that may be longer than its place.
type pager struct {
	lines   []string
	columns int // for which they were drawn
	top     int
	height  int  // of its place when it was last drawn
	whole   bool // its end was on the screen
}

type (
	lookedMsg struct {
		id      sayso.ID
		request sayso.Request
		content sayso.RequestedFull
		err     error
	}
	drawnMsg struct {
		id      sayso.ID
		content sayso.Digest
		columns int
		lines   []string
	}
)

// read reads a request with all of its content. Until both are there and drawn,
// and then for a moment, it takes no answer.
func (m *model) read(id sayso.ID) tea.Cmd {
	if m.look.id != id {
		m.look = look{id: id}
	}
	m.look.ready, m.look.failed = false, nil
	m.guard.changed(m.now)
	if m.link != live || id == "" {
		return nil
	}
	in, ctx := m.door.Inbox, m.ctx
	return func() tea.Msg {
		r, content, err := readAll(ctx, in, id)
		return lookedMsg{id, r, content, err}
	}
}

// readAll reads a request and everything that may be shown of it. Content that
// was erased, or that only those see who answer, is empty.
func readAll(ctx context.Context, in sayso.Inbox, id sayso.ID) (sayso.Request, sayso.RequestedFull, error) {
	r, err := in.Request(ctx, string(id))
	if err != nil || r.Erased {
		return r, sayso.RequestedFull{}, err
	}
	content, err := in.Content(ctx, id)
	if errors.Is(err, sayso.ErrNotAllowed) {
		err = nil
	}
	return r, content, err
}

func (m *model) looked(msg lookedMsg) tea.Cmd {
	if msg.id != m.look.id {
		return nil
	}
	m.look.failed = msg.err
	if msg.err != nil {
		return m.guard.changed(m.now)
	}
	if m.look.request.Content != msg.request.Content {
		m.look.pager = pager{}
	}
	m.look.request, m.look.content, m.look.ready = msg.request, msg.content, true
	m.items.put(msg.request, m.now)
	m.sort()
	return m.drawLook()
}

// drawLook draws the request at the width that there is. A long one takes its
// time, so that it is drawn beside.
func (m *model) drawLook() tea.Cmd {
	l := &m.look
	l.columns = 0
	beat := m.guard.changed(m.now)
	if !l.ready || m.columns < minColumns {
		return beat
	}
	columns, style := m.detailColumns(), m.style()
	style.Columns = columns
	r, content := l.request, l.content
	return tea.Batch(beat, func() tea.Msg {
		return drawnMsg{r.ID, r.Content, columns, lines(asked(r, content), style)}
	})
}

func (m *model) drawn(msg drawnMsg) tea.Cmd {
	l := &m.look
	if msg.id != l.id || msg.content != l.request.Content || msg.columns != m.detailColumns() {
		return nil
	}
	l.show(msg.lines, msg.columns)
	return m.guard.changed(m.now)
}

// style is how calls are drawn here.
func (m *model) style() present.Style {
	return present.Style{Color: !m.o.Plain, Highlight: m.o.Highlight}
}

// asked is a request as it is drawn where it is answered: how risky it is stands
// above it, always in sight; of what is dangerous as much as there is room for.
func asked(r sayso.Request, content sayso.RequestedFull) present.View {
	v := viewOf(r, content)
	v.Risk = ""
	return v
}

// viewOf is a request as it is drawn here: how long it waits stands elsewhere,
// where it can be counted down.
func viewOf(r sayso.Request, content sayso.RequestedFull) present.View {
	v := words.View(r, content)
	v.Title = r.ShortID + "  " + kinds[r.Kind]
	return v
}

// kinds are the kinds of calls in words.
var kinds = map[sayso.Kind]string{
	sayso.KindShell: "run a command", sayso.KindRead: "read a file", sayso.KindWrite: "write a file", sayso.KindEdit: "change a file",
	sayso.KindDelete: "delete a file", sayso.KindList: "list a folder", sayso.KindFetch: "fetch an address", sayso.KindSearch: "search",
	sayso.KindDelegate: "start another agent", sayso.KindMCP: "use a tool of a server", sayso.KindOther: "use a tool", "": "use a tool",
}

// lines are the lines of a view, drawn in full.
func lines(v present.View, style present.Style) []string {
	text, _ := present.Draw(v, style)
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// show takes other lines. What was seen to its end stays seen: it is the same
// text at another width.
func (p *pager) show(lines []string, columns int) {
	p.lines, p.columns = lines, columns
	p.scroll(0)
}

// scroll goes down by so many lines.
func (p *pager) scroll(by int) { p.top = max(min(p.top+by, len(p.lines)-p.height), 0) }

// reach notes that the end is on the screen, if it is.
func (p *pager) reach() {
	if p.height > 0 && len(p.lines) > 0 && p.top+p.height >= len(p.lines) {
		p.whole = true
	}
}

// key takes the keys that scroll, and reports whether it was one.
func (p *pager) key(name string) bool {
	page := max(p.height-2, 1)
	switch name {
	case "space", "pgdown", "ctrl+f":
		p.scroll(page)
	case "b", "pgup", "ctrl+b":
		p.scroll(-page)
	case "home":
		p.scroll(-len(p.lines))
	case "end":
		p.scroll(len(p.lines))
	default:
		return false
	}
	p.reach()
	return true
}

// scrolls takes the keys that scroll a text which is asked about. When they
// bring its end, the prompt is another one than before.
func (m *model) scrolls(p *pager, name string) (cmd tea.Cmd, ok bool) {
	whole := p.whole
	if !p.key(name) {
		return nil, false
	}
	if p.whole != whole {
		return m.guard.changed(m.now), true
	}
	return nil, true
}

// draw is what of it is on the screen now, in exactly so many rows.
func (p *pager) draw(rows int) []string {
	p.height = max(rows, 1)
	p.scroll(0)
	p.reach()
	out := slices.Clone(p.lines[p.top:min(p.top+p.height, len(p.lines))])
	return filled(out, p.height)
}

// below is how many lines are further down.
func (p *pager) below() int { return max(len(p.lines)-p.top-p.height, 0) }
