package tui

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sayso-dev/sayso"
)

// The least that the screen can be drawn in.
const (
	minColumns = 60
	minRows    = 16
)

// Door is an open inbox and where it is.
type Door struct {
	Inbox sayso.Inbox
	All   sayso.Inbox  // for what concerns all sessions; nil for Inbox
	Where string       // in words: "server /run/…", "database …"
	Close func() error // nil for nothing to close
	// Changed says in words which tools of MCP servers changed and wait to be
	// accepted; empty for none. Nil is for a gate of which that is not known.
	Changed func(context.Context) string
}

// Options say what the screen works with.
type Options struct {
	// Open opens the inbox: at the start, and again when it was lost.
	Open func(context.Context) (Door, error)
	// Facts finds out about the machine where an edited call would run.
	Facts func(context.Context, sayso.Call) sayso.Facts
	// Editor is the person's editor on a file.
	Editor func(path string) (*exec.Cmd, error)
	// Input and Output are the terminal.
	Input  io.Reader
	Output io.Writer
	// Environ is the environment, which says what the terminal can do.
	Environ []string
	// Highlight takes code apart for its colours; nil draws it without.
	Highlight func(code, language string) []sayso.Token
	// Plain draws without colours.
	Plain bool
	// Switched says in words which switch of this machine is turned, such as off or
	// locked; empty for none. Nil is for a machine whose switches are not known.
	Switched func() string
	// Now is the clock; nil for that of this machine.
	Now func() time.Time
}

// Run shows the screen until the person leaves it or ctx ends.
func Run(ctx context.Context, o Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	m := newModel(ctx, o)
	p := tea.NewProgram(m, tea.WithContext(context.WithoutCancel(ctx)), tea.WithInput(o.Input), tea.WithOutput(o.Output), tea.WithEnvironment(o.Environ),
		tea.WithoutSignalHandler()) // signals end ctx
	// A program that is left waits until nobody reads the terminal any more; one whose
	// context ends closes it under the reader.
	defer context.AfterFunc(ctx, p.Quit)()
	f := feed{open: o.Open, send: p.Send}
	fed := make(chan struct{})
	go func() { defer close(fed); f.run(ctx) }() // ends with ctx
	_, err := p.Run()
	stop()
	<-fed
	if m.failed != nil {
		return m.failed
	}
	if errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}
