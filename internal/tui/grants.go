package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
)

// grants is the page of what is remembered.
type grants struct {
	list   []sayso.Grant
	cursor sayso.ID
	top    int
	asks   sayso.ID // that is to be revoked, once it is said again
	told   string
	loaded bool
	calls  map[sayso.ID]string // by the request of a grant: what was asked then
}

type (
	grantsMsg struct {
		list []sayso.Grant
		err  error
	}
	givenMsg struct {
		request sayso.ID
		call    string
	}
	revokedMsg struct {
		grant sayso.Grant
		err   error
	}
)

func (m *model) openGrants() tea.Cmd {
	g := &grants{calls: map[sayso.ID]string{}}
	return tea.Batch(m.open(g), g.load(m))
}

func (*grants) page() bool { return true }

func (g *grants) load(m *model) tea.Cmd {
	if m.link != live {
		g.told = "Not connected."
		return nil
	}
	in, ctx := m.door.Inbox, m.ctx
	return func() tea.Msg {
		list, err := in.Grants(ctx, "", false)
		return grantsMsg{list, err}
	}
}

// hear reads the grants again when one came, was used or ended.
func (g *grants) hear(m *model, events []sayso.Event) tea.Cmd {
	for _, e := range events {
		switch e.Type {
		case sayso.EventGrantCreated, sayso.EventGrantUsed, sayso.EventGrantRevoked, sayso.EventGrantEnded:
			return g.load(m)
		}
	}
	return nil
}

func (msg grantsMsg) deliver(m *model) tea.Cmd {
	g, ok := m.panel.(*grants)
	if !ok {
		return nil
	}
	g.loaded = true
	if msg.err != nil {
		g.told = "They cannot be read: " + words.Safe(msg.err.Error())
		return nil
	}
	if g.list = msg.list; g.at() < 0 {
		g.cursor, g.asks = "", ""
		if len(g.list) > 0 {
			g.cursor = g.list[0].ID
		}
	}
	return tea.Batch(m.guard.changed(m.now), g.given(m))
}

// given reads the call that the grant was given for which is looked at.
func (g *grants) given(m *model) tea.Cmd {
	if g.at() < 0 || m.link != live {
		return nil
	}
	id := g.list[g.at()].Request
	if _, known := g.calls[id]; known {
		return nil
	}
	in, ctx := m.door.Inbox, m.ctx
	return func() tea.Msg {
		r, err := in.Request(ctx, string(id))
		if err != nil {
			return givenMsg{id, ""} // it may be too old to be kept
		}
		return givenMsg{id, words.Tool(r) + "  " + words.Row(r, mostGiven)}
	}
}

// mostGiven is how much is shown of the call that a grant was given for.
const mostGiven = 400

func (msg givenMsg) deliver(m *model) tea.Cmd {
	if g, ok := m.panel.(*grants); ok {
		g.calls[msg.request] = msg.call
	}
	return nil
}

func (msg revokedMsg) deliver(m *model) tea.Cmd {
	g, ok := m.panel.(*grants)
	if !ok {
		return nil
	}
	g.told = "Revoked " + msg.grant.ShortID + ": " + words.Safe(msg.grant.Label)
	if msg.err != nil {
		g.told = "Not revoked: " + words.Safe(msg.err.Error())
	}
	return g.load(m)
}

func (g *grants) at() int {
	return slices.IndexFunc(g.list, func(x sayso.Grant) bool { return x.ID == g.cursor })
}

func (g *grants) keys(m *model) string {
	switch {
	case g.asks != "":
		return m.ready("[y] revoke it") + "  [esc] back"
	case len(g.list) == 0:
		return "[esc] close"
	}
	return "[j k] next, previous  [r] revoke…  [esc] close"
}

func (g *grants) draw(m *model, columns, rows int) []string {
	out := []string{paint(bold, "Remembered: ") + words.Counted(len(g.list), "grant")}
	if g.told != "" {
		out = append(out, cut(g.told, columns))
	}
	out = append(out, "")
	if g.loaded && len(g.list) == 0 {
		return append(out, "Nothing is remembered.")
	}
	foot := g.detail(m, columns)
	height := max(rows-len(out)-len(foot), 1)
	g.top = max(min(g.top, g.at()), g.at()-height+1, 0)
	for i := g.top; i < min(g.top+height, len(g.list)); i++ {
		x := g.list[i]
		mark := "  "
		if x.ID == g.cursor {
			mark = paint(bold, "▸ ")
		}
		out = append(out, cut(mark+x.ShortID+"  "+fit(words.Safe(x.Tool), 12)+"  "+words.GrantCovers(x), columns))
	}
	return append(out, foot...)
}

// detail is all of the grant that is looked at.
func (g *grants) detail(m *model, columns int) []string {
	if g.at() < 0 {
		return nil
	}
	x := g.list[g.at()]
	out := []string{"", rule(columns)}
	for _, f := range [][2]string{
		{"covers", words.GrantCovers(x)}, {"tool", words.Safe(x.Tool)}, {"session", words.Safe(x.SessionID)}, {"given by", words.Safe(x.By.Principal)},
		{"for", strings.TrimSpace(x.Request.Short() + "  " + g.calls[x.Request])}, {"used", words.GrantUses(x)}, {"ends", m.grantEnds(x)},
	} {
		for n, line := range wrapped(f[1], columns-12) {
			label := f[0]
			if n > 0 {
				label = ""
			}
			out = append(out, fit("  "+label, 12)+line)
		}
	}
	if g.asks != "" {
		out = append(out, m.color(yellow, "Revoke "+x.ShortID+"? What it covered is asked about again."))
	}
	return out
}

// grantEnds is when a grant ends, counting down where it has a time.
func (m *model) grantEnds(g sayso.Grant) string {
	if g.ExpiresAt == nil || g.Ended != "" {
		return words.GrantEnds(g)
	}
	return fmt.Sprintf("%s, in %s", words.GrantEnds(g), words.Span(max(g.ExpiresAt.Sub(m.now), 0)))
}

func (g *grants) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	key := name(k)
	if g.asks != "" {
		switch key {
		case "y":
			return m.act(func() tea.Cmd { return g.revoke(m) })
		case "esc", "n":
			g.asks = ""
		}
		return nil
	}
	switch at := g.at(); key {
	case "esc", "q", "g":
		return m.shut()
	case "j", "down":
		return g.move(m, at+1)
	case "k", "up":
		return g.move(m, at-1)
	case "r":
		if at >= 0 {
			g.asks, g.told = g.cursor, ""
			return m.guard.changed(m.now)
		}
	}
	return nil
}

func (g *grants) move(m *model, to int) tea.Cmd {
	if to >= 0 && to < len(g.list) {
		g.cursor = g.list[to].ID
	}
	return g.given(m)
}

func (g *grants) revoke(m *model) tea.Cmd {
	at := slices.IndexFunc(g.list, func(x sayso.Grant) bool { return x.ID == g.asks })
	g.asks = ""
	if at < 0 || m.link != live {
		g.told = "Not revoked: it is gone already, or the connection is."
		return nil
	}
	in, ctx, grant := m.door.Inbox, m.ctx, g.list[at]
	return func() tea.Msg { return revokedMsg{grant, in.Revoke(ctx, grant.ID)} }
}
