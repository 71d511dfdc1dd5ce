package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso/internal/home"
)

func (a *app) offCommand() *cobra.Command {
	var d time.Duration
	var end bool
	c := &cobra.Command{
		Use: "off --for TIME", GroupID: "force", Short: "hands calls back to the hosts' own prompts for a while", Args: cobra.NoArgs,
		Long: `Hands every call back to the host's own prompts for a while, at most a day.
Nothing is stopped and nothing is recorded while it lasts; status shows it, and
it ends by itself, also when the machine starts again. It needs neither server,
database nor policy.`,
		RunE: func(*cobra.Command, []string) error {
			if err := a.noAgent("switching the gate off"); err != nil {
				return err
			}
			if end {
				return a.on()
			}
			return a.off(d)
		},
	}
	durationFlag(c.Flags(), &d, "for", 0, "how long, as 30m or 1h; at most 24h")
	c.Flags().BoolVar(&end, "end", false, "end it now")
	return c
}

func (a *app) off(d time.Duration) error {
	if d == 0 {
		return usage(errors.New("off must be given an end"), "sayso off --for 1h")
	}
	if err := a.paths.SwitchOff(home.Person(), d, a.now()); err != nil {
		return err
	}
	until := a.now().Add(d)
	if a.json {
		return a.printJSON(map[string]any{"off": true, "until": until.UTC().Truncate(time.Second)})
	}
	a.print("off until %s: calls go to the hosts' own prompts. `sayso off --end` ends it.", until.Format("15:04 on Jan 2"))
	return nil
}

func (a *app) on() error {
	if err := a.paths.SwitchOn(); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"off": false})
	}
	a.print("on: calls are gated again")
	return nil
}
