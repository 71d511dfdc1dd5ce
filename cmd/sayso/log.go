package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/words"
)

func (a *app) logCommand() *cobra.Command {
	var follow bool
	var o logOptions
	c := &cobra.Command{
		Use: "log", GroupID: "record", Short: "the record of everything",
		Long: "Prints the log, one event a line. With --json the events are whole.",
		RunE: func(c *cobra.Command, _ []string) error { return a.log(c.Context(), o, follow) },
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on as the log grows")
	c.Flags().StringVar(&o.session, "session", "", "of one session")
	c.Flags().StringVar(&o.request, "request", "", "of one request")
	c.Flags().Var(&o.since, "since", "after this position, or so far back as 1h or 7d, or since a time as 2006-01-02")
	return a.parent(c, a.logVerifyCommand(), a.logExportCommand(), a.logEraseCommand(), a.logArchiveCommand())
}

type logOptions struct {
	session, request string
	since            since
}

// logQuery selects events, of those since a time.
type logQuery struct {
	sayso.EventQuery
	from time.Time
}

// Matches reports whether e is selected.
func (q logQuery) Matches(e *sayso.Event) bool {
	return !e.At.Wall.Before(q.from) && q.EventQuery.Matches(e)
}

// withEngine opens the database itself, whether or not a server runs: any
// number of processes may use it at once.
func (a *app) withEngine(ctx context.Context, do func(*local.Engine) error) error {
	if a.settings.Server != "" {
		return hint(errors.New("the record is read where it lies, on the server's machine"), "run this there, without --server")
	}
	l, err := a.openWith(ctx, local.Options{Direct: true})
	if err != nil {
		return err
	}
	e, _ := l.Engine()
	return errors.Join(do(e), l.Close())
}

func (a *app) log(ctx context.Context, o logOptions, follow bool) error {
	return a.withEngine(ctx, func(e *local.Engine) error {
		q := logQuery{sayso.EventQuery{Session: o.session}, o.since.from(a.now())}
		if o.request != "" {
			r, err := find(ctx, e.Inbox(a.admin()), o.request)
			if err != nil {
				return err
			}
			q.Request = r.ID
		}
		tells := words.Teller{}
		if o.session != "" && !a.json {
			if err := a.noteSilence(ctx, e.Log, q.EventQuery); err != nil {
				return err
			}
		}
		since, err := a.printEvents(ctx, e.Log, o.since.position, q, tells)
		for err == nil && follow {
			if _, err = e.Log.WaitSince(ctx, since); err == nil {
				since, err = a.printEvents(ctx, e.Log, since, q, tells)
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		return err
	})
}

// noteSilence says so if a session has no event.
func (a *app) noteSilence(ctx context.Context, log sayso.Log, q sayso.EventQuery) error {
	for since := sayso.Seq(0); ; {
		events, err := log.Since(ctx, since, 256)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			a.note("nothing is in the log of session %s", printable(q.Session))
			return nil
		}
		for i := range events {
			if q.Matches(&events[i]) {
				return nil
			}
			since = events[i].Seq
		}
	}
}

// printEvents prints what is in the log after a position, and returns the last
// position.
func (a *app) printEvents(ctx context.Context, log sayso.Log, since sayso.Seq, q logQuery, tells words.Teller) (sayso.Seq, error) {
	for {
		events, err := log.Since(ctx, since, 256)
		if err != nil || len(events) == 0 {
			return since, err
		}
		for i := range events {
			since = events[i].Seq
			if !q.Matches(&events[i]) {
				continue
			}
			if err := a.printEvent(&events[i], tells); err != nil {
				return since, err
			}
		}
	}
}

func (a *app) printEvent(e *sayso.Event, tells words.Teller) error {
	p, err := e.Public()
	if err != nil {
		return err
	}
	if a.json {
		return a.printLine(p)
	}
	story := tells.Story(p)
	if p.RequestID == "" {
		story = "     " + story // under what happened, and not under the ids
	}
	a.print("%6d  %s  %s", p.Seq, p.At.Wall.Local().Format(time.DateTime), story)
	return nil
}

func (a *app) logVerifyCommand() *cobra.Command {
	var head string
	var rebuild bool
	c := &cobra.Command{
		Use: "verify", Short: "reports whether the log is whole and unchanged", Args: cobra.NoArgs,
		Long: `Reads the whole log and reports whether any event was changed, removed, inserted
or moved. That the newest events were cut off shows only against a head kept
elsewhere: --head SEQ:HASH, as this command prints it, or a file that holds it.
With --rebuild the rows of requests and grants are made again from the log first.
Exits with 0 if the log is whole, 1 if it is not, 2 if it cannot be read.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.verify(c.Context(), head, rebuild) },
	}
	c.Flags().BoolVar(&rebuild, "rebuild", false, "first make the rows that are read for speed again, from the log")
	c.Flags().StringVar(&head, "head", "", "a head kept elsewhere: SEQ:HASH, or a file with it")
	return c
}

// parseHead reads SEQ:HASH, or a file that holds it.
func parseHead(text string) (sayso.Head, error) {
	if data, err := os.ReadFile(text); err == nil {
		words := strings.Fields(string(data)) // of all that was printed, the head is last
		text = strings.Join(words[max(0, len(words)-1):], "")
	}
	seq, hash, ok := strings.Cut(text, ":")
	n, err := strconv.ParseUint(seq, 10, 64)
	h := sayso.Head{Seq: sayso.Seq(n)}
	if !ok || err != nil || h.Hash.UnmarshalText([]byte(hash)) != nil {
		return sayso.Head{}, usage(errors.New("a head is SEQ:HASH, as sayso log verify prints it"), "sayso log verify")
	}
	return h, nil
}

func (a *app) logEraseCommand() *cobra.Command {
	var why string
	var yes bool
	c := &cobra.Command{
		Use: "erase ID ...", Short: "empties the content of requests; the log still verifies", Args: cobra.MinimumNArgs(1),
		Long: `Empties all free text of requests: arguments, previews, descriptions, notes. What
was asked by whom and decided by whom stays, and the log still verifies. It
cannot be undone.`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := wanted(c, "why"); err != nil {
				return err
			}
			return a.erase(c.Context(), args, why, yes)
		},
	}
	c.Flags().StringVar(&why, "why", "", "why, for the log")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func (a *app) erase(ctx context.Context, typed []string, why string, yes bool) error {
	if err := a.noAgent("erasing"); err != nil {
		return err
	}
	return a.withEngine(ctx, func(e *local.Engine) error {
		var list []sayso.Request
		for _, t := range typed {
			r, err := find(ctx, e.Inbox(a.admin()), t)
			if err != nil {
				return err
			}
			if r.State.Open() {
				return hint(fmt.Errorf("%w: %s still waits", sayso.ErrConflict, r.ShortID), "sayso deny %s", r.ShortID)
			}
			list = append(list, r)
		}
		if !yes {
			if err := a.agree(ctx, fmt.Sprintf("erase the content of %s for ever?", count(len(list), "request"))); err != nil {
				return err
			}
		}
		for _, r := range list {
			if err := a.eraseOne(ctx, e, r, why); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *app) logExportCommand() *cobra.Command {
	return &cobra.Command{
		Use: "export", Short: "prints the whole log as JSON lines", Args: cobra.NoArgs,
		Long: "Prints every event as JSON, one a line, as every surface shows it: hidden values\nstay hidden. The last line of standard error is the head of the log.",
		RunE: func(c *cobra.Command, _ []string) error { return a.export(c.Context()) },
	}
}

func (a *app) export(ctx context.Context) error {
	a.json = true
	return a.withEngine(ctx, func(e *local.Engine) error {
		if _, err := a.printEvents(ctx, e.Log, 0, logQuery{}, words.Teller{}); err != nil {
			return err
		}
		h, err := e.Log.Head(ctx)
		if err == nil {
			a.note("head %d:%s", h.Seq, h.Hash)
		}
		return err
	})
}
