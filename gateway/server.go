package gateway

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Server is a server on this machine, as a client would start it.
type Server struct {
	Args   []string
	Stderr io.Writer
	// Signals are handed on to the server; nil for none.
	Signals <-chan os.Signal
}

const (
	// leaving is how long a server has to end once nobody sends anything any more,
	// and dying how long after it was told to. A client that has less patience tells
	// us to end, and that is handed on.
	leaving = 30 * time.Second
	dying   = 2 * time.Second
	// draining is how long the output of a server that has ended is still read.
	draining = time.Second
)

// End is how a server ended.
type End struct {
	Status int
	Signal syscall.Signal // that ended it; zero for none
}

// process is a server that runs.
type process struct {
	cmd   *exec.Cmd
	in    *os.File // to it
	out   *os.File // from it
	ended chan struct{}
}

// Serve starts the server and relays between it and the client, whose ends are in
// and out, until the server has ended.
func (s Server) Serve(ctx context.Context, o Options, in io.Reader, out io.Writer) (End, error) {
	p, err := s.start()
	if err != nil {
		return End{}, fmt.Errorf("starting %s: %w", o.Name, err)
	}
	defer p.close()
	r, err := New(o, out, p.in)
	if err == nil {
		err = r.Begin(ctx)
	}
	if err != nil {
		p.stop()
		return End{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go s.forward(p)
	go func() {
		_ = r.FromClient(ctx, in) // whatever ended it, nothing more comes
		_ = p.in.Close()          // which tells the server to end
		p.leave()
	}()
	err = p.relay(ctx, r)
	cancel()
	_ = r.Close(ctx) // what it could not record is found by its lease
	return p.end(), err
}

// relay relays what the server sends until it has ended. What others hold open
// that it started is not waited for.
func (p *process) relay(ctx context.Context, r *Relay) error {
	done := make(chan error, 1)
	go func() { done <- r.FromServer(ctx, p.out) }()
	select {
	case err := <-done:
		if err != nil {
			p.stop() // it said what must not be passed on
		}
		p.leave()
		return err
	case <-p.ended:
	}
	select {
	case err := <-done:
		return err
	case <-time.After(draining):
		_ = p.out.SetReadDeadline(time.Now())
		<-done
		return nil
	}
}

// start starts the server.
func (s Server) start() (*process, error) {
	theirs, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, ours, err := os.Pipe()
	if err != nil {
		_, _ = theirs.Close(), in.Close()
		return nil, err
	}
	p := &process{cmd: exec.Command(s.Args[0], s.Args[1:]...), in: in, out: out, ended: make(chan struct{})}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs, ours, s.Stderr
	p.cmd.SysProcAttr = apart()
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the system ends the server when this thread ends
		err := p.cmd.Start()
		_, _ = theirs.Close(), ours.Close()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended is in its state
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		_, _ = in.Close(), out.Close()
		return nil, err
	}
	return p, nil
}

// forward hands signals on to the server.
func (s Server) forward(p *process) {
	for {
		select {
		case <-p.ended:
			return
		case sig, ok := <-s.Signals:
			if !ok {
				return
			}
			if sig, ok := sig.(syscall.Signal); ok {
				p.signal(sig)
			}
		}
	}
}

// signal sends a signal to all that the server started and left in its group.
func (p *process) signal(sig syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, sig) // it may have ended
}

// leave waits for a server that was told to end, and ends it if it does not.
func (p *process) leave() {
	for _, step := range []struct {
		wait time.Duration
		sig  syscall.Signal
	}{{leaving, syscall.SIGTERM}, {dying, syscall.SIGKILL}} {
		select {
		case <-p.ended:
			return
		case <-time.After(step.wait):
			p.signal(step.sig)
		}
	}
	<-p.ended
}

// stop ends the server at once.
func (p *process) stop() {
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// close ends what is left of the server's group, and the pipes.
func (p *process) close() {
	p.signal(syscall.SIGKILL)
	_, _ = p.in.Close(), p.out.Close()
}

// end is how the server ended.
func (p *process) end() End {
	<-p.ended
	state, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && state.Signaled() {
		return End{Status: 128 + int(state.Signal()), Signal: state.Signal()}
	}
	return End{Status: p.cmd.ProcessState.ExitCode()}
}
