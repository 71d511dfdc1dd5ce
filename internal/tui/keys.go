package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
)

// name is what a key is called here: letters are small, since people answer with
// either.
func name(k tea.KeyPressMsg) string {
	if k.Text != "" && k.Text != " " {
		return strings.ToLower(k.Text)
	}
	return k.Keystroke()
}

func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	m.alone = m.hold.pressed(name(k), m.now) && !k.IsRepeat
	if !m.typing() || k.Text == "" {
		m.guard.pressed(m.now)
	}
	if k.Code == tea.KeyEscape && m.now.Sub(m.guard.last) < escapes {
		m.alone = false
	}
	switch {
	case k.Keystroke() == "ctrl+c":
		return tea.Quit
	case m.small(): // nothing can be read, so that nothing can be meant
		if k.Text == "q" {
			return tea.Quit
		}
		return nil
	case m.panel != nil:
		return m.panel.key(m, k)
	}
	if cmd, ok := m.scrolls(&m.look.pager, name(k)); ok {
		return cmd
	}
	switch k.Text {
	case "X":
		m.mark(m.group()...)
		return nil
	case "x":
		m.mark(m.cursor)
		return nil
	}
	if cmd, ok := m.opens(name(k)); ok {
		return cmd
	}
	if !m.alone {
		return nil
	}
	return m.answers(name(k))
}

// opens takes the keys that only go somewhere.
func (m *model) opens(key string) (cmd tea.Cmd, ok bool) {
	switch key {
	case "q":
		return tea.Quit, true
	case "j", "down", "enter":
		return m.step(1), true
	case "k", "up":
		return m.step(-1), true
	case "v":
		m.open(&full{})
		return m.redraw(), true
	case "/":
		f := &filtering{was: m.filter}
		f.field.set(m.filter)
		return m.open(f), true
	case "?":
		return m.open(&help{}), true
	case "g":
		return m.openGrants(), true
	case "h":
		return m.openHistory(), true
	case "m":
		return m.openMode(), true
	}
	return nil, false
}

// answers takes the keys that answer, or that begin to.
func (m *model) answers(key string) tea.Cmd {
	if len(m.marked) > 0 {
		return m.batchKey(key)
	}
	i := m.items.byID[m.cursor]
	if i == nil {
		return nil
	}
	if !i.State.Open() {
		if key == "esc" {
			return m.act(func() tea.Cmd { return m.step(1) })
		}
		return nil
	}
	if why := m.deaf(); why != "" {
		m.told = why
		return nil
	}
	switch key {
	case "esc":
		return m.act(func() tea.Cmd { return m.send(sayso.Answer{Effect: sayso.Deny}) })
	case "n", "d":
		return m.ask(&denying{})
	case "y", "a", "s", "e":
		return m.allows(key)
	}
	return nil
}

// allows takes the keys that lead to a yes.
func (m *model) allows(key string) tea.Cmd {
	r := m.look.request
	if !m.look.whole {
		m.told = "Look at all of it first: Space goes down, End to its end."
		return nil
	}
	switch {
	case key == "s" && len(r.Covers) == 0:
		m.told = "A yes to this may not be remembered."
	case key == "s":
		return m.ask(&remembering{})
	case key == "e":
		return m.openEditor()
	case len(r.Danger) > 0:
		return m.ask(&slow{answer: sayso.Answer{Effect: sayso.Allow, Scope: sayso.ScopeOnce}, danger: r.Danger})
	default:
		return m.act(func() tea.Cmd { return m.send(sayso.Answer{Effect: sayso.Allow, Scope: sayso.ScopeOnce}) })
	}
	return nil
}

// deaf says why no answer can be given now; empty if one can.
func (m *model) deaf() string {
	switch {
	case m.link != live:
		return "Not connected: no answer can be given now."
	case m.look.failed != nil || !m.look.ready || m.look.id != m.cursor || m.look.columns == 0:
		return "Not yet: the request is being read."
	}
	return ""
}

// act does what answers, once it is certain that it was meant.
func (m *model) act(do func() tea.Cmd) tea.Cmd {
	if !m.guard.live || !m.alone {
		return nil
	}
	return m.hold.keep(m.guard.gen, do)
}

// open opens a panel. Keys that were on their way are not for it.
func (m *model) open(p panel) tea.Cmd {
	m.panel, m.of, m.told = p, subject{}, ""
	return m.guard.changed(m.now)
}

// ask opens a panel about the request that is looked at, and about no other.
func (m *model) ask(p panel) tea.Cmd {
	cmd := m.open(p)
	m.of = m.subject()
	return cmd
}

// shut closes the panel that is open.
func (m *model) shut() tea.Cmd {
	m.panel = nil
	return m.redraw()
}

// redraw draws what depends on the size of the screen.
func (m *model) redraw() tea.Cmd {
	m.follow()
	beat := m.guard.changed(m.now)
	if p, ok := m.panel.(interface{ resize(*model) tea.Cmd }); ok {
		beat = tea.Batch(beat, p.resize(m))
	}
	if m.look.ready && m.look.columns != m.detailColumns() {
		return m.drawLook()
	}
	return beat
}

// pasted is a text that was pasted: it is for fields, and never an answer.
func (m *model) pasted(text string) tea.Cmd {
	if p, ok := m.panel.(interface{ paste(*model, string) tea.Cmd }); ok {
		return p.paste(m, text)
	}
	return nil
}
