package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/child"
	driver "github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/hook"
	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/words"
)

// driven is a host that is started and driven by a command of ours.
type driven struct {
	host    install.Host
	program string   // that the person named; empty for the one in PATH
	prompt  string   // what the person says; read from the standard input if empty
	args    []string // of the host
}

// drivenArgs takes the arguments of a driver apart: what the person says in front
// of --, and what the host is given behind it.
func drivenArgs(c *cobra.Command, args []string) (prompt string, own []string, err error) {
	before := args
	if at := c.ArgsLenAtDash(); at >= 0 {
		before, own = args[:at], args[at:]
	}
	switch len(before) {
	case 0:
		return "", own, nil
	case 1:
		return before[0], own, nil
	}
	return "", nil, usage(errors.New("what you say to the agent is one argument"), "sayso "+c.Name()+" \"PROMPT\" -- ARGS")
}

// driveable finds the program of a host, if it is one that the gate holds in.
func (a *app) driveable(ctx context.Context, d *driven) error {
	name := d.program
	if name == "" {
		name = d.host.Program
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return hint(fmt.Errorf("%s: %w", d.host.Title, err), "install it, or name it: --program PATH")
	}
	version, err := install.Version(ctx, program)
	if err != nil {
		return hint(err, "name the program: --program PATH")
	}
	d.program = program
	return hint(d.host.Fits(version), "%s", d.host.Update)
}

// spoken is a driver of a host that is spoken to over its standard input and output.
type spoken interface {
	Run(ctx context.Context, to io.Writer, end func(), from io.Reader) error
	Session() string // that is driven; empty until the host has said it
	Failed() bool    // the last turn
}

// drive starts a host and runs it to its end, by the driver at the desk that it gets.
func (a *app) drive(ctx context.Context, d driven, env []string, at func(*driver.Desk, *local.Local) spoken) error {
	workspace, err := os.Getwd()
	if err != nil {
		return err
	}
	desk, l, err := a.deskAt(ctx, d.host.Name, workspace)
	if err != nil {
		return err
	}
	if env == nil {
		env = os.Environ()
	}
	env = append(slices.Clone(env), home.Driven+"=1")
	p, err := child.Start(child.Command{Args: append([]string{d.program}, d.args...), Env: env, Stderr: a.err})
	if err != nil {
		return errors.Join(fmt.Errorf("starting %s: %w", d.host.Title, err), l.Close())
	}
	defer p.Close()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	var signalled atomic.Int32 // the last signal
	heard := make(chan os.Signal, 8)
	go func() { // ends with the program
		for sig := range signals {
			if sig, ok := sig.(syscall.Signal); ok {
				signalled.Store(int32(sig))
			}
			heard <- sig
		}
	}()
	go p.Forward(heard)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	host := at(desk, l)
	told := a.tellHook(ctx, l, d.host.Name, host.Session, false)
	err = p.Read(func(from io.Reader) error { return host.Run(ctx, p.In, func() { _ = p.In.Close() }, from) })
	desk.Close(ctx, host.Session())
	if err == nil && host.Failed() && p.End().Status == 0 {
		err = otherStatus(1)
	}
	told()
	cancel()
	end := p.End()
	if sig := signalled.Load(); sig != 0 && end.Status == 0 { // a host may end well that was told to
		end.Status = 128 + int(sig)
	}
	return errors.Join(err, l.Close(), a.asEnded(end, err))
}

// asEnded ends as a host ended, unless we ended it.
func (a *app) asEnded(end child.End, err error) error {
	if err != nil {
		return nil
	}
	return mirror(end)
}

// desk opens the gate for what a host asks.
func (a *app) desk(ctx context.Context, host string) (*driver.Desk, func() error, error) {
	workspace, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	desk, l, err := a.deskAt(ctx, host, workspace)
	if err != nil {
		return nil, nil, err
	}
	return desk, l.Close, nil
}

// deskAt is the same for calls in a folder, with the gate that it was opened on.
func (a *app) deskAt(ctx context.Context, host, workspace string) (*driver.Desk, *local.Local, error) {
	l, err := a.openWith(ctx, local.Options{Opened: a.tellOpened()})
	if err != nil {
		return nil, nil, err
	}
	who := home.OwnActor(sayso.PrincipalAgent, host+"-driver", "driver")
	gate, err := l.Gate(ctx, who)
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	inbox, err := l.Inbox(ctx, who)
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	var once sync.Once
	tellOff := func() {
		if _, off, _ := a.paths.IsOff(time.Now()); off { // where that is doubtful, it is on
			once.Do(func() { a.note("%s", drivenWhileOff) })
		}
	}
	tellOff()
	return driver.NewDesk(driver.Options{
		Gate: gate, Inbox: inbox, Facts: a.machine(workspace, nil), Wanted: l.Wanted, Patience: a.askPatience(), Plain: hook.Plain,
		Waits: func(c sayso.Call) {
			tellOff()
			a.note("waits for a person: %s; type: sayso watch", callLine(c))
		},
	}), l, nil
}

// drivenWhileOff is said of the one switch that does not reach here: off hands calls
// back to the host's own prompt, and the gate has taken its place.
const drivenWhileOff = "sayso is off, and that does not reach an agent that asks nobody else: its calls are judged and asked about as before; " +
	"for the agent's own prompts start it without sayso"

// drivenScreen is what a person sees of a host that is driven.
func (a *app) drivenScreen() driver.Screen {
	s := driver.Screen{
		Note: func(text string) { a.note("%s", printable(text)) },
		Line: callLine,
	}
	if a.json {
		s.Raw = func(line []byte) { _ = a.printText(line) } // where nobody reads there is nobody to tell
		return s
	}
	s.Say = func(text string) { fmt.Fprintln(a.out, printable(text)) }
	return s
}

// callLine is a call in a few words, without what must not be shown.
func callLine(c sayso.Call) string {
	p, err := previewed(c)
	if err != nil {
		return safe(c.Tool)
	}
	tool, server := c.CanonicalName()
	r := sayso.Request{Tool: tool, Server: server, Host: c.Host, HostTool: c.Tool, Kind: c.EffectiveKind(), Preview: p.Preview}
	return words.Tool(r) + " " + words.Row(r, 100)
}

// promptSign is shown where a person at a terminal may speak.
const promptSign = "> "

// prompts is what the person says: the prompt, or the standard input; line by line
// if that is a terminal, and as a whole if it is not.
func (a *app) prompts(ctx context.Context, d driven, s *driver.Screen) (<-chan string, error) {
	said := make(chan string, 1)
	if d.prompt != "" {
		said <- d.prompt
		close(said)
		return said, nil
	}
	if _, tty := a.terminal(); !tty {
		text, err := io.ReadAll(io.LimitReader(stoppable{ctx, a.in}, sayso.MaxCall+1))
		switch {
		case err != nil:
			return nil, err
		case len(text) > sayso.MaxCall:
			return nil, usage(errors.New("what you say to the agent is too long"), "name a file in the prompt, and let the agent read it")
		case len(bytes.TrimSpace(text)) == 0:
			return nil, usage(errors.New("there is nothing to say to the agent"), "sayso "+d.host.Program+" \"PROMPT\" -- ARGS")
		}
		said <- string(text)
		close(said)
		return said, nil
	}
	s.Turn = func() { fmt.Fprint(a.err, promptSign) }
	go func() { // ends with ctx, or with the input
		defer close(said)
		in := bufio.NewScanner(stoppable{ctx, a.in})
		in.Buffer(nil, sayso.MaxCall)
		for in.Scan() {
			if text := strings.TrimSpace(in.Text()); text != "" {
				select {
				case said <- text:
				case <-ctx.Done():
					return
				}
			} else {
				s.Turn()
			}
		}
	}()
	return said, nil
}
