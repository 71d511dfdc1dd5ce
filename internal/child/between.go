package child

import (
	"context"
	"fmt"
	"io"
	"os"
)

// Ways are what stands between a program and whoever started us: what comes for the
// program goes in, and what it says goes out.
type Ways struct {
	In, Out func(context.Context, io.Reader) error // until there is no more
	Close   func(context.Context)                  // when the program says no more
}

// Between starts a program, called by a name where that fails, and stands between it and
// whoever writes to in, until the program has ended. open is told where the program
// reads; if it fails, the program ends.
func Between(ctx context.Context, name string, c Command, signals <-chan os.Signal, in io.Reader, open func(to io.Writer) (Ways, error)) (End, error) {
	p, err := Start(c)
	if err != nil {
		return End{}, fmt.Errorf("starting %s: %w", name, err)
	}
	defer p.Close()
	w, err := open(p.In)
	if err != nil {
		p.Stop()
		return End{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go p.Forward(signals)
	go func() {
		_ = w.In(ctx, in) // whatever ended it, nothing more comes
		_ = p.In.Close()  // which tells the program to end
		p.Leave()
	}()
	err = p.Read(func(from io.Reader) error { return w.Out(ctx, from) })
	cancel()
	w.Close(ctx)
	return p.End(), err
}
