package main

import (
	"context"
	"fmt"

	"github.com/charmbracelet/x/ansi"
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
			rows = append(rows, []string{r.ShortID, span(a.now().Sub(r.CreatedAt)), words.Left(r), string(r.State), present.Risk(r.Risk, r.Danger), dash(safe(words.From(r))), words.Tool(r)})
		}
		room := roomBeside(width(a.out), rows)
		for i, r := range list {
			rows[i+1] = append(rows[i+1], whatIn(room, r))
		}
		return table(a.out, rows)
	})
}

// leastWhat is how much of a call a list says at least, however narrow it is.
const leastWhat = 24

// roomBeside is how wide a last column may be in a terminal of so many columns;
// zero where that does not matter.
func roomBeside(columns int, rows [][]string) int {
	if columns == 0 {
		return 0
	}
	for at := range rows[1] {
		widest := 0
		for _, row := range rows {
			widest = max(widest, ansi.StringWidth(safe(row[at])))
		}
		columns -= widest + 2
	}
	return max(columns, leastWhat)
}

// whatIn is a call in so many columns; zero where that does not matter.
func whatIn(room int, r sayso.Request) string {
	if room == 0 {
		return words.Summary(r)
	}
	return words.Row(r, room)
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
