package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
)

func (a *app) grantsCommand() *cobra.Command {
	var session string
	var all bool
	list := func(c *cobra.Command, _ []string) error { return a.grants(c.Context(), session, all) }
	c := &cobra.Command{Use: "grants", GroupID: "force", Short: "what is remembered, and revoking it", RunE: list}
	c.PersistentFlags().StringVar(&session, "session", "", "of one session")
	c.PersistentFlags().BoolVar(&all, "all", false, "ended ones too")
	return a.parent(c,
		&cobra.Command{Use: "list", Short: "lists what is remembered", Args: cobra.NoArgs, RunE: list},
		&cobra.Command{
			Use: "revoke ID", Short: "ends a grant", Args: oneID("grants revoke"),
			RunE: func(c *cobra.Command, args []string) error { return a.revoke(c.Context(), args[0]) },
		})
}

func (a *app) grants(ctx context.Context, session string, all bool) error {
	return a.withInbox(ctx, a.person(), func(in sayso.Inbox) error {
		list, err := in.Grants(ctx, session, all)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(append([]sayso.Grant{}, list...))
		}
		if len(list) == 0 {
			a.note("nothing is remembered")
			return nil
		}
		rows := [][]string{{"ID", "TOOL", "COVERS", "SESSION", "BY", "USED", "ENDS", "ALLOWED"}}
		for _, g := range list {
			rows = append(rows, []string{g.ShortID, safe(g.Tool), words.GrantCovers(g), dash(safe(g.SessionID)), safe(g.By.Principal), words.GrantUses(g), words.GrantEnds(g), allowed(ctx, in, g)})
		}
		return table(a.out, rows)
	})
}

func (a *app) revoke(ctx context.Context, typed string) error {
	if err := a.noAgent("revoking grants"); err != nil {
		return err
	}
	return a.withInbox(ctx, a.person(), func(in sayso.Inbox) error {
		g, err := findGrant(ctx, in, typedID(typed))
		if err != nil {
			return hint(err, "sayso grants")
		}
		if err := in.Revoke(ctx, g.ID); err != nil {
			return err
		}
		if a.json {
			return a.printJSON(map[string]any{"revoked": g.ID})
		}
		a.print("revoked %s: %s, given for %s", g.ShortID, safe(g.Label), allowed(ctx, in, g))
		return nil
	})
}

// allowed is the call that a grant was given for, in a line.
func allowed(ctx context.Context, in sayso.Inbox, g sayso.Grant) string {
	r, err := in.Request(ctx, string(g.Request))
	if err != nil {
		return g.Request.Short() // it may be too old to be kept, and can be asked for
	}
	return words.Summary(r)
}

// findGrant returns the live grant that was meant.
func findGrant(ctx context.Context, in sayso.Inbox, typed string) (sayso.Grant, error) {
	list, err := in.Grants(ctx, "", false)
	if err != nil {
		return sayso.Grant{}, err
	}
	return only(list, typed, func(g sayso.Grant) sayso.ID { return g.ID }, "no live grant is", "grants")
}

// only finds the one in a list whose id was typed, or the beginning of it. none and
// several are what is said where there is no such thing, and where there are more.
func only[T any](list []T, typed string, id func(T) sayso.ID, none, several string) (found T, err error) {
	var ids []sayso.ID
	for _, x := range list {
		if id(x).Matches(typed) {
			found, ids = x, append(ids, id(x))
		}
	}
	switch len(ids) {
	case 0:
		return found, fmt.Errorf("%w: %s %q", sayso.ErrNotFound, none, typed)
	case 1:
		return found, nil
	}
	return *new(T), fmt.Errorf("%w: %q means several %s: %s, %s", sayso.ErrConflict, typed, several, ids[0], ids[1])
}
