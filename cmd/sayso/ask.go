package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/hook"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/present"
)

func (a *app) askCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use: "ask < call.json", GroupID: "gate", Short: "asks whether one call may run, and waits", Args: cobra.NoArgs,
		Long: `Reads one call as JSON, asks whether it may run, waits for people if policy says
so, and prints the decision as JSON. The caller runs the call at once if the
exit status is 0, with the arguments in the decision if it has some.
Exits with 0 if the call may run, 1 if it was denied, 2 if that could not be
found out.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.askOne(c.Context(), name) },
	}
	c.Flags().StringVar(&name, "as", "script", "the name of the requester")
	c.Flags().Duration("patience", 0, "how long to wait for people (SAYSO_PATIENCE; without, until there is a decision)")
	return c
}

func (a *app) askOne(ctx context.Context, name string) error {
	if _, tty := a.terminal(); tty {
		return usage(errNoCall, "sayso ask < call.json; "+callExample)
	}
	text, err := io.ReadAll(io.LimitReader(stoppable{ctx, a.in}, sayso.MaxCall+1))
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return usage(errNoCall, callExample)
	}
	call, err := sayso.ParseCall(text)
	if err != nil {
		return hint(err, callExample)
	}
	if call.Cwd == "" {
		if call.Cwd, err = os.Getwd(); err != nil {
			return err
		}
	}
	w := &parkable{app: a, tell: a.tellOpened()}
	l, err := a.openWith(ctx, local.Options{Opened: w.opened})
	if err != nil {
		return err
	}
	who := home.OwnActor(sayso.PrincipalAgent, name, "embedded")
	gate, err := l.Gate(ctx, who)
	if err == nil {
		stop := w.follow(ctx, l, who, call)
		err = a.admit(ctx, gate, call, w)
		stop()
	}
	return errors.Join(err, l.Close())
}

// errNoCall says that nobody gave a call.
var errNoCall = errors.New("there is no call")

// callExample is what to type where a call cannot be read.
const callExample = `a call is one JSON object, as {"tool":"bash","args":{"command":"ls"}}`

func (a *app) admit(ctx context.Context, gate sayso.Gate, call sayso.Call, w *parkable) error {
	wanted := local.NewRules(a.paths).Wanted()
	asked := a.factsFor(ctx, call, wanted)
	d, err := gate.Admit(ctx, sayso.Admission{
		Call: call, Facts: asked, Patience: a.askPatience(), Immediate: true, CanEdit: true,
		Gather: func(ctx context.Context, want sayso.FactsWanted) (sayso.Facts, error) {
			wanted = want
			asked = a.factsFor(ctx, call, want)
			return asked, nil
		},
		Present: func(context.Context) (*sayso.Presentation, error) { return shown(call, asked), nil },
	})
	if d.Allowed() && d.Source == sayso.SourcePerson && !asked.Equal(a.factsFor(ctx, call, wanted)) {
		d, err = sayso.Decision{Request: d.Request}, fmt.Errorf("%w: what the call names changed while people were asked", sayso.ErrVoided)
	}
	if ticket := w.ticket(); ctx.Err() != nil && errors.Is(err, context.Canceled) && ticket != "" {
		err = &sayso.PendingError{Ticket: ticket} // only the asking was stopped
	}
	if err != nil {
		a.note("%s", printable(sayso.Told(d, err)))
		return err
	}
	if err := a.printLine(d); err != nil {
		return err
	}
	if !d.Allowed() {
		a.note("%s", printable(sayso.Told(d, nil)))
		return no{}
	}
	return nil
}

// shown makes what a person is shown of a call: for one that changes a file, the
// change to the file as it is on this machine.
func shown(c sayso.Call, f sayso.Facts) *sayso.Presentation {
	if host, ok := hook.Find(c.Host); ok {
		p := host.Present(c, f, facts.Content)
		return &p
	}
	p, ok := present.Change(c, f, facts.Content)
	if !ok {
		p, ok = present.Call(c)
	}
	if !ok {
		return nil
	}
	return &p
}

// facts gathers what the policy of this machine must know of it.
func (a *app) facts(ctx context.Context, c sayso.Call) sayso.Facts {
	return a.factsFor(ctx, c, local.NewRules(a.paths).Wanted())
}

// factsFor gathers what a policy must know of this machine.
func (a *app) factsFor(ctx context.Context, c sayso.Call, want sayso.FactsWanted) sayso.Facts {
	c.Cwd = runsIn(c, "")
	o := a.machine("", want.Roots)
	o.Policy = want.Policy
	return facts.Gather(ctx, c, o)
}

// machine is what is known of this machine before a call is looked at, with the
// folders that the policy names. Whoever runs the call may put HOME for a tilde
// in it, so that is looked at as well.
func (a *app) machine(workspace string, roots []string) facts.Options {
	return facts.Options{
		Workspace: workspace, State: a.paths.Folders(), Home: home.PersonFolder(), HostHome: a.getenv("HOME"), Roots: roots,
	}
}

// runsIn is the directory that a call would run in: its own, or where we are if
// it names none.
func runsIn(c sayso.Call, workspace string) string {
	if c.Cwd != "" || workspace != "" && filepath.IsAbs(workspace) {
		return cmp.Or(c.Cwd, workspace)
	}
	dir, err := os.Getwd()
	if err != nil {
		return "" // unknown, and asked about
	}
	return filepath.Join(dir, workspace)
}

// askPatience is how long ask waits: as the settings say, else until there is
// a decision.
func (a *app) askPatience() time.Duration {
	for _, s := range a.settings.All() {
		if s.Name == "patience" && s.Source == "default" {
			return 0
		}
	}
	return a.settings.Patience
}
