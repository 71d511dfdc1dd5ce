package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
)

// link is how it stands with the inbox.
type link int

const (
	connecting link = iota
	live
	lost
)

// model is all that the screen knows. It is changed by [model.Update] alone.
type model struct {
	o   Options
	ctx context.Context

	columns, rows int
	link          link
	door          Door
	failed        error // why the screen ended
	now           time.Time
	mode          sayso.ModeState
	modeEnd       time.Time
	switched      string // which switch is turned, in words
	changed       string // which tools changed, in words

	items  items
	list   []row // as it is drawn
	filter string
	cursor sayso.ID // of the request that is looked at
	top    int      // first row of the list that is drawn
	marked map[sayso.ID]bool
	look   look
	guard  guard
	hold   hold
	alone  bool // the key that is taken was not one of several at once
	panel  panel
	of     subject // what the panel is about; zero for none
	was    prompt  // when the guard last looked
	told   string  // what became of an answer
	away   away
}

// away counts what happened while the connection was lost.
type away struct {
	lost       bool // it is now
	came, went int
	until      time.Time // it is shown so long
}

// panel is what is open beside the list: a question, or another page.
type panel interface {
	// key takes a key. Esc is a panel's own: it closes that and no more.
	key(m *model, k tea.KeyPressMsg) tea.Cmd
	// draw returns the lines, for so many columns and rows.
	draw(m *model, columns, rows int) []string
	// keys is the line of keys.
	keys(m *model) string
	// page reports whether it takes the place of the list.
	page() bool
}

func newModel(ctx context.Context, o Options) *model {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Switched == nil {
		o.Switched = func() string { return "" }
	}
	return &model{o: o, ctx: ctx, now: o.Now(), switched: o.Switched(), items: newItems(nil, time.Time{}), marked: map[sayso.ID]bool{}}
}

type secondMsg struct{}

func everySecond() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return secondMsg{} })
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return everySecond() }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.now = m.o.Now()
	before := m.guarded() // drawing may have changed what keys mean, too
	cmd := m.update(msg)
	return m, tea.Batch(before, cmd, m.guarded())
}

func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.columns, m.rows = msg.Width, msg.Height
		return m.redraw()
	case tea.FocusMsg, tea.ResumeMsg:
		return m.guard.changed(m.now) // keys that were meant for another window
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		m.hold.pressed("", m.now)
		m.guard.pressed(m.now)
		return m.pasted(msg.Content)
	case beatMsg:
		return m.guard.beats(msg, m.now)
	case heldMsg:
		return m.hold.release(msg, &m.guard)
	case secondMsg:
		m.switched = m.o.Switched()
		return tea.Batch(everySecond(), m.modeOver())
	}
	return m.heard(msg)
}

// heard takes what comes from the inbox.
func (m *model) heard(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case connectedMsg:
		return m.connected(msg)
	case eventsMsg:
		return m.events(msg)
	case changedMsg:
		m.changed = string(msg)
	case modeMsg:
		m.setMode(sayso.ModeState(msg))
	case lostMsg:
		if m.link == live {
			m.away = away{lost: true}
		}
		m.link, m.door = lost, Door{}
	case failedMsg:
		m.failed = msg.err
		return tea.Quit
	case lookedMsg:
		return m.looked(msg)
	case drawnMsg:
		return m.drawn(msg)
	case answeredMsg:
		return m.answered(msg)
	case editedMsg:
		return msg.took(m)
	case forPanel:
		if m.panel != nil {
			return msg.deliver(m)
		}
	}
	return nil
}

// forPanel is a message for the panel that asked for something.
type forPanel interface{ deliver(m *model) tea.Cmd }

func (m *model) connected(msg connectedMsg) tea.Cmd {
	m.link, m.door, m.changed = live, msg.door, msg.changed
	m.setMode(msg.mode)
	if m.away.lost {
		m.away = away{until: m.now.Add(10 * time.Second)}
	}
	if msg.fresh {
		m.items = newItems(msg.open, m.now)
		clear(m.marked)
	}
	m.sort()
	if m.cursor == "" || m.items.byID[m.cursor] == nil {
		return m.first()
	}
	return m.read(m.cursor) // the inbox may be another one
}

// modeOver asks what holds once the end of the mode has come.
func (m *model) modeOver() tea.Cmd {
	if m.modeEnd.IsZero() || m.now.Before(m.modeEnd) || m.link != live {
		return nil
	}
	m.modeEnd = time.Time{}
	in, ctx := m.door.Inbox, m.ctx
	return func() tea.Msg {
		mode, err := in.Mode(ctx, "")
		if err != nil {
			return nil // the log ends too, which is told
		}
		return modeMsg(mode)
	}
}

func (m *model) setMode(s sayso.ModeState) {
	m.mode, m.modeEnd = s, time.Time{}
	if s.Left > 0 {
		m.modeEnd = m.now.Add(s.Left)
	}
}

// events folds what happened.
func (m *model) events(list []sayso.Event) tea.Cmd {
	before := m.items.open()
	for _, e := range list {
		m.items.apply(e, m.now)
	}
	m.items.sweep(m.cursor)
	for id := range m.marked {
		if i := m.items.byID[id]; i == nil || !i.State.Open() {
			delete(m.marked, id)
		}
	}
	came, went := differ(before, m.items.open())
	m.sort()
	var cmds []tea.Cmd
	if came > 0 {
		cmds = append(cmds, tea.Raw("\a"))
	}
	if m.now.Before(m.away.until) {
		m.away.came, m.away.went = m.away.came+came, m.away.went+went
	}
	if m.cursor == "" {
		cmds = append(cmds, m.first())
	}
	if p, ok := m.panel.(interface {
		hear(m *model, list []sayso.Event) tea.Cmd
	}); ok {
		cmds = append(cmds, p.hear(m, list))
	}
	return tea.Batch(cmds...)
}

// differ counts what came and what went.
func differ(before, after map[sayso.ID]bool) (came, went int) {
	for id := range after {
		if !before[id] {
			came++
		}
	}
	for id := range before {
		if !after[id] {
			went++
		}
	}
	return came, went
}

// sort makes the list anew. The request that is looked at stays on the screen.
func (m *model) sort() {
	m.list = m.items.rows(m.filter)
	m.follow()
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen, v.ReportFocus = true, true
	v.WindowTitle = m.title()
	return v
}
