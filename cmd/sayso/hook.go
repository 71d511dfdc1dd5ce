package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso/internal/hook"
)

func (a *app) hookCommand() *cobra.Command {
	return &cobra.Command{
		Use: "hook HOST", GroupID: "gate", Short: "a host's hook: the host's JSON in, its JSON out", Args: cobra.ArbitraryArgs,
		Long: `Runs as the hook of a host, as sayso-hook does, which starts faster. Whatever
goes wrong, the call does not run.`,
		DisableFlagParsing: true,
		PersistentPreRunE:  func(*cobra.Command, []string) error { return nil }, // the hook says itself what is wrong, in the host's way
		RunE: func(_ *cobra.Command, args []string) error {
			hook.Main(hook.Env{
				Args: args, Environ: a.environ, Stdin: a.in, Stdout: a.out, Stderr: a.err, Exit: os.Exit, Version: versionOf(),
			})
			return nil
		},
	}
}
