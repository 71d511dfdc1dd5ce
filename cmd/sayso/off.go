package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
)

func (a *app) offCommand() *cobra.Command {
	var d time.Duration
	var end bool
	c := &cobra.Command{
		Use: "off --for TIME", GroupID: "force", Short: "hands calls back to the hosts' own prompts for a while", Args: cobra.NoArgs,
		Long: `Hands every call back to the host's own prompts for a while, at most a day.
Nothing is stopped and no call is recorded while it lasts; status shows it, and
it ends by itself, also when the machine starts again. That it was switched off
is recorded first, if the log can be written; it needs neither that nor a server
nor a policy.

An agent that sayso drives (claude, codex, opencode, mcp approve) has no other
prompt: its calls are judged, asked about and recorded as before.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.noAgent("switching the gate off"); err != nil {
				return err
			}
			if end {
				return a.on(c.Context())
			}
			return a.off(c.Context(), d)
		},
	}
	durationFlag(c.Flags(), &d, "for", 0, "how long, as 30m or 1h; at most 24h")
	c.Flags().BoolVar(&end, "end", false, "end it now")
	return c
}

// off records that the gate is switched off, then switches it off.
func (a *app) off(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return usage(errors.New("off must be given an end"), "sayso off --for 1h")
	}
	if err := home.CheckOff(d); err != nil {
		return err
	}
	recorded := a.toLog(ctx, sayso.SwitchOff, d)
	if err := a.paths.SwitchOff(home.Person(), d, a.now()); err != nil {
		if recorded {
			a.toLog(ctx, sayso.SwitchOn, 0)
		}
		return err
	}
	until := a.now().Add(d)
	if a.json {
		return a.printJSON(map[string]any{"off": true, "until": until.UTC().Truncate(time.Second), "recorded": recorded})
	}
	a.print("off until %s: calls go to the hosts' own prompts. `sayso off --end` ends it.", until.Format("15:04:05 on Jan 2"))
	return nil
}

// on switches the gate on, then records it.
func (a *app) on(ctx context.Context) error {
	_, off, _ := a.paths.IsOff(a.now()) // a switch that cannot be read is on
	if err := a.paths.SwitchOn(); err != nil {
		return err
	}
	recorded := off && a.toLog(ctx, sayso.SwitchOn, 0)
	if a.json {
		return a.printJSON(map[string]any{"off": false, "recorded": recorded})
	}
	if !off {
		a.print("on: it was not off")
		return nil
	}
	a.print("on: calls are gated again")
	return nil
}
