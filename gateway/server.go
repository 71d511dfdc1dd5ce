package gateway

import (
	"context"
	"fmt"
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
	p, err := child.Start(child.Command{Args: s.Args, Stderr: s.Stderr})
	if err != nil {
		return End{}, fmt.Errorf("starting %s: %w", o.Name, err)
	}
	defer p.Close()
	r, err := New(o, out, p.In)
	if err == nil {
		err = r.Begin(ctx)
	}
	if err != nil {
		p.Stop()
		return End{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go p.Forward(s.Signals)
	go func() {
		_ = r.FromClient(ctx, in) // whatever ended it, nothing more comes
		_ = p.In.Close()          // which tells the server to end
		p.Leave()
	}()
	err = p.Read(func(from io.Reader) error { return r.FromServer(ctx, from) })
	cancel()
	_ = r.Close(ctx) // what it could not record is found by its lease
	return p.End(), err
}
