package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/store/sqlite"
)

// verifyLog reads the whole log. The error says what is not as it was written.
func verifyLog(ctx context.Context, log *sqlite.Log, kept sayso.Head) (sayso.Head, error) {
	var head *sayso.Head
	if kept.Seq > 0 {
		head = &kept
	}
	report, err := log.Verify(ctx, head)
	if err != nil {
		return sayso.Head{}, err
	}
	return report.Head, report.Err()
}

// verified is a verification as it is printed.
type verified struct {
	Whole    bool        `json:"whole"`
	Events   int         `json:"events"`
	Segments int         `json:"segments"`
	Erased   int         `json:"erased"`
	Head     sayso.Head  `json:"head"`
	Problems []badEvent  `json:"problems"`
	Kept     *sayso.Head `json:"kept,omitempty"`
}

type badEvent struct {
	Seq  sayso.Seq `json:"seq"`
	Text string    `json:"text"`
}

func (a *app) verify(ctx context.Context, kept string, rebuild bool) error {
	if rebuild {
		if err := a.noAgent("rebuilding"); err != nil {
			return err
		}
	}
	var head *sayso.Head
	if kept != "" {
		h, err := parseHead(kept)
		if err != nil {
			return err
		}
		head = &h
	}
	return a.withEngine(ctx, func(e *local.Engine) error {
		if rebuild {
			if err := e.Log.Rebuild(ctx); err != nil {
				return err
			}
			a.note("the rows of requests and grants were made again from the log")
		}
		report, err := e.Log.Verify(ctx, head)
		if err != nil {
			return err
		}
		return a.printReport(report, head)
	})
}

func (a *app) printReport(r sqlite.Report, kept *sayso.Head) error {
	v := verified{len(r.Problems) == 0, r.Events, r.Segments, r.Erased, r.Head, []badEvent{}, kept}
	for _, p := range r.Problems {
		v.Problems = append(v.Problems, badEvent{p.Seq, p.Text})
	}
	if a.json {
		if err := a.printJSON(v); err != nil {
			return err
		}
	} else {
		for _, p := range r.Problems {
			a.print("%s", printable(p.String()))
		}
		switch {
		case v.Whole && v.Events == 0:
			a.print("empty: there is no event, nor a sign of one; a head kept elsewhere tells whether there should be, --head FILE")
		case v.Whole:
			a.print("whole and unchanged: %s, %s", count(v.Events, "event"), count(v.Erased, "erased request"))
		default:
			a.print("NOT as it was written: %s in %s", count(len(v.Problems), "problem"), count(v.Events, "event"))
		}
		a.print("head %d:%s", r.Head.Seq, r.Head.Hash)
	}
	if !v.Whole {
		return no{}
	}
	return nil
}

func (a *app) logArchiveCommand() *cobra.Command {
	var age time.Duration
	c := &cobra.Command{
		Use: "archive --older TIME", Short: "seals old events into read-only files beside the database", Args: cobra.NoArgs,
		Long: "Moves events that are older than a time into read-only segments beside the\ndatabase. Every event is still found, and verification crosses them.",
		RunE: func(c *cobra.Command, _ []string) error { return a.archive(c.Context(), age) },
	}
	durationFlag(c.Flags(), &age, "older", 30*24*time.Hour, "how old, as 30d")
	return c
}

func (a *app) archive(ctx context.Context, age time.Duration) error {
	if err := a.noAgent("archiving"); err != nil {
		return err
	}
	return a.withEngine(ctx, func(e *local.Engine) error {
		done, err := e.Log.Archive(ctx, a.now().Add(-age))
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(map[string]any{"segment": done.Segment, "last": done.Last, "moved": done.Moved})
		}
		a.print("moved %s; the log lies in segments up to event %d", count(done.Moved, "event"), done.Last)
		return nil
	})
}
