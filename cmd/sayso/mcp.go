package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/gateway"
	"github.com/sayso-dev/sayso/internal/boot"
	"github.com/sayso-dev/sayso/internal/garbage"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/hook"
	"github.com/sayso-dev/sayso/internal/local"
)

// mcpOptions are the flags of mcp.
type mcpOptions struct {
	name, workspace string
	listen, config  string
	listens         bool
	url             string
	headers         []string
	plain           bool // HTTP to other machines
}

func (a *app) mcpCommand() *cobra.Command {
	var o mcpOptions
	c := &cobra.Command{
		Use: "mcp [flags] (-- COMMAND [ARGS...] | --url URL)", GroupID: "gate", Short: "stands in front of an MCP server", Args: cobra.ArbitraryArgs,
		Long: `Starts an MCP server and stands between it and its client: put it into the
client's configuration in the place of the server's own command. Each call of a
tool is put to the gate, and waits for people if policy says so; everything else
passes as it is. A tool whose definition changes does not run until a person has
accepted the change, see sayso tools.

The name is what policies know the server by, as mcp__NAME__TOOL; give it the one
that the client has for it.

With --url the server is one that speaks HTTP, streamable or with SSE. What it is
to be sent in headers stands in the environment, since others on this machine read
command lines: --header NAME=env:VARIABLE, or --header 'Authorization=Bearer
env:VARIABLE'. An address with a secret in it is --url env:VARIABLE. To a server
that wants you to log in, log in once: sayso mcp login URL.

With --listen it serves clients over HTTP, in front of that one server or of all
that a file names (--config, else mcp.yaml beside the policy): each under
/NAME/mcp, for clients with a token (sayso token create --name NAME).`,
		Example: `  sayso mcp --name files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  sayso mcp --name github --url https://api.githubcopilot.com/mcp/ --header 'Authorization=Bearer env:GITHUB_TOKEN'
  sayso mcp --listen 127.0.0.1:7118 --config mcp.yaml`,
		RunE: func(c *cobra.Command, args []string) error {
			o.listens = c.Flags().Changed("listen") || c.Flags().Changed("config")
			if o.url != "" || len(o.headers) > 0 || o.plain {
				return a.mcpRemote(context.WithoutCancel(c.Context()), o, args)
			}
			if o.listens && (c.ArgsLenAtDash() == 0 || len(args) == 0) {
				return a.mcpListen(c.Context(), o, args)
			}
			if err := behindDashes(c, args, "a server", "sayso mcp --name NAME -- COMMAND ARGS..."); err != nil {
				return err
			}
			if err := checkServerName(o.name); err != nil {
				return err
			}
			return a.mcp(context.WithoutCancel(c.Context()), o, args)
		},
	}
	c.Flags().StringVar(&o.name, "name", "", "the server's name in policies; by default that of the program, if the command says one")
	c.Flags().StringVar(&o.workspace, "workspace", "", "the root of the project; by default looked for from where this runs")
	placeFlags(c.Flags())
	c.Flags().StringVar(&o.url, "url", "", "the address of a server that speaks HTTP, or env:VARIABLE")
	c.Flags().StringArrayVar(&o.headers, "header", nil, "NAME=env:VARIABLE or 'NAME=Bearer env:VARIABLE': a header for the server")
	c.Flags().BoolVar(&o.plain, "plain-http", false, "speak http:// with a server on another machine; everybody on the way reads along")
	c.Flags().StringVar(&o.listen, "listen", "", "serve clients over HTTP at this address of this machine")
	c.Flags().StringVar(&o.config, "config", "", "file of the servers to serve")
	c.Flags().Duration("patience", 0, "how long a call waits for people (SAYSO_PATIENCE; by default 50m for a client that asks for progress, 50s for others)")
	c.AddCommand(a.mcpApproveCommand(), a.mcpLoginCommand(), a.mcpLogoutCommand())
	return c
}

// behindDashes reports a command that is not there, or not behind --.
func behindDashes(c *cobra.Command, args []string, of, how string) error {
	switch {
	case len(args) == 0:
		return usage(errors.New("there is no command of "+of), how)
	case c.ArgsLenAtDash() != 0:
		return usage(fmt.Errorf("%s stands before --, or there is none; the command of %s stands behind it", asTyped(args[0]), of), "type -- before it: "+how)
	}
	return nil
}

// checkServerName reports a name that a file could not give a server either. None
// is that of its program.
func checkServerName(name string) error {
	if name == "" || serverName.MatchString(name) {
		return nil
	}
	return usage(fmt.Errorf("%w: the name %s; %s", sayso.ErrInvalid, asTyped(name), serverNames), "sayso mcp --name NAME -- COMMAND ARGS...")
}

// mcp runs one server behind the gate, and ends as it ended.
func (a *app) mcp(ctx context.Context, o mcpOptions, args []string) error {
	identity, err := gateway.Identity(args)
	if err != nil {
		return hint(err, "sayso mcp --name NAME -- COMMAND ARGS...; is the command installed?")
	}
	if o.name == "" {
		if o.name, err = gateway.NameOf(args); err != nil {
			return usage(err, "sayso mcp --name NAME -- COMMAND ARGS...")
		}
	}
	relay, closing, err := a.relay(ctx, o)
	if err != nil {
		return err
	}
	relay.Identity = identity
	garbage.Tune(ctx)
	end, err := gateway.Server{Args: args, Stderr: a.err, Signals: handedOn()}.Serve(ctx, relay, a.in, a.out)
	if err = errors.Join(err, closing()); err != nil {
		return err
	}
	return mirror(end)
}

// relay opens the gate for the calls of one server.
func (a *app) relay(ctx context.Context, o mcpOptions) (gateway.Options, func() error, error) {
	g, closing, err := a.behind(ctx, o.workspace)
	g.Name, g.Session = o.name, clientSession(o.name)
	return g, closing, err
}

// behind opens the gate for the calls of servers.
func (a *app) behind(ctx context.Context, workspace string) (gateway.Options, func() error, error) {
	var g gateway.Options
	cwd, err := os.Getwd()
	if err != nil {
		return g, nil, err
	}
	if workspace != "" {
		if workspace, err = filepath.Abs(workspace); err != nil {
			return g, nil, err
		}
		cwd = workspace
	}
	l, err := a.openWith(ctx, local.Options{Opened: a.tellOpened()})
	if err != nil {
		return g, nil, err
	}
	who := home.OwnActor(sayso.PrincipalAgent, sayso.HostMCP, "mcp")
	gate, err := l.Gate(ctx, who)
	if err != nil {
		return g, nil, errors.Join(err, l.Close())
	}
	closing := l.Close
	pins, ours := l.Engine()
	if !ours { // definitions are kept where the server runs that presents them
		if pins, err = local.OpenEngine(ctx, a.paths, local.Options{}); err != nil {
			return g, nil, errors.Join(err, l.Close())
		}
		closing = func() error { return errors.Join(pins.Close(), l.Close()) }
	}
	g = gateway.Options{
		Gate: gate, Pins: pins, Calls: pins, Elicits: pins, Actor: who, Cwd: cwd,
		Facts: a.machine(workspace, nil), Wanted: l.Wanted, Plain: hook.Plain,
		Off:  func() bool { _, off, _ := a.paths.IsOff(time.Now()); return off }, // a switch that cannot be read is on
		Note: func(text string) { a.note("%s", printable(text)) },
	}
	if given := a.askPatience(); given > 0 {
		g.Patience, g.Impatience = given, given
	}
	return g, closing, nil
}

// clientSession is the session of a client's calls to a server: the same for a
// client that starts it again, so that what was asked is taken up.
func clientSession(name string) string {
	id, _, _ := boot.Now() // without, the client's process is all there is
	sum := sayso.HashOf("sayso/mcp session/1", []byte(id), []byte(strconv.Itoa(os.Getppid())), []byte(name))
	return fmt.Sprintf("mcp-%.64s-%s", name, hex.EncodeToString(sum[:6]))
}
