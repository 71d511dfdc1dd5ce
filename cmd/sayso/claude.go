package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso/agent/claudecode"
	driver "github.com/sayso-dev/sayso/internal/drive"
	"github.com/sayso-dev/sayso/internal/install"
)

func (a *app) claudeCommand() *cobra.Command {
	d := driven{}
	c := &cobra.Command{
		Use: "claude [PROMPT] [-- ARGS...]", GroupID: "gate", Short: "drives Claude Code: every call is put to the gate", Args: cobra.ArbitraryArgs,
		Long: `Starts Claude Code without its screen, says PROMPT to it, and prints what it says.
Every call of a tool is put to the gate, whatever the permission mode and the rules
of Claude Code say, and waits for people if policy says so. Nothing needs to be
installed for that; where the hook is installed as well, nobody is asked twice.

Without PROMPT it is read from the standard input; at a terminal line by line, as a
conversation. What stands behind -- goes to Claude Code: the arguments that are known
to leave the gate as it is, such as --model, --permission-mode, --resume, --add-dir
and --mcp-config. Another one is refused, and named with all that are known.`,
		Example: `  sayso claude "run the tests and fix what fails" -- --model opus`,
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if d.prompt, d.args, err = drivenArgs(c, args); err != nil {
				return err
			}
			return a.driveClaude(context.WithoutCancel(c.Context()), d)
		},
	}
	c.Flags().StringVar(&d.program, "program", "", "the program of Claude Code; by default claude in PATH")
	c.Flags().Duration("patience", 0, "how long a call waits for people (SAYSO_PATIENCE; without, until there is a decision)")
	return c
}

func (a *app) driveClaude(ctx context.Context, d driven) error {
	if err := driver.CheckClaude(d.args); err != nil {
		return usage(err, "leave it out: sayso claude \"PROMPT\" -- ARGS")
	}
	d.host, _ = install.Find(claudecode.Host)
	if err := a.driveable(ctx, &d); err != nil {
		return err
	}
	screen := a.drivenScreen()
	said, err := a.prompts(ctx, d, &screen)
	if err != nil {
		return err
	}
	d.args = driver.ClaudeArgs(d.args)
	env := slices.DeleteFunc(slices.Clone(a.environ), func(kv string) bool { // which are --bare and --safe-mode
		return strings.HasPrefix(kv, "CLAUDE_CODE_SIMPLE=")
	})
	c := &driver.Claude{Prompts: said, Screen: screen}
	return a.drive(ctx, d, env, func(desk *driver.Desk) spoken { c.Desk = desk; return c })
}
