package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
)

// order are the requests of the list, one after the other.
func (m *model) order() []sayso.ID {
	var ids []sayso.ID
	for _, r := range m.list {
		if r.item != nil {
			ids = append(ids, r.item.ID)
		}
	}
	return ids
}

// first looks at the first request that waits.
func (m *model) first() tea.Cmd {
	for _, r := range m.list {
		if r.item != nil && r.item.State.Open() {
			return m.choose(r.item.ID)
		}
	}
	return m.choose("")
}

// choose looks at another request. What ended, and was looked at, goes.
func (m *model) choose(id sayso.ID) tea.Cmd {
	m.cursor, m.told = id, ""
	m.items.sweep(id)
	m.sort()
	return m.read(id)
}

// step goes to the next request that waits, or the one before.
func (m *model) step(by int) tea.Cmd {
	ids := m.order()
	at := slices.Index(ids, m.cursor)
	for i := at + by; i >= 0 && i < len(ids); i += by {
		if m.items.byID[ids[i]].State.Open() {
			return m.choose(ids[i])
		}
	}
	if i := m.items.byID[m.cursor]; i == nil || !i.State.Open() {
		return m.first()
	}
	return nil
}

// follow keeps the request that is looked at among the rows that are drawn.
func (m *model) follow() {
	height := m.listRows()
	at := slices.IndexFunc(m.list, func(r row) bool { return r.item != nil && r.item.ID == m.cursor })
	if at > 0 && m.list[at-1].item == nil && at-1 < m.top {
		m.top = at - 1
	}
	if at >= 0 {
		m.top = min(m.top, at)
		m.top = max(m.top, at-height+1)
	}
	m.top = max(min(m.top, len(m.list)-height), 0)
}

// mark selects a request for an answer to several, or lets go of it.
func (m *model) mark(ids ...sayso.ID) {
	all := true
	for _, id := range ids {
		all = all && m.marked[id]
	}
	for _, id := range ids {
		if i := m.items.byID[id]; i == nil || !i.State.Open() {
			continue
		}
		if m.marked[id] = !all; all {
			delete(m.marked, id)
		}
	}
}

// group are the requests in the group of the one that is looked at.
func (m *model) group() (ids []sayso.ID) {
	at := m.items.byID[m.cursor]
	for _, r := range m.list {
		if at != nil && r.item != nil && keyOf(r.item) == keyOf(at) {
			ids = append(ids, r.item.ID)
		}
	}
	return ids
}
