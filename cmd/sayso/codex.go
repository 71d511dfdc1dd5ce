package main

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso/agent/codex"
	"github.com/sayso-dev/sayso/internal/codexapp"
	driver "github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/local"
)

func (a *app) codexCommand() *cobra.Command {
	d, o := driven{}, driver.Codex{}
	c := &cobra.Command{
		Use: "codex [PROMPT] [-- ARGS...]", GroupID: "gate", Short: "drives Codex: what it asks is put to the gate", Args: cobra.ArbitraryArgs,
		Long: `Starts codex app-server, says PROMPT to it, and prints what it says. What Codex
asks about is put to the gate, and waits for people if policy says so. Nothing needs
to be installed for that; but Codex does not ask about everything. With --ask
untrusted it asks about all but what it takes for harmless or its own rules allow,
with --ask on-request about what its sandbox would not let run. Where sayso's hook
runs before every tool, as sayso init codex writes it for this gate, and Codex trusts
it, on-request is the default, so that nobody is asked twice; else untrusted is.

Without PROMPT it is read from the standard input; at a terminal line by line, as a
conversation. What stands behind -- goes to codex app-server: -c with what is about
the model, and --strict-config.`,
		Example: `  sayso codex "run the tests and fix what fails" -- -c model_reasoning_effort=high`,
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if d.prompt, d.args, err = drivenArgs(c, args); err != nil {
				return err
			}
			return a.driveCodex(context.WithoutCancel(c.Context()), d, &o)
		},
	}
	c.Flags().StringVar(&d.program, "program", "", "the program of Codex; by default codex in PATH")
	c.Flags().StringVar(&o.Asks, "ask", "", "what Codex asks about: untrusted or on-request")
	c.Flags().StringVar(&o.Sandbox, "sandbox", "", "Codex's sandbox: read-only or workspace-write; by default what its settings say")
	c.Flags().StringVar(&o.Model, "model", "", "the model; by default what Codex's settings say")
	c.Flags().Duration("patience", 0, "how long a call waits for people (SAYSO_PATIENCE; without, until there is a decision)")
	return c
}

// checkCodex reports what Codex may not be told here.
func checkCodex(o *driver.Codex, own []string) error {
	if !slices.Contains([]string{"", driver.AskUntrusted, driver.AskRequest}, o.Asks) {
		return usage(errors.New("--ask "+o.Asks+": Codex must ask"), "--ask untrusted, or --ask on-request")
	}
	if !slices.Contains([]string{"", "read-only", "workspace-write"}, o.Sandbox) {
		return usage(errors.New("--sandbox "+o.Sandbox+" is none that holds"), "--sandbox read-only, or --sandbox workspace-write")
	}
	if err := driver.CheckCodex(own); err != nil {
		return usage(err, "sayso codex \"PROMPT\" -- -c model_reasoning_effort=high")
	}
	return nil
}

func (a *app) driveCodex(ctx context.Context, d driven, c *driver.Codex) error {
	if err := checkCodex(c, d.args); err != nil {
		return err
	}
	var err error
	if c.Dir, err = os.Getwd(); err != nil {
		return err
	}
	if program, err := a.hookProgram(""); err == nil { // without, no hook is ours
		ours := install.Hook{Program: program, Place: a.place()}
		c.Hooked = func(h codexapp.Hook) bool { return install.CodexAsks(h, ours) }
	}
	d.host, _ = install.Find(codex.Host)
	if err := a.driveable(ctx, &d); err != nil {
		return err
	}
	c.Screen = a.drivenScreen()
	if c.Prompts, err = a.prompts(ctx, d, &c.Screen); err != nil {
		return err
	}
	d.args = append([]string{"app-server"}, d.args...)
	return a.drive(ctx, d, nil, func(desk *driver.Desk, _ *local.Local) spoken { c.Desk = desk; return c })
}
