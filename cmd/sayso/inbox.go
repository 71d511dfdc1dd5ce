package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
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
			rows = append(rows, []string{r.ShortID, span(a.now().Sub(r.CreatedAt)), left(r), string(r.State), string(r.Risk), dash(safe(from(r))), toolOf(r), what(r)})
		}
		return table(a.out, rows)
	})
}

// toolOf is a tool as a list names it, that of a server with the server.
func toolOf(r sayso.Request) string {
	if r.Server == "" {
		return safe(r.Tool)
	}
	return safe(r.Server) + " › " + safe(r.Tool)
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

// left is how long a request may still wait.
func left(r sayso.Request) string {
	switch {
	case !r.State.Open():
		return "-"
	case r.RemainingS == nil:
		return "for ever"
	}
	return span(time.Duration(*r.RemainingS * float64(time.Second)))
}
