package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
)

func (a *app) lockCommand() *cobra.Command {
	var release bool
	c := &cobra.Command{
		Use: "lock", GroupID: "force", Short: "makes everything ask or deny; remembered answers count for nothing", Args: cobra.NoArgs,
		Long: `Makes every call ask or deny, whatever the policy allows, and lets no remembered
answer count, until it is released. It needs neither server, database nor policy.
A release is recorded first, if the log can be written.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if release {
				return a.release(c.Context())
			}
			return a.lock(c.Context())
		},
	}
	c.Flags().BoolVar(&release, "release", false, "end it")
	return c
}

// lock sets the lock, then records it. An agent may set it: it can only
// tighten. One that holds already is not recorded again.
func (a *app) lock(ctx context.Context) error {
	was := a.paths.Locked()
	if err := a.paths.Lock(home.Person(), a.now()); err != nil {
		return err
	}
	recorded := !was && a.toLog(ctx, sayso.SwitchLocked, 0)
	if a.json {
		return a.printJSON(map[string]bool{"locked": true, "recorded": recorded})
	}
	a.print("locked: everything asks or denies. `sayso lock --release` ends it.")
	return nil
}

// release records that the lock ends, then ends it.
func (a *app) release(ctx context.Context) error {
	if err := a.noAgent("releasing the lock"); err != nil {
		return err
	}
	was := a.paths.Locked()
	recorded := was && a.toLog(ctx, sayso.SwitchReleased, 0)
	if err := a.paths.Unlock(); err != nil {
		if recorded {
			a.toLog(ctx, sayso.SwitchLocked, 0)
		}
		return err
	}
	if a.json {
		return a.printJSON(map[string]bool{"locked": false, "recorded": recorded})
	}
	if !was {
		a.print("it was not locked: policy and remembered answers count")
		return nil
	}
	a.print("released: policy and remembered answers count again")
	return nil
}
