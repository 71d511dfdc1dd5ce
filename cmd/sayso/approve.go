package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/words"
)

// approval are the flags of approve.
type approval struct {
	scope, cover, note, digest, edit, group string
	lasts                                   time.Duration
	uses                                    int
	yes                                     bool
}

func (a *app) approveCommand() *cobra.Command {
	var o approval
	c := &cobra.Command{
		Use: "approve ID", GroupID: "answer", Short: "shows a request in full, then allows it",
		Long: `Shows everything of a request, asks, and records that it is allowed.

Without a terminal it takes --yes together with --digest, at least the first
twelve digits of the digest that sayso show prints: what you saw is what you
allow. Exits with 0 if the answer was recorded, 1 if another decision stands,
2 on an error.

With --cover, --for or --uses it is remembered for the session. sayso show lists
the covers that a request offers; without --cover it is the exact call.

With --group it shows every request of the group that waits, asks once, and
answers each of those that it showed. Without a terminal the members are named:
sayso approve --group GROUP --yes ID=DIGEST ID=DIGEST`,
		Args: func(c *cobra.Command, args []string) error {
			if o.group != "" {
				return nil
			}
			return oneID("approve")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("scope") && (o.cover != "" || o.lasts > 0 || o.uses > 0) {
				o.scope = string(sayso.ScopeSession)
			}
			if err := o.check(strings.Join(args, " ")); err != nil {
				return err
			}
			if o.group != "" {
				return a.approveGroup(c.Context(), o.group, args, o)
			}
			return a.approve(c.Context(), args[0], o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.scope, "scope", "once", "once, or session to remember it for this session")
	f.StringVar(&o.cover, "cover", "", "what is remembered: "+strings.Join(coverWords(), ", "))
	f.StringVar(&o.group, "group", "", "answer the requests of this group, one answer each")
	durationFlag(f, &o.lasts, "for", 0, "how long it is remembered; without, for the whole session")
	f.IntVar(&o.uses, "uses", 0, "how often it may be used; without, any number of times")
	f.StringVarP(&o.note, "note", "n", "", "a note for the log")
	f.Var(editFlag{&o.edit}, "edit", "change the arguments first, in your editor; --edit=FILE takes all of them as JSON")
	f.Lookup("edit").NoOptDefVal = "true"
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask; needs --digest")
	f.StringVar(&o.digest, "digest", "", "of the call that you were shown")
	return c
}

// check refuses flags that cannot be, before anything is shown.
func (o *approval) check(ids string) error {
	scope := sayso.Scope(o.scope)
	again := func(format string, args ...any) error {
		return usage(fmt.Errorf("%w: "+format, append([]any{sayso.ErrInvalid}, args...)...), "sayso approve --help")
	}
	switch {
	case scope != sayso.ScopeOnce && scope != sayso.ScopeSession:
		return again("a scope is once or session, not %q", o.scope)
	case o.cover != "" && !slices.Contains(coverWords(), o.cover):
		return again("there is no cover %q; there are %s", o.cover, strings.Join(coverWords(), ", "))
	case o.lasts < 0 || o.uses < 0:
		return again("--for and --uses are more than nothing")
	case scope == sayso.ScopeOnce && (o.cover != "" || o.lasts != 0 || o.uses != 0):
		return again("what is allowed once is not remembered: --cover, --for and --uses go with --scope session")
	case o.group != "":
		return nil // its members are named with their digests
	case o.yes && o.digest == "":
		return hint(fmt.Errorf("%w: --yes needs --digest, so that what you saw is what you allow", sayso.ErrInvalid),
			"sayso show %s, then sayso approve %s --yes --digest DIGEST", ids, ids)
	case o.digest != "":
		return hint(longEnough(o.digest), "sayso show %s", ids)
	}
	return nil
}

func coverWords() (words []string) {
	for _, c := range sayso.Covers() {
		words = append(words, string(c))
	}
	return words
}

func (a *app) approve(ctx context.Context, typed string, o approval) error {
	if err := a.refuseAgent(ctx, typed, sayso.Allow); err != nil {
		return err
	}
	return a.withInbox(ctx, a.person(), func(in sayso.Inbox) error {
		s, err := look(ctx, in, typed)
		if err != nil {
			return err
		}
		answer := sayso.Answer{
			Effect: sayso.Allow, Scope: sayso.Scope(o.scope), Cover: sayso.Cover(o.cover), For: o.lasts, Uses: o.uses, Note: o.note,
		}
		if o.digest != "" {
			if err := named(s.Request.Digest, o.digest); err != nil {
				return hint(err, "sayso show %s", s.Request.ShortID)
			}
		}
		if s.Request.State.Open() {
			if answer.Scope == sayso.ScopeSession {
				offer, err := chosen(s.Request, o.cover)
				if err != nil {
					return err
				}
				answer.Cover = offer.Cover
			}
			if err := a.seen(ctx, in, s, &answer, o); err != nil {
				return err
			}
		}
		return a.record(ctx, in, s.Request, answer)
	})
}

// seen makes sure that the person saw what they allow: by asking at the
// terminal, or by the digest that they name.
func (a *app) seen(ctx context.Context, in sayso.Inbox, s shownRequest, answer *sayso.Answer, o approval) error {
	short := s.Request.ShortID
	_, tty := a.terminal()
	switch {
	case !o.yes && !tty:
		return hint(errNoTerminal, "sayso show %s, then sayso approve %s --yes --digest DIGEST", short, short)
	case !o.yes:
		a.draw(a.err, s, 0)
	}
	danger, question := s.Request.Danger, "allow it?"
	if answer.Scope == sayso.ScopeSession && !o.yes {
		offer, err := chosen(s.Request, o.cover)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.err, "  remembered: %s\n", words.CoverLines([]sayso.CoverOffer{offer})[0])
		question = "allow it, and remember that?"
	}
	if o.edit != "" {
		args, err := a.edited(ctx, s, o.edit)
		if err != nil {
			return err
		}
		if words.Unchanged(s.Content.Args, args) {
			a.note("nothing was changed; not answered")
			return no{}
		}
		a.drawEdit(s, args)
		answer.Args, danger, question = args, a.dangerOf(ctx, in, s, args), "allow it with these changes?"
	}
	if o.yes {
		return nil
	}
	ok, err := a.slowly(ctx, s.Request, danger, question)
	if err == nil && !ok {
		a.note("not answered; %s still waits", short)
		return no{}
	}
	return err
}
