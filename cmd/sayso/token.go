package main

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
)

func (a *app) tokenCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "lists tokens, never the secrets", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.tokens() },
	}
	revoke := &cobra.Command{
		Use: "revoke ID|NAME|DEVICE", Short: "ends a token, or all of one name or device", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.revokeToken(args[0]) },
	}
	c := &cobra.Command{
		Use: "token", GroupID: "gate", Short: "who may ask, answer, administer and look", Args: a.noCommand,
		RunE: func(*cobra.Command, []string) error { return a.tokens() },
	}
	return a.parent(c, a.tokenCreateCommand(), list, revoke)
}

func (a *app) tokenCreateCommand() *cobra.Command {
	var want home.Token
	var kind string
	var life time.Duration
	c := &cobra.Command{
		Use: "create --name NAME --kind agent|tool|person|admin|viewer", Short: "makes a token and prints it, once", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := wanted(c, "name"); err != nil {
				return err
			}
			want.Kind = sayso.PrincipalKind(kind)
			if life > 0 {
				want.Expires = a.now().Add(life).UTC().Truncate(time.Second)
			}
			if want.Owner == "" && want.Kind.Asks() {
				want.Owner = home.Person()
			}
			return a.createToken(want)
		},
	}
	c.Flags().StringVar(&want.Name, "name", "", "who uses it")
	c.Flags().StringVar(&kind, "kind", "agent", "what they may do")
	c.Flags().StringVar(&want.Owner, "owner", "", "who answers for its sessions (default: you)")
	c.Flags().StringSliceVar(&want.Approvers, "approver", nil, "who else answers for its sessions")
	durationFlag(c.Flags(), &life, "for", 0, "how long it lasts; without, until it is revoked")
	return c
}

func (a *app) createToken(want home.Token) error {
	if err := a.noAgent("making tokens"); err != nil {
		return err
	}
	if err := a.paths.Make(); err != nil {
		return err
	}
	secret, made, err := a.paths.Tokens().Create(a.now(), want)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"token": secret, "id": made.ID, "name": made.Name, "kind": made.Kind})
	}
	a.print("%s", secret)
	a.note("this is shown once; `sayso token revoke %s` ends it", made.ID)
	if made.Kind == sayso.PrincipalPerson {
		return a.noteSessions(made.Name)
	}
	return nil
}

// noteSessions says for whose calls a person answers, if for none so far.
func (a *app) noteSessions(name string) error {
	list, err := a.paths.Tokens().List()
	if err != nil {
		return err
	}
	for _, t := range list {
		if t.Kind.Asks() && (t.Owner == name || slices.Contains(t.Approvers, name)) {
			return nil
		}
	}
	a.note("%s answers for no session yet; make the agent's token with --owner %s or --approver %s", printable(name), quote(name), quote(name))
	return nil
}

// shownToken is a token as it may be seen.
type shownToken struct {
	ID        string              `json:"id"`
	Name      string              `json:"name"`
	Kind      sayso.PrincipalKind `json:"kind"`
	Owner     string              `json:"owner"`
	Approvers []string            `json:"approvers"`
	Created   time.Time           `json:"created_at"`
	Expires   *time.Time          `json:"expires_at"`
	Device    string              `json:"device,omitempty"`
	Used      *time.Time          `json:"used_at,omitempty"` // last, to the minute
}

func (a *app) tokens() error {
	tokens := a.paths.Tokens()
	list, err := tokens.List()
	if err != nil {
		return err
	}
	shown := []shownToken{}
	rows := [][]string{{"ID", "NAME", "KIND", "OWNER", "DEVICE", "USED", "EXPIRES"}}
	for _, t := range list {
		s := shownToken{t.ID, t.Name, t.Kind, t.Owner, t.Approvers, t.Created, nil, t.Device, nil}
		ends, last := "never", "never"
		if !t.Expires.IsZero() {
			s.Expires, ends = &t.Expires, t.Expires.Local().Format(time.DateTime)
		}
		if used := tokens.Used(t.ID).UTC(); !used.IsZero() {
			s.Used, last = &used, span(a.now().Sub(used))+" ago"
		}
		shown = append(shown, s)
		rows = append(rows, []string{t.ID, t.Name, string(t.Kind), dash(t.Owner), dash(t.Device), last, ends})
	}
	if a.json {
		return a.printJSON(shown)
	}
	return table(a.out, rows)
}

// ofDevice names the device of a token, if it has one.
func ofDevice(t home.Token) string {
	if t.Device == "" {
		return ""
	}
	return ", " + t.Device
}

func (a *app) revokeToken(idOrName string) error {
	if err := a.noAgent("revoking tokens"); err != nil {
		return err
	}
	ended, err := a.paths.Tokens().Revoke(idOrName)
	if err != nil {
		return hint(err, "sayso token list")
	}
	if a.json {
		return a.printJSON(map[string]int{"revoked": len(ended)})
	}
	for _, t := range ended {
		a.print("revoked %s (%s, %s%s)", t.ID, t.Name, t.Kind, ofDevice(t))
	}
	return nil
}
