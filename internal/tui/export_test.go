package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
)

// What tests of the program at work look at.
var (
	NewModel = newModel
	Reasons  = reasons
)

// Patience is how long an answer may take.
const Patience = patience

// Feed follows the log for a program.
func Feed(ctx context.Context, open func(context.Context) (Door, error), send func(tea.Msg)) {
	f := feed{open: open, send: send}
	f.run(ctx)
}

// Lost says that the inbox is gone, Back that it is there again, Fresh that it is
// there with another log.
func Lost() tea.Msg { return lostMsg{sayso.ErrUnavailable} }
func Fresh(d Door, open []sayso.Request) tea.Msg {
	return connectedMsg{door: d, fresh: true, open: open}
}
func Back(d Door) tea.Msg { return connectedMsg{door: d} }

// Changed is what a message says of tools that changed.
func Changed(m tea.Msg) (text string, ok bool) {
	switch m := m.(type) {
	case connectedMsg:
		return m.changed, true
	case changedMsg:
		return string(m), true
	}
	return "", false
}

// ToolsChanged says which tools changed.
func ToolsChanged(text string) tea.Msg { return changedMsg(text) }
