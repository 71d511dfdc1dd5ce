package tui

import (
	"fmt"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
)

// subject is what an answer would be about: a request, as it was shown.
type subject struct {
	id      sayso.ID
	digest  sayso.Digest
	content sayso.Digest
}

func (m *model) subject() subject {
	return subject{m.look.id, m.look.request.Digest, m.look.request.Content}
}

// prompt is all that decides what a key means. While it is the same, so is what
// the key does.
type prompt struct {
	panel    panel
	subject  subject
	link     link
	small    bool
	ready    bool   // the request was read
	whole    bool   // its end was on the screen
	waits    bool   // it takes an answer still
	selected string // for an answer to several
}

func (m *model) prompt() prompt {
	selected := fmt.Sprint(slices.Sorted(maps.Keys(m.marked)))
	return prompt{m.panel, m.subject(), m.link, m.small(), m.look.ready, m.look.whole, m.waits(), selected}
}

// guarded shuts a panel whose request is another one by now, and closes the guard
// if keys mean something else than before. Whatever changes the screen, a key that
// was on its way does not answer what is there instead.
func (m *model) guarded() (cmd tea.Cmd) {
	if m.panel != nil && m.of != (subject{}) && m.of != m.subject() {
		cmd = m.shut()
		m.told = "Not answered: the request that this was about is not the one on the screen any more."
	}
	now := m.prompt()
	if now == m.was {
		return cmd
	}
	m.was = now
	return tea.Batch(cmd, m.guard.changed(m.now))
}
