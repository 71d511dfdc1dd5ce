package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/words"
)

func (a *app) showCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", GroupID: "answer", Short: "shows all of a request, and what became of it", Args: oneID("show"),
		RunE: func(c *cobra.Command, args []string) error { return a.show(c.Context(), args[0]) },
	}
}

// oneID wants one id.
func oneID(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		list := "sayso inbox"
		if strings.HasPrefix(command, "grants") {
			list = "sayso grants"
		}
		return usage(fmt.Errorf("%s takes one id, as %s lists them", command, list), list)
	}
}

// shownRequest is a request with everything that may be shown of it.
type shownRequest struct {
	Request sayso.Request       `json:"request"`
	Content sayso.RequestedFull `json:"content"`
	Life    []sayso.Event       `json:"life"`
}

func (a *app) show(ctx context.Context, typed string) error {
	return a.withInbox(ctx, a.person(), func(in sayso.Inbox) error {
		s, err := look(ctx, in, typed)
		if err != nil {
			return err
		}
		if s.Life, err = in.Life(ctx, s.Request.ID); err != nil {
			return err
		}
		if a.json {
			return a.printJSON(s)
		}
		a.draw(a.out, s, 0)
		if args := editedArgs(s.Life); args != nil {
			a.print("")
			a.drawChange(a.out, changesTitle(s.Request), s, args)
		}
		a.print("\n  digest     %s\n  content    %s\n", s.Request.Digest, s.Request.Content)
		tells := words.Teller{}
		for _, e := range s.Life {
			a.print("%s  %s", e.At.Wall.Local().Format(time.DateTime), tells.Story(e))
		}
		a.printCovers(s.Request)
		if s.Request.State.Open() {
			a.print("\nto answer: sayso approve %s, or sayso deny %s --note WHY", s.Request.ShortID, s.Request.ShortID)
		}
		return nil
	})
}

// editedArgs are the arguments that were allowed instead of those that were
// asked for; nil if there are none.
func editedArgs(life []sayso.Event) sayso.Args {
	for _, e := range life {
		var p words.Told
		if e.Type == sayso.EventResolved && jcs.UnmarshalLenient(e.Payload, &p) == nil && p.Effect == sayso.Allow && !p.Edited.IsZero() {
			return p.Args
		}
	}
	return nil
}

func changesTitle(r sayso.Request) string {
	switch r.Outcome {
	case "finished", "failed":
		return "ran with these changes:"
	case "changed":
		return "allowed with these changes, and ran with other arguments:"
	}
	return "allowed with these changes:"
}

// look reads a request and all of its content. Content that was erased, or that
// only those see who answer, is empty.
func look(ctx context.Context, in sayso.Inbox, typed string) (shownRequest, error) {
	r, err := find(ctx, in, typed)
	if err != nil {
		return shownRequest{}, err
	}
	s := shownRequest{Request: r}
	if !r.Erased {
		s.Content, err = in.Content(ctx, r.ID)
	}
	if errors.Is(err, sayso.ErrNotAllowed) {
		err = nil
	}
	return s, err
}
