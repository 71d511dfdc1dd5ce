package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/internal/local"
)

func (a *app) modeCommand() *cobra.Command {
	var session string
	var d time.Duration
	c := &cobra.Command{
		Use: "mode [interactive|strict|approve_all --for TIME]", GroupID: "force", Short: "what happens to calls that would be asked about",
		Args: cobra.MaximumNArgs(1), ValidArgs: []string{"interactive", "strict", "approve_all"},
		Long: `Shows or sets what happens to calls that would be asked about, for all sessions
or for one: interactive asks a person, strict denies, approve_all allows until
its end. No mode turns a denial round, and what was not understood is always
asked.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.showMode(c.Context(), session)
			}
			return a.setMode(c.Context(), session, args[0], d)
		},
	}
	c.Flags().StringVar(&session, "session", "", "of one session")
	durationFlag(c.Flags(), &d, "for", 0, "how long; approve_all must have an end")
	return c
}

// shownMode is a mode as it is printed.
type shownMode struct {
	Session string     `json:"session_id,omitempty"`
	Mode    sayso.Mode `json:"mode"`
	LeftS   float64    `json:"left_s,omitzero"`
	Locked  bool       `json:"locked"`
	Error   string     `json:"error,omitempty"` // of the policy, which does not load
}

func (a *app) showMode(ctx context.Context, session string) error {
	return a.withInbox(ctx, a.person(), func(in sayso.Inbox) error { return a.printMode(ctx, in, session) })
}

func (a *app) printMode(ctx context.Context, in sayso.Inbox, session string) error {
	if session != "" {
		if _, err := in.Policies(ctx, session); err != nil {
			return ofSession(err, session) // the mode of all would be shown for it
		}
	}
	m, err := in.Mode(ctx, session)
	if err != nil {
		return err
	}
	if m.Mode == "" {
		m.Mode = sayso.ModeInteractive
	}
	broken, stands := a.brokenPolicy(), ""
	if _, server := in.(*client.Client); broken != "" && server {
		if stands, err = standing(ctx, in); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(shownMode{session, m.Mode, m.Left.Seconds(), a.paths.Locked(), broken})
	}
	line := string(m.Mode)
	if m.Left > 0 {
		line += " for " + span(m.Left) + " more"
	}
	if a.paths.Locked() {
		line += " (locked: everything asks or denies)"
	}
	if broken != "" && stands == "" {
		line += " (the policy does not load: every call is denied)"
	}
	a.print("%s", line)
	switch {
	case stands != "":
		a.note("the policy does not load, and the server goes on with the one before (%s): %s", shortVersion(stands), broken)
	case broken != "":
		a.note("%s", broken)
		a.note("sayso policy check says all that is wrong with it")
	}
	return nil
}

// brokenPolicy is the first mistake of the policy of this machine, empty if it
// loads, or a server elsewhere has its own.
func (a *app) brokenPolicy() string {
	if a.settings.Server != "" {
		return ""
	}
	if err := local.NewRules(a.paths).Err(); err != nil {
		return firstMistake(err)
	}
	return ""
}

func (a *app) setMode(ctx context.Context, session, word string, d time.Duration) error {
	if err := a.noAgent("setting the mode"); err != nil {
		return err
	}
	m, err := sayso.ParseMode(word)
	if err != nil {
		return usage(err, "sayso mode --help")
	}
	if m == sayso.ModeApproveAll && d <= 0 {
		return usage(errors.New("approve_all must be given an end"), "sayso mode approve_all --for 30m")
	}
	who := a.person()
	if session == "" {
		who = a.admin()
	}
	return a.withInbox(ctx, who, func(in sayso.Inbox) error {
		if err := in.SetMode(ctx, session, m, d); err != nil {
			return ofSession(err, session)
		}
		return a.printMode(ctx, in, session)
	})
}
