package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/agentproc"
	"github.com/sayso-dev/sayso/internal/home"
)

// app is what every command works with.
type app struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	environ  []string
	now      func() time.Time
	agent    func() (agentproc.Agent, bool) // under which this process runs

	json     bool
	paths    home.Paths
	settings home.Settings
}

// detectAgent is replaced by tests, which themselves may run under an agent.
var detectAgent = agentproc.Detect

// run runs one command line and returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	a := &app{in: in, out: out, err: errs, getenv: os.Getenv, environ: os.Environ(), now: time.Now, agent: detectAgent}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		a.note("stopped")
		return exitError
	}
	return a.exit(err)
}

// root is the tree of commands.
func (a *app) root() *cobra.Command {
	c := &cobra.Command{
		Use:   "sayso",
		Short: "stops an agent's tool call until somebody says so",
		Long: `sayso stands between a coding agent and its tools. A call that no rule decides
waits until a person answers, and what was asked, answered and run is a log
that cannot be changed unnoticed.

Try it: sayso demo
Use it: sayso init claude-code, then sayso watch`,
		SilenceErrors: true, SilenceUsage: true,
		Args:              a.noCommand,
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRunE: a.load,
	}
	c.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON")
	c.PersistentFlags().String("home", "", "one folder for everything (SAYSO_HOME)")
	c.PersistentFlags().String("token-file", "", "act with the token in this file (SAYSO_TOKEN_FILE)")
	c.PersistentFlags().String("server", "", "use the server at this address (SAYSO_SERVER)")
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if c.Name() == "deny" && err.Error() == "unknown flag: --reason" {
			return usage(err, "sayso deny ID --note WHY")
		}
		if strings.Contains(c.Use, "[-- ARGS") && strings.HasPrefix(err.Error(), "unknown ") {
			return usage(err, fmt.Sprintf("what is for %s stands behind --: %s \"PROMPT\" -- ARGS; or %s --help", c.Name(), c.CommandPath(), c.CommandPath()))
		}
		return usage(wrongValue(err), c.CommandPath()+" --help")
	})
	for _, group := range []struct{ id, title string }{
		{"answer", "Answering:"}, {"wire", "Wiring and proof:"}, {"force", "What is in force:"}, {"record", "The record:"}, {"gate", "The gate:"},
	} {
		c.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
	}
	c.SuggestionsMinimumDistance = 2
	c.Version = versionOf()
	c.SetVersionTemplate("sayso {{.Version}}\n")
	a.commands(c)
	about(c)
	plainArgs(c)
	return c
}

// about tidies what cobra adds of its own accord.
func about(c *cobra.Command) {
	c.AddGroup(&cobra.Group{ID: "about", Title: "About sayso:"})
	c.SetHelpCommandGroupID("about")
	c.SetCompletionCommandGroupID("about")
	c.InitDefaultHelpCmd()
	c.InitDefaultCompletionCmd()
	for _, sub := range c.Commands() {
		switch sub.Name() {
		case "help":
			sub.Short = "says what a command does"
		case "completion":
			sub.Short = "prints what lets your shell complete commands of sayso"
		case "version":
			sub.GroupID = "about"
		}
	}
}

// load works out settings and places before any command runs.
func (a *app) load(c *cobra.Command, _ []string) error {
	flags := map[string]string{}
	for _, name := range []string{"home", "token-file", "server", "listen", "public-url", "tls-cert", "tls-key", "proxy", "patience", "notice", "log-level"} {
		if f := c.Flags().Lookup(name); f != nil && f.Changed {
			flags[name] = f.Value.String()
		}
	}
	place, environ, err := pinnedPlace(c.Flags(), a.environ)
	if err != nil {
		return usage(err, "sayso init mcp CLIENT")
	}
	s, warnings, err := home.Load(environ, flags)
	if err != nil {
		return usage(err, "sayso config")
	}
	for _, w := range warnings {
		a.note("warning: %s", w)
	}
	a.settings = s
	if place != nil {
		a.paths = *place
		return nil
	}
	a.paths, err = home.Find(func(name string) string {
		if name == "SAYSO_HOME" {
			return s.Home
		}
		return a.getenv(name)
	})
	return err
}

// undo are words for the end of a state, which is a flag of the command that
// begins it. The command that sounds like them would do something else.
var undo = map[string]string{"on": "off --end", "unlock": "lock --release", "release": "lock --release"}

// noCommand refuses a command that does not exist, and names the one that was
// meant.
func (a *app) noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := c.CommandPath() + " --help"
	if near := c.SuggestionsFor(args[0]); undo[args[0]] != "" && !c.HasParent() {
		hint = "did you mean `" + c.CommandPath() + " " + undo[args[0]] + "`?"
	} else if len(near) > 0 {
		hint = "did you mean `" + c.CommandPath() + " " + near[0] + "`?"
	}
	return usage(errors.New("there is no command "+quote(args[0])), hint)
}

// parent is a command that only holds others.
func (a *app) parent(c *cobra.Command, children ...*cobra.Command) *cobra.Command {
	if c.RunE == nil {
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	if c.Args == nil {
		c.Args = a.noCommand
	}
	c.SuggestionsMinimumDistance = 2
	c.AddCommand(children...)
	return c
}

// person is who answers on this machine.
func (a *app) person() sayso.Actor {
	return home.OwnActor(sayso.PrincipalPerson, home.Person(), "terminal")
}

// admin is the person of this machine where they administer.
func (a *app) admin() sayso.Actor {
	return home.OwnActor(sayso.PrincipalAdmin, home.Person(), "terminal")
}
