// Package child starts a program whose standard input and output are ours, and
// that does not outlive us.
//
// The program runs in a process group of its own. Where the system can do so
// (Linux) it is killed with us, also when we are killed; elsewhere it sees its
// input end. A program that was told to end is waited for, then told by a signal,
// and then killed with all that is left in its group.
package child

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Command is a program to start.
type Command struct {
	Args   []string
	Dir    string   // where it runs; where we do if empty
	Env    []string // ours if nil
	Stderr io.Writer
}

// End is how a program ended.
type End struct {
	Status int
	Signal syscall.Signal // that ended it; zero for none
}

// Process is a program that runs.
type Process struct {
	In  *os.File // to it
	Out *os.File // from it

	cmd   *exec.Cmd
	ended chan struct{}
}

const (
	// leaving is how long a program has to end once its input has ended, and dying
	// how long after it was told to. Who has less patience tells us to end, and that
	// is handed on.
	leaving = 30 * time.Second
	dying   = 2 * time.Second
	// draining is how long the output of a program that has ended is still read.
	draining = time.Second
)

// Start starts a program.
func Start(c Command) (*Process, error) {
	theirs, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, ours, err := os.Pipe()
	if err != nil {
		_, _ = theirs.Close(), in.Close()
		return nil, err
	}
	p := &Process{In: in, Out: out, cmd: exec.Command(c.Args[0], c.Args[1:]...), ended: make(chan struct{})}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr, p.cmd.Dir, p.cmd.Env = theirs, ours, c.Stderr, c.Dir, c.Env
	p.cmd.SysProcAttr = apart()
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the system ends the program when this thread ends
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

// Ended is closed once the program has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Forward hands signals on to the program until it has ended.
func (p *Process) Forward(signals <-chan os.Signal) {
	for {
		select {
		case <-p.ended:
			return
		case sig, ok := <-signals:
			if !ok {
				return
			}
			if sig, ok := sig.(syscall.Signal); ok {
				p.Signal(sig)
			}
		}
	}
}

// Signal sends a signal to all that the program started and left in its group.
func (p *Process) Signal(sig syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, sig) // it may have ended
}

// Read has read read the output of the program, until it has ended. What others
// hold open that it started is not waited for. A program whose output could not be
// read to its end is stopped.
func (p *Process) Read(read func(io.Reader) error) error {
	done := make(chan error, 1)
	go func() { done <- read(p.Out) }()
	select {
	case err := <-done:
		if err != nil {
			p.Stop() // it said what must not be passed on
		}
		p.Leave()
		return err
	case <-p.ended:
	}
	select {
	case err := <-done:
		return err
	case <-time.After(draining):
		_ = p.Out.SetReadDeadline(time.Now())
		<-done
		return nil
	}
}

// Leave waits for a program that was told to end, and ends it if it does not.
func (p *Process) Leave() {
	for _, step := range []struct {
		wait time.Duration
		sig  syscall.Signal
	}{{leaving, syscall.SIGTERM}, {dying, syscall.SIGKILL}} {
		select {
		case <-p.ended:
			return
		case <-time.After(step.wait):
			p.Signal(step.sig)
		}
	}
	<-p.ended
}

// Stop ends the program at once.
func (p *Process) Stop() {
	p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Close ends what is left of the program's group, and the pipes.
func (p *Process) Close() {
	p.Signal(syscall.SIGKILL)
	_, _ = p.In.Close(), p.Out.Close()
}

// End waits for the end of the program and says how it was.
func (p *Process) End() End {
	<-p.ended
	state, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && state.Signaled() {
		return End{Status: 128 + int(state.Signal()), Signal: state.Signal()}
	}
	return End{Status: p.cmd.ProcessState.ExitCode()}
}
