package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/present"
)

// picked are the requests that are selected, as the list has them.
func (m *model) picked() (list []*item) {
	for _, r := range m.items.rows("") {
		if r.item != nil && m.marked[r.item.ID] {
			list = append(list, r.item)
		}
	}
	return list
}

// batchKey takes the keys that answer while requests are selected.
func (m *model) batchKey(key string) tea.Cmd {
	if m.link != live {
		m.told = "Not connected: no answer can be given now."
		return nil
	}
	switch key {
	case "esc":
		clear(m.marked)
	case "n", "d":
		d := &denying{several: requestsOf(m.picked())}
		return m.open(d)
	case "y", "a":
		return m.openBatch()
	case "s", "e":
		m.told = "Several are allowed once or denied; Esc selects none."
	}
	return nil
}

func requestsOf(list []*item) (out []sayso.Request) {
	for _, i := range list {
		out = append(out, i.Request)
	}
	return out
}

// membersOf names requests as they were shown, and their group if they have one
// in common.
func membersOf(list []sayso.Request) (members []sayso.Member, group string) {
	for i, r := range list {
		members = append(members, sayso.Member{ID: r.ID, Digest: r.Digest, Content: r.Content})
		if i == 0 {
			group = r.GroupID
		}
		if r.GroupID != group {
			group = ""
		}
	}
	return members, group
}

// batch asks about several requests at once: all of each is shown, and who comes
// later is not among them.
type batch struct {
	pager
	wanted []sayso.ID
	read   []lookedMsg
	loaded bool
	list   []sayso.Request // that wait still
	field  field
}

// batchMsg is all that is shown of the requests that were selected.
type batchMsg struct {
	of   *batch
	read []lookedMsg
}

func (m *model) openBatch() tea.Cmd {
	b := &batch{}
	for _, i := range m.picked() {
		b.wanted = append(b.wanted, i.ID)
	}
	in, ctx := m.door.Inbox, m.ctx
	return tea.Batch(m.open(b), func() tea.Msg {
		msg := batchMsg{of: b}
		for _, id := range b.wanted {
			r, content, err := readAll(ctx, in, id)
			msg.read = append(msg.read, lookedMsg{id, r, content, err})
		}
		return msg
	})
}

func (msg batchMsg) deliver(m *model) tea.Cmd {
	if m.panel != msg.of {
		return nil
	}
	b := msg.of
	b.read, b.loaded = msg.read, true
	for _, l := range b.read {
		if l.err == nil && l.request.State.Open() {
			b.list = append(b.list, l.request)
		}
	}
	b.layOut(m)
	return m.guard.changed(m.now)
}

// layOut draws the question: how many, the riskiest, each in a line, then each
// in full.
func (b *batch) layOut(m *model) {
	out := []string{paint(bold, "Allow "+words.Counted(len(b.list), "request")+", each once?")}
	if worst, ok := riskiest(b.list); ok {
		_, risk := m.risk(worst)
		out = append(out, listed("The riskiest is "+worst.ShortID+"  "+risk+"  ", worst, m.columns))
	}
	out = append(out, b.leftOut(m)...)
	out = append(out, "")
	for _, r := range b.list {
		shape, _ := m.risk(r)
		out = append(out, listed("  "+shape+" "+r.ShortID+"  "+words.Tool(r)+"  ", r, m.columns))
	}
	style := m.style()
	style.Columns = m.columns
	for _, l := range b.read {
		if l.err == nil && l.request.State.Open() {
			out = append(out, "", rule(m.columns))
			out = append(out, lines(viewOf(l.request, l.content), style)...)
		}
	}
	b.show(out, m.columns)
}

// leftOut says which of those selected are not asked about, and why.
func (b *batch) leftOut(m *model) (out []string) {
	ended := 0
	for _, l := range b.read {
		switch {
		case l.err != nil:
			out = append(out, m.color(yellow, cut(l.id.Short()+" could not be read and is left out: "+words.Safe(l.err.Error()), m.columns)))
		case !l.request.State.Open():
			ended++
		}
	}
	if ended > 0 {
		out = append(out, fmt.Sprintf("%d of those selected wait no longer and are left out.", ended))
	}
	return out
}

// riskiest is the request that deserves the longest look.
func riskiest(list []sayso.Request) (worst sayso.Request, ok bool) {
	weight := func(r sayso.Request) int {
		return slices.Index([]sayso.Risk{sayso.RiskSafe, sayso.RiskModerate, sayso.RiskDestructive}, r.Risk) + 10*len(r.Danger)
	}
	if len(list) == 0 {
		return worst, false
	}
	return slices.MaxFunc(list, func(a, b sayso.Request) int { return cmp.Compare(weight(a), weight(b)) }), true
}

func (b *batch) danger() (list []sayso.Danger) {
	for _, r := range b.list {
		for _, d := range r.Danger {
			if !slices.Contains(list, d) {
				list = append(list, d)
			}
		}
	}
	return list
}

// slow reports whether how many they are has to be typed now.
func (b *batch) slow() bool { return b.whole && len(b.danger()) > 0 }

func (*batch) page() bool { return true }

func (b *batch) keys(m *model) string {
	switch {
	case !b.loaded:
		return "reading all of them…  [esc] back"
	case len(b.list) == 0:
		return "there is none to allow  [esc] back"
	case !b.whole:
		return fmt.Sprintf("[space] look at all of them first, %d lines further down  [esc] back", b.below())
	case len(b.danger()) > 0:
		return m.ready("[enter] allow") + "  [esc] back"
	}
	return m.ready(fmt.Sprintf("[y] allow these %d", len(b.list))) + "  [esc] back"
}

func (b *batch) resize(m *model) tea.Cmd {
	if b.loaded {
		b.layOut(m)
	}
	return nil
}

func (b *batch) draw(m *model, columns, rows int) []string {
	danger := b.danger()
	if len(danger) == 0 {
		return b.pager.draw(rows)
	}
	out := append(b.pager.draw(rows-2), m.color(red, cut("Dangerous: "+strings.Join(present.Dangers(danger), ", ")+".", columns)))
	if !b.whole {
		return out
	}
	return append(out, "Type how many they are to allow them: "+b.field.draw(8))
}

func (b *batch) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	key := name(k)
	if cmd, ok := m.scrolls(&b.pager, key); ok {
		return cmd
	}
	switch {
	case key == "esc":
		return m.shut()
	case b.slow() && key == "enter":
		if b.field.String() != fmt.Sprint(len(b.list)) {
			m.told = "Not answered: that is not how many they are."
			return nil
		}
		return m.act(func() tea.Cmd { return b.send(m) })
	case b.slow():
		b.field.key(k)
	case b.whole && len(b.list) > 0 && (key == "y" || key == "a"):
		return m.act(func() tea.Cmd { return b.send(m) })
	}
	return nil
}

func (b *batch) send(m *model) tea.Cmd {
	members, group := membersOf(b.list)
	m.panel = nil
	clear(m.marked)
	return m.sendAll(members, group, sayso.Answer{Effect: sayso.Allow, Scope: sayso.ScopeOnce})
}
