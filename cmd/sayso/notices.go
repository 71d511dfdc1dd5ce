package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/outbox"
	"github.com/sayso-dev/sayso/internal/outbox/chat"
	"github.com/sayso-dev/sayso/internal/wire"
)

func (a *app) noticesCommand() *cobra.Command {
	list := func(c *cobra.Command, _ []string) error { return a.notices(c.Context()) }
	c := &cobra.Command{
		Use: "notices", GroupID: "wire", Short: "who elsewhere is told what waits, and what could not be delivered", RunE: list,
		Long: `Webhooks and chats are told what waits, as the policy says under notices:. The
server sends. What could not be delivered is tried again for three days; then it
is a dead letter, which stays until you have it tried again. What a target had
that the policy names no more is kept for seven days.`,
	}
	return a.parent(c,
		&cobra.Command{Use: "list", Short: "lists who is told, and what could not be delivered", Args: cobra.NoArgs, RunE: list},
		a.noticesRetryCommand(), a.noticesTestCommand(), a.noticesCarryCommand())
}

func (a *app) noticesRetryCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "retry [ID]", Short: "has a notice tried again that could not be delivered", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return usage(errors.New("notices retry takes one id, as sayso notices lists them, or --all"), "sayso notices")
			}
			typed := ""
			if !all {
				typed = typedID(args[0])
			}
			return a.noticesRetry(c.Context(), typed)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all of them")
	return c
}

func (a *app) noticesTestCommand() *cobra.Command {
	return &cobra.Command{
		Use: "test [NAME]", Short: "sends a notice that is none, to all or to one", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.noticesTest(c.Context(), args) },
	}
}

// noticesCarryCommand sends one text to one chat. The server starts it: see
// package chat.
func (a *app) noticesCarryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "carry", Hidden: true, Args: cobra.NoArgs,
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil }, // it needs no settings
		RunE: func(c *cobra.Command, _ []string) error {
			os.Exit(chat.Serve(c.Context(), a.in, a.err))
			return nil
		},
	}
}

// undelivered is where it is known what could not be delivered: a server, or the
// files of this machine.
type undelivered interface {
	Notices(ctx context.Context) (wire.Notices, error)
	Retry(ctx context.Context, id sayso.ID) (wire.Notice, error)
}

// ownNotices are those in the files of this machine.
type ownNotices struct{ noticeDesk }

func (n ownNotices) Notices(ctx context.Context) (wire.Notices, error) {
	_ = n.o.Refresh() // a policy that does not load names nobody; what is kept is listed all the same
	return n.List(ctx)
}

// withNotices asks the server that runs, or opens the files.
func (a *app) withNotices(ctx context.Context, do func(undelivered) error) error {
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	from, err := a.noticesOf(ctx, l)
	if err == nil {
		err = do(from)
	}
	return errors.Join(err, l.Close())
}

func (a *app) noticesOf(ctx context.Context, l *local.Local) (undelivered, error) {
	in, err := l.Inbox(ctx, a.person())
	if err != nil {
		return nil, err
	}
	if c, ok := in.(*client.Client); ok {
		return c, nil
	}
	e, _ := l.Engine()
	o, err := a.outbox(e, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	return ownNotices{noticeDesk{o}}, nil
}

func (a *app) notices(ctx context.Context) error {
	return a.withNotices(ctx, func(from undelivered) error {
		list, err := from.Notices(ctx)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(list)
		}
		return a.printNotices(ctx, list)
	})
}

func (a *app) printNotices(ctx context.Context, list wire.Notices) error {
	if len(list.Targets) == 0 {
		a.note("nobody elsewhere is told what waits; see notices: in docs/notices.md")
		return nil
	}
	sends := a.settings.Server != "" || local.Answers(ctx, a.paths.Socket())
	if !sends {
		a.note("warning: no server runs here, and the server sends; type: sayso serve")
	}
	rows := [][]string{{"TARGET", "DELIVERED SINCE START", "WAITING", "DEAD"}} // of the server
	for _, t := range list.Targets {
		name := t.Name
		if t.Gone {
			name += " (target gone)"
		}
		sent := "-"
		if sends {
			sent = fmt.Sprint(t.Sent)
		}
		rows = append(rows, []string{name, sent, fmt.Sprint(t.Waiting), fmt.Sprint(t.Dead)})
	}
	if err := table(a.out, rows); err != nil || len(list.Notices) == 0 {
		return err
	}
	a.print("")
	rows = [][]string{{"ID", "TARGET", "ABOUT", "REQUEST", "ATTEMPTS", "NEXT", "WHY"}}
	for _, n := range list.Notices {
		rows = append(rows, []string{n.ShortID, n.Target, n.About, dash(n.Request.Short()), fmt.Sprint(n.Attempts), a.nextTry(&n), dash(n.Error)})
	}
	return table(a.out, rows)
}

// nextTry is when a notice is tried again.
func (a *app) nextTry(n *wire.Notice) string {
	switch {
	case n.State == wire.NoticeGone:
		return "target gone"
	case n.NextAt == nil:
		return "dead"
	case !n.NextAt.After(a.now()):
		return "now"
	}
	return "in " + span(n.NextAt.Sub(a.now()))
}

// noticesRetry has the notice tried again that was typed; all of them if none
// was.
func (a *app) noticesRetry(ctx context.Context, typed string) error {
	if err := a.noAgent("sending notices"); err != nil {
		return err
	}
	return a.withNotices(ctx, func(from undelivered) error {
		list, err := from.Notices(ctx)
		if err != nil {
			return err
		}
		list.Notices = slices.DeleteFunc(list.Notices, func(n wire.Notice) bool { return typed != "" && !n.ID.Matches(typed) })
		switch {
		case typed != "" && len(list.Notices) == 0:
			return hint(fmt.Errorf("%w: no notice %s is kept", sayso.ErrNotFound, asTyped(typed)), "sayso notices")
		case typed != "" && len(list.Notices) > 1:
			return hint(fmt.Errorf("%w: %s means several notices", sayso.ErrConflict, asTyped(typed)), "type more of it: the first four characters are not enough here")
		}
		if typed != "" && list.Notices[0].State == wire.NoticeGone {
			n := list.Notices[0]
			return hint(fmt.Errorf("%w: the policy does not name %s, to whom notice %s goes", sayso.ErrConflict, n.Target, n.ShortID), "write %s under notices: again; the notice is sent then", n.Target)
		}
		return a.retryEach(ctx, from, list.Notices)
	})
}

func (a *app) retryEach(ctx context.Context, from undelivered, list []wire.Notice) error {
	tried := []wire.Notice{}
	for _, n := range list {
		again, err := from.Retry(ctx, n.ID)
		if errors.Is(err, sayso.ErrNotFound) {
			continue // it was delivered meanwhile, or its target is gone
		}
		if err != nil {
			return err
		}
		tried = append(tried, again)
	}
	if a.json {
		return a.printJSON(tried)
	}
	a.print("%s will be tried again now", count(len(tried), "notice"))
	if a.settings.Server == "" && !local.Answers(ctx, a.paths.Socket()) {
		a.note("warning: no server runs here, and the server sends; type: sayso serve")
	}
	return nil
}

// tested is what came of a test.
type tested struct {
	Target    string `json:"target"`
	Delivered bool   `json:"delivered"`
	Error     string `json:"error,omitempty"`
}

func (a *app) noticesTest(ctx context.Context, names []string) error {
	if err := a.noAgent("sending notices"); err != nil {
		return err
	}
	return a.withEngine(ctx, func(e *local.Engine) error {
		p, err := e.Policy.Policy()
		if err != nil {
			return err
		}
		if len(names) == 0 {
			for _, n := range p.Notices() {
				names = append(names, n.Name)
			}
		}
		if len(names) == 0 {
			return hint(fmt.Errorf("%w: the policy names nobody elsewhere who is told", sayso.ErrNotFound), "write notices: into %s, as docs/notices.md shows", a.paths.Policy())
		}
		o, err := a.outbox(e, slog.New(slog.DiscardHandler))
		if err != nil {
			return err
		}
		return a.testEach(ctx, o, names)
	})
}

func (a *app) testEach(ctx context.Context, o *outbox.Outbox, names []string) error {
	results, failed := []tested{}, 0
	for _, name := range names {
		err := o.Test(ctx, name)
		if errors.Is(err, sayso.ErrNotFound) {
			return hint(err, "sayso notices")
		}
		t := tested{Target: name, Delivered: err == nil}
		if err != nil {
			t.Error = err.Error()
			failed++
		}
		results = append(results, t)
	}
	if a.json {
		if err := a.printJSON(results); err != nil {
			return err
		}
	} else {
		for _, t := range results {
			a.print("%s: %s", t.Target, map[bool]string{true: "delivered", false: "not delivered: " + t.Error}[t.Delivered])
		}
	}
	if failed > 0 {
		return fmt.Errorf("%s could not be told", count(failed, "target"))
	}
	return nil
}
