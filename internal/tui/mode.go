package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
)

// modes are what may happen to calls that would be asked about.
var modes = []struct {
	mode sayso.Mode
	says string
}{
	{sayso.ModeInteractive, "people are asked"},
	{sayso.ModeStrict, "whatever would be asked is denied"},
	{sayso.ModeApproveAll, "whatever would be asked is allowed, unseen"},
}

// spans are how long a mode may hold; zero is until it is changed.
var spans = []time.Duration{0, 15 * time.Minute, 30 * time.Minute, 2 * time.Hour, 8 * time.Hour}

// moding is the page on which the mode is changed, of one session or of all.
type moding struct {
	session  string // of the request that was looked at, empty for none
	all      bool   // it is for all sessions
	now      sayso.ModeState
	ends     time.Time
	read     bool
	at, span int
	sure     *field // the mode is typed to confirm it; nil before that is asked
	told     string
}

type (
	modeReadMsg struct {
		of    *moding
		all   bool
		state sayso.ModeState
		err   error
	}
	modeSetMsg struct {
		of  *moding
		err error
	}
)

func (m *model) openMode() tea.Cmd {
	p := &moding{all: true}
	if i := m.items.byID[m.cursor]; i != nil {
		p.session, p.all = i.SessionID, i.SessionID == ""
	}
	return tea.Batch(m.open(p), p.load(m))
}

func (*moding) page() bool { return true }

// of is the session whose mode it is; empty for all.
func (p *moding) of() string {
	if p.all {
		return ""
	}
	return p.session
}

func (p *moding) load(m *model) tea.Cmd {
	p.read = false
	if m.link != live {
		p.told = "Not connected."
		return nil
	}
	in, ctx, session, all := m.door.Inbox, m.ctx, p.of(), p.all
	return func() tea.Msg {
		state, err := in.Mode(ctx, session)
		return modeReadMsg{p, all, state, err}
	}
}

// hear reads the mode again when one was changed.
func (p *moding) hear(m *model, events []sayso.Event) tea.Cmd {
	for _, e := range events {
		if e.Type == sayso.EventModeChanged {
			return p.load(m)
		}
	}
	return nil
}

func (msg modeReadMsg) deliver(m *model) tea.Cmd {
	p := msg.of
	if m.panel != p || msg.all != p.all {
		return nil
	}
	if msg.err != nil {
		p.told = "It cannot be read: " + words.Safe(msg.err.Error())
		return nil
	}
	p.read, p.now, p.ends = true, msg.state, time.Time{}
	if msg.state.Left > 0 {
		p.ends = m.now.Add(msg.state.Left)
	}
	return nil
}

func (msg modeSetMsg) deliver(m *model) tea.Cmd {
	p := msg.of
	if m.panel != p {
		return nil
	}
	p.told = "The mode is changed."
	if msg.err != nil {
		p.told = "Not changed: " + words.Safe(msg.err.Error())
	}
	return tea.Batch(p.load(m), m.guard.changed(m.now))
}

// lasts is how long the mode would hold. The one in which nobody looks has an end.
func (p *moding) lasts() time.Duration {
	switch modes[p.at].mode {
	case sayso.ModeInteractive:
		return 0
	case sayso.ModeApproveAll:
		return max(spans[p.span], spans[1])
	}
	return spans[p.span]
}

func (p *moding) keys(m *model) string {
	if p.sure != nil {
		return m.ready("[enter] set it") + "  [esc] back"
	}
	keys := m.ready("[enter] set it") + "  [j k] mode"
	if modes[p.at].mode != sayso.ModeInteractive {
		keys += "  [t] time"
	}
	if p.session != "" {
		keys += "  [s] session or all"
	}
	return keys + "  [esc] close"
}

func (p *moding) draw(m *model, columns, _ int) []string {
	out := []string{cut(paint(bold, "Mode of "+p.whose()+": ")+p.inForce(m), columns), ""}
	for i, mode := range modes {
		mark := "   "
		if i == p.at {
			mark = paint(bold, " ▸ ")
		}
		out = append(out, cut(mark+fit(string(mode.mode), 13)+mode.says, columns))
	}
	if modes[p.at].mode != sayso.ModeInteractive {
		out = append(out, "", "   how long    "+p.howLong(m))
	}
	if p.sure != nil {
		out = append(out, "", m.color(yellow, cut("Nobody will look at what would be asked. No denial of the policy is lifted.", columns)),
			"Type "+paint(bold, string(modes[p.at].mode))+" to set it: "+p.sure.draw(16))
	}
	if p.told != "" {
		out = append(append(out, ""), wrapped(p.told, columns)...)
	}
	return out
}

func (p *moding) whose() string {
	if p.all {
		return "all sessions"
	}
	return "session " + words.Safe(p.session)
}

// inForce is the mode that holds now, with its end.
func (p *moding) inForce(m *model) string {
	if !p.read {
		return "reading…"
	}
	text := string(p.now.Mode)
	if text == "" {
		text = string(sayso.ModeInteractive)
	}
	if !p.ends.IsZero() {
		text += ", for " + words.Span(max(p.ends.Sub(m.now), 0)) + " more"
	}
	return text
}

func (p *moding) howLong(m *model) string {
	d := p.lasts()
	if d == 0 {
		return "until it is changed"
	}
	return words.Span(d) + ", until " + m.now.Add(d).Local().Format("15:04")
}

func (p *moding) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	if p.sure != nil {
		return p.confirms(m, k)
	}
	switch name(k) {
	case "esc", "q", "m":
		return m.shut()
	case "j", "down":
		return p.choose(m, min(p.at+1, len(modes)-1))
	case "k", "up":
		return p.choose(m, max(p.at-1, 0))
	case "t":
		if p.span = (p.span + 1) % len(spans); modes[p.at].mode == sayso.ModeApproveAll {
			p.span = max(p.span, 1)
		}
		return m.guard.changed(m.now)
	case "s":
		if p.session == "" {
			return nil
		}
		p.all = !p.all
		return tea.Batch(m.guard.changed(m.now), p.load(m))
	case "enter":
		if modes[p.at].mode == sayso.ModeApproveAll {
			p.sure = &field{}
			return m.guard.changed(m.now)
		}
		return m.act(func() tea.Cmd { return p.set(m) })
	}
	return nil
}

// choose goes to another mode, which Enter then means.
func (p *moding) choose(m *model, at int) tea.Cmd {
	p.at, p.span, p.told = at, 0, ""
	if modes[at].mode == sayso.ModeApproveAll {
		p.span = 1
	}
	return m.guard.changed(m.now)
}

// confirms takes the word that is typed before nobody looks any more.
func (p *moding) confirms(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch k.Keystroke() {
	case "esc":
		p.sure = nil
		return m.guard.changed(m.now)
	case "enter":
		if p.sure.String() != string(modes[p.at].mode) {
			p.told = "Not changed: that is not " + string(modes[p.at].mode) + "."
			return nil
		}
		return m.act(func() tea.Cmd { return p.set(m) })
	}
	p.sure.key(k)
	return nil
}

func (p *moding) set(m *model) tea.Cmd {
	p.sure = nil
	if m.link != live {
		p.told = "Not changed: the connection is lost."
		return nil
	}
	p.told = "Sending…"
	in, ctx, session, mode, d := m.door.Inbox, m.ctx, p.of(), modes[p.at].mode, p.lasts()
	if p.all && m.door.All != nil {
		in = m.door.All
	}
	return func() tea.Msg {
		ctx, stop := context.WithTimeout(ctx, patience)
		defer stop()
		return modeSetMsg{p, in.SetMode(ctx, session, mode, d)}
	}
}
