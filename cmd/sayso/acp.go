package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/acprelay"
	"github.com/sayso-dev/sayso/internal/garbage"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/hook"
	"github.com/sayso-dev/sayso/internal/local"
)

// acpOptions are the flags of acp.
type acpOptions struct {
	name, workspace string
	editor          bool // the person is asked there as well
}

func (a *app) acpCommand() *cobra.Command {
	var o acpOptions
	c := &cobra.Command{
		Use: "acp [flags] -- AGENT [ARGS...]", GroupID: "gate", Short: "stands between an editor and its agent", Args: cobra.ArbitraryArgs,
		Long: `Starts an agent that speaks the Agent Client Protocol and stands between it and
the editor: put it into the editor's configuration in the place of the agent's own
command. What the agent asks permission for is judged by your policy, and asked
about in the one inbox where nothing is allowed or denied; the editor is not asked.
So is what the agent has the editor do: write and read files, run commands.
Everything else passes as it is.

The agent decides what it asks about, and may act without its editor: this is where
you answer, and no wall around the agent. For that it has its own hook (sayso init), and its tools a gateway
(sayso mcp).`,
		Example: `  sayso acp -- gemini --acp
  sayso acp -- copilot --acp --stdio
  sayso acp -- opencode acp`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := behindDashes(c, args, "an agent", "sayso acp -- AGENT ARGS..."); err != nil {
				return err
			}
			return a.acp(context.WithoutCancel(c.Context()), o, args)
		},
	}
	c.Flags().StringVar(&o.name, "name", "", "the agent's name in calls; by default what it calls itself")
	c.Flags().StringVar(&o.workspace, "workspace", "", "the root of the project; by default the folder that the editor names")
	c.Flags().BoolVar(&o.editor, "editor", false, "ask in the editor as well, where a rule says elicit: true; a program may answer there")
	c.Flags().Duration("patience", 0, "how long a call waits for people (SAYSO_PATIENCE; by default until there is a decision)")
	return c
}

// acp runs one agent behind the gate, and ends as it ended.
func (a *app) acp(ctx context.Context, o acpOptions, args []string) error {
	if o.workspace != "" {
		var err error
		if o.workspace, err = filepath.Abs(o.workspace); err != nil {
			return err
		}
	}
	l, err := a.openWith(ctx, local.Options{Opened: a.tellOpened()})
	if err != nil {
		return err
	}
	who := home.OwnActor(sayso.PrincipalAgent, sayso.HostACP, "acp")
	gate, err := l.Gate(ctx, who)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	inbox, err := l.Inbox(ctx, who)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	editor, closing, err := a.asksEditor(ctx, o, l)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	garbage.Tune(ctx)
	end, err := acprelay.Agent{Args: args, Stderr: a.err, Signals: handedOn()}.Serve(ctx, acprelay.Options{
		Gate: gate, Inbox: inbox, Actor: who, Editor: editor, Name: o.name, Workspace: o.workspace, Facts: a.machine("", nil), Wanted: l.Wanted, Patience: a.askPatience(), Plain: hook.Plain,
		Off:  func() bool { _, off, _ := a.paths.IsOff(time.Now()); return off }, // a switch that cannot be read is on
		Note: func(text string) { a.note("%s", printable(text)) },
	}, a.in, a.out)
	if err = errors.Join(err, closing(), l.Close()); err != nil {
		return hint(err, "sayso acp -- AGENT ARGS...; is the agent installed, and does it speak the protocol?")
	}
	return mirror(end)
}

// asksEditor is where the person is asked at the editor as well, nil for nowhere. What is
// said there is recorded where the gate is on this machine.
func (a *app) asksEditor(ctx context.Context, o acpOptions, l *local.Local) (sayso.Elicits, func() error, error) {
	nothing := func() error { return nil }
	if !o.editor {
		return nil, nothing, nil
	}
	if a.settings.Server != "" {
		return nil, nil, usage(errors.New("the editor cannot be asked for a gate on another machine"), "sayso acp -- AGENT ARGS...")
	}
	if e, ours := l.Engine(); ours {
		return e, nothing, nil
	}
	e, err := local.OpenEngine(ctx, a.paths, local.Options{})
	if err != nil {
		return nil, nil, err
	}
	return e, e.Close, nil
}

// relayedLately is for how long an agent counts as one that asks through the relay.
const relayedLately = 7 * 24 * time.Hour

// relayed are the agents that asked through the relay of late, by name.
func (a *app) relayed(ctx context.Context, in sayso.Inbox) ([]string, error) {
	sessions, err := in.Sessions(ctx, a.now().Add(-relayedLately))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range sessions {
		if name := strings.TrimPrefix(s.Caller, sayso.HostACP+"/"); s.Host == sayso.HostACP && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
