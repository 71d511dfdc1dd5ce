package acprelay

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/sayso-dev/sayso/internal/child"
)

// Agent is an agent on this machine, as an editor would start it.
type Agent struct {
	Args   []string
	Stderr io.Writer
	// Signals are handed on to the agent; nil for none.
	Signals <-chan os.Signal
}

// Serve starts the agent and relays between it and the editor, whose ends are in and
// out, until the agent has ended. What in has is read until it ends, which may be
// after that.
func (a Agent) Serve(ctx context.Context, o Options, in io.Reader, out io.Writer) (child.End, error) {
	p, err := child.Start(child.Command{Args: a.Args, Stderr: a.Stderr})
	if err != nil {
		return child.End{}, fmt.Errorf("starting the agent: %w", err)
	}
	defer p.Close()
	r, err := New(o, out, p.In)
	if err != nil {
		p.Stop()
		return child.End{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go p.Forward(a.Signals)
	go func() {
		_ = r.FromEditor(ctx, in) // whatever ended it, nothing more comes
		_ = p.In.Close()          // which tells the agent to end
		p.Leave()
	}()
	err = p.Read(func(from io.Reader) error { return r.FromAgent(ctx, from) })
	cancel()
	r.Close(ctx)
	return p.End(), err
}
