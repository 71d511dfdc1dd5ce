package main

import (
	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso/internal/home"
)

func (a *app) lockCommand() *cobra.Command {
	var release bool
	c := &cobra.Command{
		Use: "lock", GroupID: "force", Short: "makes everything ask or deny; remembered answers count for nothing", Args: cobra.NoArgs,
		Long: `Makes every call ask or deny, whatever the policy allows, and lets no remembered
answer count, until it is released. It needs neither server, database nor policy.`,
		RunE: func(*cobra.Command, []string) error { return a.lock(release) },
	}
	c.Flags().BoolVar(&release, "release", false, "end it")
	return c
}

// lock sets or ends the lock. An agent may set it: it can only tighten.
func (a *app) lock(release bool) error {
	if !release {
		if err := a.paths.Lock(home.Person(), a.now()); err != nil {
			return err
		}
		if a.json {
			return a.printJSON(map[string]bool{"locked": true})
		}
		a.print("locked: everything asks or denies. `sayso lock --release` ends it.")
		return nil
	}
	if err := a.noAgent("releasing the lock"); err != nil {
		return err
	}
	if err := a.paths.Unlock(); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]bool{"locked": false})
	}
	a.print("released: policy and remembered answers count again")
	return nil
}
