package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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
		list, err := worked(ctx, in, q)
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
		rows := [][]string{{"ID", "AGE", "LEFT", "STATE", "RISK", "FROM", "TOOL"}}
		for _, r := range list {
			rows = append(rows, []string{r.ShortID, span(a.now().Sub(r.CreatedAt)), words.Left(r), string(r.State), present.Risk(r.Risk, r.Danger), dash(safe(words.From(r))), words.Tool(r)})
		}
		_, err = fmt.Fprint(a.out, withWhat(width(a.out), rows, list))
		return err
	})
}

// worked are requests of agents at work: what sayso doctor had one try, to see that
// it is denied, is none of theirs.
func worked(ctx context.Context, in sayso.Inbox, q sayso.RowQuery) ([]sayso.Request, error) {
	most := cmp.Or(q.Limit, 100)
	for {
		list, err := in.Requests(ctx, q)
		if err != nil || q.OnlyOpen() {
			return list, err
		}
		n := len(list)
		list = slices.DeleteFunc(list, func(r sayso.Request) bool { return r.Staged() })
		if len(list) >= most || n < cmp.Or(q.Limit, 100) {
			return list[:min(len(list), most)], nil
		}
		q.Limit = 2 * n // there may be more behind those left out
	}
}

// leastWhat is how many columns a call has at least beside the others, unless it
// takes less. Where there are fewer it has a line of its own.
const leastWhat = 36

// withWhat is a list of requests with what each would do, for a terminal of so many
// columns; zero where that does not matter. The first row has the names of columns.
func withWhat(columns int, rows [][]string, list []sayso.Request) string {
	lines, widest := aligned(rows), 0
	for _, line := range lines {
		widest = max(widest, ansi.StringWidth(line))
	}
	room := columns - widest - 2
	below := columns > 0 && room < leastWhat && slices.ContainsFunc(list, func(r sayso.Request) bool {
		return room < len("WHAT") || ansi.StringWidth(words.Row(r, room+1)) > room
	})
	out := ""
	for i, line := range lines {
		beside := line + strings.Repeat(" ", widest-ansi.StringWidth(line)+2)
		switch {
		case i == 0 && below:
			out += line
		case i == 0:
			out += beside + "WHAT"
		case columns == 0:
			out += beside + words.Summary(list[i-1])
		case below:
			out += line + "\n" + edge + words.Row(list[i-1], columns-len(edge))
		default:
			out += beside + words.Row(list[i-1], room)
		}
		out += "\n"
	}
	return out
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
