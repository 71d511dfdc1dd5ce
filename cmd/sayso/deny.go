package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
)

func (a *app) denyCommand() *cobra.Command {
	var note string
	c := &cobra.Command{
		Use: "deny ID", GroupID: "answer", Short: "denies a request", Args: oneID("deny"),
		Long: "Denies a request. The note goes to the agent.\nExits with 0 if the answer was recorded, 1 if another decision stands, 2 on an error.",
		RunE: func(c *cobra.Command, args []string) error { return a.deny(c.Context(), args[0], note) },
	}
	c.Flags().StringVarP(&note, "note", "n", "", "what to tell the agent")
	return c
}

func (a *app) deny(ctx context.Context, typed, note string) error {
	if err := a.refuseAgent(ctx, typed, sayso.Deny); err != nil {
		return err
	}
	return a.withInbox(ctx, a.person(), func(in sayso.Inbox) error {
		r, err := find(ctx, in, typed)
		if err != nil {
			return err
		}
		return a.record(ctx, in, r, sayso.Answer{Effect: sayso.Deny, Note: note})
	})
}
