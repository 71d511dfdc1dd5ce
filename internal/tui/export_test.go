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

// Inert is how long a prompt takes no answers.
const Inert = inert

// Feed follows the log for a program.
func Feed(ctx context.Context, open func(context.Context) (Door, error), send func(tea.Msg)) {
	f := feed{open: open, send: send}
	f.run(ctx)
}

// Lost says that the inbox is gone, Back that it is there again.
func Lost() tea.Msg       { return lostMsg{sayso.ErrUnavailable} }
func Back(d Door) tea.Msg { return connectedMsg{door: d} }
