package gateway

import (
	"context"
	"io"
	"os"

	"github.com/sayso-dev/sayso/internal/child"
)

// Server is a server on this machine, as a client would start it.
type Server struct {
	Args   []string
	Stderr io.Writer
	// Signals are handed on to the server; nil for none.
	Signals <-chan os.Signal
}

// End is how a server ended.
type End = child.End

// Serve starts the server and relays between it and the client, whose ends are in
// and out, until the server has ended.
func (s Server) Serve(ctx context.Context, o Options, in io.Reader, out io.Writer) (End, error) {
	return child.Between(ctx, o.Name, child.Command{Args: s.Args, Stderr: s.Stderr}, s.Signals, in, func(to io.Writer) (child.Ways, error) {
		r, err := New(o, out, to)
		if err == nil {
			err = r.Begin(ctx)
		}
		if err != nil {
			return child.Ways{}, err
		}
		return child.Ways{In: r.FromClient, Out: r.FromServer, Close: func(ctx context.Context) { _ = r.Close(ctx) }}, nil // what it could not record is found by its lease
	})
}
