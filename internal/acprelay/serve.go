package acprelay

import (
	"context"
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
	return child.Between(ctx, "the agent", child.Command{Args: a.Args, Stderr: a.Stderr}, a.Signals, in, func(to io.Writer) (child.Ways, error) {
		r, err := New(o, out, to)
		if err != nil {
			return child.Ways{}, err
		}
		return child.Ways{In: r.FromEditor, Out: r.FromAgent, Close: r.Close}, nil
	})
}
