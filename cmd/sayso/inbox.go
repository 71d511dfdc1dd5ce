package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/present"
)

func (a *app) inboxCommand() *cobra.Command {
	var q sayso.RowQuery
	var all bool
	c := &cobra.Command{
		Use: "inbox", GroupID: "answer", Short: "lists what waits for an answer, the oldest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if q.Limit < 0 {
				return usage(fmt.Errorf("%w: a limit is a number from 1 on", sayso.ErrInvalid), "sayso inbox --limit 20")
			}
			q.States, q.Oldest = sayso.OpenStates(), true
			if all {
				q.States, q.Oldest = nil, false
			}
			return a.inbox(c.Context(), q)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "decided ones too, the newest first")
	c.Flags().StringVar(&q.Session, "session", "", "of one session")
	c.Flags().IntVar(&q.Limit, "limit", 0, "at most so many; without, all that wait, and 100 of the decided ones")
	return c
}

func (a *app) inbox(ctx context.Context, q sayso.RowQuery) error {
	return a.withInbox(ctx, a.person(), func(in sayso.Inbox) error {
		list, err := in.Requests(ctx, q)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(append([]sayso.Request{}, list...))
		}
		if len(list) == 0 {
			a.note("%s", nothing(q))
			return nil
		}
		rows := [][]string{{"ID", "AGE", "LEFT", "STATE", "RISK", "FROM", "TOOL", "WHAT"}}
		for _, r := range list {
			rows = append(rows, []string{r.ShortID, span(a.now().Sub(r.CreatedAt)), words.Left(r), string(r.State), present.Risk(r.Risk, r.Danger), dash(safe(words.From(r))), words.Tool(r), words.Summary(r)})
		}
		return table(a.out, rows)
	})
}

// nothing says what there is none of.
func nothing(q sayso.RowQuery) string {
	text := "nothing waits"
	if len(q.States) == 0 {
		text = "nothing was asked yet"
	}
	if q.Session != "" {
		text += " in session " + q.Session
	}
	return text
}
