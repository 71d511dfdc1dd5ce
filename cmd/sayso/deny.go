package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
)

func (a *app) denyCommand() *cobra.Command {
	var note string
	c := &cobra.Command{
		Use: "deny ID", GroupID: "answer", Short: "denies a request", Args: idToDeny,
		Long: "Denies a request. The note goes to the agent.\nExits with 0 if the answer was recorded, 1 if another decision stands, 2 on an error.",
		RunE: func(c *cobra.Command, args []string) error { return a.deny(c.Context(), args[0], note) },
	}
	c.Flags().StringVarP(&note, "note", "n", "", "what to tell the agent")
	return c
}

// idToDeny wants one id. Whoever types more means to say why.
func idToDeny(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage(errors.New("deny takes one id; words for the agent are a note"), "sayso deny "+withoutSecrets(args[0])+" --note "+home.Quoted(withoutSecrets(strings.Join(args[1:], " "))))
	}
	return oneID("deny")(c, args)
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
