// Package hook is the program that a host starts on every call of its agent:
// JSON in, JSON out, and closed whatever happens.
//
// Everything that can go wrong before there is an answer ends in a denial with
// words: input that cannot be read, a home that cannot be opened, a policy that
// does not load, a database that is locked or full, a server that is gone, a
// panic, time that runs out. The answer is written once, so that a crash leaves
// either all of it or nothing, and nothing blocks.
package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/agent"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/notice"
)

// maxInput is the largest input that is read: a call with its frame.
const maxInput = sayso.MaxCall + 1<<20

// hearing is how long a host is heard to its end whose hook can only deny.
const hearing = 5 * time.Second

// Env is the world of one run.
type Env struct {
	Args    []string // behind the program's name: the host
	Environ []string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Exit    func(int)
	Version string

	paths *home.Paths // if the arguments name them
	home  string      // HOME as the host has it
}

// Main runs a hook and ends the process.
func Main(env Env) {
	debug.SetTraceback("none")                    // a crash exits with status 2, which blocks; its stack is nobody's business
	e := &ending{env: env, deny: claudeCode.Deny} // with words that most hosts read, until it is known which it is
	defer func() {
		if p := recover(); p != nil {
			e.end(e.unknown(fmt.Errorf("%w: the hook crashed: %v", sayso.ErrUnavailable, p)))
		}
	}()
	if env.asksHow() {
		_, _ = fmt.Fprintf(env.Stderr, usage, names())
		env.Exit(2) // which blocks, should a host have asked
		return
	}
	in, err := flags(env.Args)
	if in.host.Deny != nil {
		e.deny = in.host.Deny
	}
	if err != nil {
		time.AfterFunc(hearing, func() { e.end(e.unknown(err)) })
		_, _ = read(env.Stdin) // see there
		e.end(e.unknown(err))
		return
	}
	env.home = lookup(env.Environ)("HOME")
	in.settle(&env)
	e.end(run{env, in.host, in.strict}.answer(e))
}

// ending ends the process once, whoever is first: the answer or the watchdog.
type ending struct {
	env  Env
	deny func(reason string) agent.Answer
	once sync.Once
}

func (e *ending) end(a agent.Answer) {
	e.once.Do(func() {
		if a.Stderr != "" {
			_, _ = io.WriteString(e.env.Stderr, a.Stderr+"\n") // the exit status denies without it
		}
		if len(a.Stdout) > 0 {
			if _, err := e.env.Stdout.Write(append(a.Stdout, '\n')); err != nil {
				a.Exit = 2 // an allow that was not heard is none
			}
		}
		e.env.Exit(a.Exit)
	})
}

// watch ends the process with a denial if it has not ended by then.
func (e *ending) watch(after time.Duration) {
	time.AfterFunc(after, func() { e.end(e.unknown(errors.New("it took too long"))) })
}

// unknown is the denial for what could not be found out.
func (e *ending) unknown(err error) agent.Answer {
	return e.deny(sayso.Told(sayso.Decision{}, Plain(err)))
}

// read reads the input of a hook to its end, also where it is too large to be
// kept: a host that cannot say all that it has to say may take the hook for one
// that failed, and on most hosts that lets the call run.
func read(in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("reading the hook's input: %w", err)
	}
	if len(text) <= maxInput {
		return text, nil
	}
	_, _ = io.Copy(io.Discard, in)
	return nil, fmt.Errorf("%w: the call is larger than %d bytes", sayso.ErrInvalid, maxInput)
}

// run is one run of a hook of a host.
type run struct {
	env    Env
	host   Host
	strict bool
}

func (r run) answer(e *ending) agent.Answer {
	e.watch(r.host.limit(agent.Before)) // until it is known what for
	text, err := read(r.env.Stdin)
	if err != nil {
		return e.unknown(err)
	}
	h, err := r.host.Parse(text)
	if err != nil {
		return e.unknown(err)
	}
	crash(r.env)
	told := h.Told()
	if told.Moment != agent.Before {
		time.AfterFunc(r.host.limit(told.Moment), func() { e.end(r.host.NoOpinion) })
		_ = r.record(told) // these hooks tell; they never block, also when the log cannot be reached
		return r.host.NoOpinion
	}
	if told.OwnScreen {
		return r.host.NoOpinion
	}
	d, off, err := r.admit(told)
	if off {
		return r.host.NoOpinion
	}
	return h.Reply(d, Plain(err))
}

// record appends what became of a call, or that a session began or ended.
func (r run) record(told agent.Told) error {
	ctx, cancel := context.WithTimeout(context.Background(), r.host.limit(told.Moment))
	defer cancel()
	w, err := r.open(ctx, told)
	if err != nil {
		return err
	}
	defer w.Close()
	gate, err := w.Gate(ctx, r.actor())
	if err != nil {
		return err
	}
	switch told.Moment {
	case agent.Begin:
		return gate.Begin(ctx, told.Session, r.host.Name)
	case agent.End:
		return gate.End(ctx, told.Session)
	}
	return gate.Report(ctx, told.Outcome)
}

// admit asks the gate. off says that calls go back to the host.
func (r run) admit(told agent.Told) (d sayso.Decision, off bool, err error) {
	if switchedOff(r.env) { // before anything that may be broken is opened
		return d, true, nil
	}
	ctx, stop := attended(context.Background(), r.env.Stdout)
	defer stop()
	w, err := r.open(ctx, told)
	if err != nil {
		return d, false, err
	}
	defer w.Close()
	gate, err := w.Gate(ctx, r.actor())
	if err != nil {
		return d, false, err
	}
	patience := min(w.settings.Patience, r.host.patience())
	ctx, late := context.WithTimeoutCause(ctx, patience+silence, errSilent)
	defer late()
	asked := facts.Ask(ctx, &told.Call, w.facts(), w.Wanted())
	d, err = gate.Admit(ctx, sayso.Admission{
		Call:      told.Call,
		Facts:     asked.Facts,
		Patience:  patience,
		Immediate: true,
		Strict:    r.strict,
		CanEdit:   told.CanEdit,
		Gather:    asked.Gather,
		Present: func(context.Context) (*sayso.Presentation, error) {
			p := r.host.Present(told.Call, asked.Facts, facts.Content)
			return &p, nil
		},
	})
	if d.Allowed() && d.Source == sayso.SourcePerson && asked.Changed(ctx) {
		d, err = changed(ctx, gate, d)
	}
	switch {
	case err != nil && context.Cause(ctx) == errSilent:
		err = fmt.Errorf("%w: %w", sayso.ErrUnavailable, errSilent)
	case err != nil && ctx.Err() != nil:
		err = fmt.Errorf("%w: the host stopped waiting; what was asked stays and can be answered", sayso.ErrUnavailable)
	}
	return d, false, err
}

// silence is how long after our patience the gate may say nothing. A server that
// hangs takes what is sent to it, and would keep the agent until its host ends us.
const silence = 10 * time.Second

var errSilent = errors.New("the gate does not answer; what was asked may be open")

// facts say what is known of this machine.
func (w *world) facts() facts.Options {
	return facts.Options{Workspace: w.workspace, State: w.paths.Folders(), Home: home.PersonFolder(), HostHome: w.hostHome}
}

// changed refuses a call that came to mean something else while a person was
// asked: its directory or a path leads elsewhere, or a script was changed. The
// approval is spent, so the call is asked about anew.
func changed(ctx context.Context, gate sayso.Gate, d sayso.Decision) (sayso.Decision, error) {
	_ = gate.Report(ctx, sayso.Outcome{Request: d.Request, Failed: true}) // refused in any case
	return sayso.Decision{Request: d.Request}, fmt.Errorf("request %s: %w: what the call names changed while people were asked",
		d.Request.Short(), sayso.ErrVoided)
}

// switchedOff reports whether the person switched the gate off, and the host has a
// prompt of its own to go back to.
func switchedOff(env Env) bool {
	if lookup(env.Environ)(home.Driven) != "" {
		return false
	}
	paths, err := env.find()
	if err != nil {
		return false
	}
	_, off, _ := paths.IsOff(time.Now()) // a switch that cannot be read is on
	return off
}

// actor is who asks: the host's agent, which belongs to the person at this
// machine.
func (r run) actor() sayso.Actor {
	return home.OwnActor(sayso.PrincipalAgent, r.host.Name, "hook")
}

// world is what a hook works with.
type world struct {
	*local.Local
	paths     home.Paths
	settings  home.Settings
	workspace string
	hostHome  string // what the host takes for it
	notices   notice.Notifier
}

// open finds the home of this machine and the gate in it.
func (r run) open(ctx context.Context, told agent.Told) (*world, error) {
	settings, _, err := home.Load(r.env.Environ, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the settings: %w", err)
	}
	w := &world{settings: settings, hostHome: r.env.home}
	if w.paths, err = r.env.find(); err != nil {
		return nil, err
	}
	if w.workspace, err = r.workspace(told); err != nil {
		return nil, err
	}
	w.Local, err = local.Open(ctx, w.paths, local.Options{
		Server: settings.Server, TokenFile: settings.TokenFile, Version: r.env.Version,
		Opened: w.opened,
	})
	return w, err
}

// workspace is the folder that the host works in.
func (r run) workspace(told agent.Told) (string, error) {
	if told.Workspace != "" {
		return told.Workspace, nil
	}
	if r.host.Workspace != "" {
		return lookup(r.env.Environ)(r.host.Workspace), nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("%w: which folder the host works in: %w", sayso.ErrUnavailable, err)
	}
	return dir, nil
}

// opened tells people that somebody waits, when nobody is watching.
func (w *world) opened(r sayso.Request) {
	if w.settings.Notice == "on" && !notice.Watched(w.paths.Watchers()) {
		w.notices.Tell(r)
	}
}

func lookup(environ []string) func(string) string {
	env := map[string]string{}
	for _, kv := range environ {
		for i := range kv {
			if kv[i] == '=' {
				env[kv[:i]] = kv[i+1:]
				break
			}
		}
	}
	return func(name string) string { return env[name] }
}

// attended ends the context when the host tells us to stop, or is gone: a hook
// that nobody listens to does not wait for people.
func attended(ctx context.Context, out io.Writer) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	ctx, cancel := context.WithCancelCause(ctx)
	host := os.Getppid()
	go func() { // ends with the context
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if os.Getppid() != host || deaf(out) {
					cancel(errors.New("the host is gone"))
				}
			}
		}
	}()
	return ctx, func() { cancel(nil); stop() }
}
