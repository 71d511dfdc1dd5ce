package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/notice"
	"github.com/sayso-dev/sayso/internal/oauth"
	"github.com/sayso-dev/sayso/internal/status"
	"github.com/sayso-dev/sayso/internal/words"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", GroupID: "wire", Short: "says whether calls are gated, and what is in force", Args: cobra.NoArgs,
		Long: `The first line is one of: protected, not protected, unknown; and whether the gate
is locked. It tells what the settings of the agents say, of each where there are
several; sayso doctor proves it of those that it can start. Exits with 0 if protected,
1 if not or if every call is refused, 2 if that is unknown. A policy file with a
mistake has every call refused, unless a server goes on with the one before.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.status(c.Context()) },
	}
}

// state is what status tells.
type state struct {
	Status  status.Protection `json:"status"`
	Why     string            `json:"why"`
	Wired   []status.Wiring   `json:"wired"`   // each agent that has the hook; not looked at while the gate is off
	Servers []listed          `json:"servers"` // of each MCP client that lists some
	Off     *status.Off       `json:"off"`
	Locked  bool              `json:"locked"`
	Gate    string            `json:"gate"` // server or database, and where
	Error   string            `json:"error,omitempty"`
	Open    int               `json:"open"`
	Prompts *status.Counts    `json:"prompts,omitempty"`
	Mode    sayso.Mode        `json:"mode"`
	ModeS   float64           `json:"mode_left_s,omitzero"`
	Policy  string            `json:"policy"`
	Files   []string          `json:"policy_files"`
	Mistake string            `json:"policy_error,omitempty"`
	Stands  string            `json:"policy_in_force,omitempty"` // by which a server goes on, despite the mistake
	Watched bool              `json:"watched"`
	Changed string            `json:"changed,omitempty"` // what MCP servers came with that waits to be accepted
	Relayed []string          `json:"relayed,omitempty"` // agents that asked through sayso acp of late
	Logins  []oauth.Status    `json:"logins,omitempty"`  // to MCP servers

	prove string // what to type where it is not known
}

// unknown says of whom it is not known, where there are several: why, the first line
// has said.
func (s state) unknown() string {
	var names []string
	for _, w := range s.Wired {
		if w.State == status.Unknown {
			names = append(names, w.Host)
		}
	}
	if len(s.Wired) < 2 || len(names) == 0 {
		return ": " + s.Why
	}
	return " of " + inWords(names, "and")
}

// refuses reports whether the gate cannot decide anything.
func (s state) refuses() bool { return s.Error != "" || s.lawless() }

// lawless reports whether no policy is in force.
func (s state) lawless() bool { return s.Mistake != "" && s.Stands == "" }

func (a *app) status(ctx context.Context) error {
	s := a.wired()
	s.Locked, s.Watched = a.paths.Locked(), notice.Watched(a.paths.Watchers())
	var unread error
	if s.Logins, unread = a.logins().List(); unread != nil {
		a.note("warning: %v", unread)
	}
	mistake := a.statusOfPolicy(&s)
	broken := a.statusOfGate(ctx, &s)
	if broken != nil {
		s.Error = broken.Error()
	}
	if s.Status == status.Protected && s.refuses() {
		s.Why = "every call is refused, since the gate cannot decide; " + s.Why
	}
	if a.json {
		if err := a.printJSON(s); err != nil {
			return err
		}
	} else {
		a.printStatus(s, ownHint(broken), hintOf(mistake))
	}
	switch {
	case s.Status == status.Protected && !s.refuses():
		return nil
	case s.Status != status.Unknown:
		return no{}
	}
	return hint(fmt.Errorf("whether calls are gated is not known%s", s.unknown()), "%s", cmp.Or(s.prove, "sayso doctor"))
}

// wired says what the settings of the agents say.
func (a *app) wired() state {
	if o, off, err := a.paths.IsOff(a.now()); off {
		return state{Status: status.NotProtected, Wired: []status.Wiring{}, Why: "switched off by " + o.By + " until " + o.Until.Local().Format(time.DateTime), Off: &status.Off{Until: o.Until, By: o.By}}
	} else if err != nil {
		a.note("warning: %v", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return state{Status: status.Unknown, Wired: []status.Wiring{}, Why: err.Error()}
	}
	all := a.wirings(dir)
	w := weakest(all)
	return state{Status: w.State, Why: w.Why, Wired: all, Servers: a.listed(dir, all), prove: w.Proof}
}

// statusOfGate asks the gate itself.
func (a *app) statusOfGate(ctx context.Context, s *state) error {
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	what, path := l.Where()
	s.Gate = what + " " + path
	in, err := l.Inbox(ctx, a.person())
	if err != nil {
		return err
	}
	sweep(ctx, l)
	open, err := in.Requests(ctx, sayso.RowQuery{States: sayso.OpenStates(), Oldest: true})
	if err != nil {
		return err
	}
	s.Open = len(open)
	if s.Prompts, err = a.counted(ctx, in); err != nil {
		return err
	}
	if s.Stands, err = a.stands(ctx, l, in, s.Mistake); err != nil {
		return err
	}
	if s.Changed, err = a.changed(ctx, l); err != nil {
		return err
	}
	if s.Relayed, err = a.relayed(ctx, in); err != nil {
		return err
	}
	if !s.lawless() { // else the mode is not known: the policy may name one
		mode, err := in.Mode(ctx, "")
		if err != nil {
			return err
		}
		s.Mode, s.ModeS = cmp.Or(mode.Mode, sayso.ModeInteractive), mode.Left.Seconds()
	}
	if a.settings.Server != "" {
		return nil // its database is its own
	}
	return local.Writable(ctx, a.paths)
}

// stands is the version of the policy by which a server goes on although the
// files have a mistake; empty if they have none, or nothing stands.
func (a *app) stands(ctx context.Context, l *local.Local, in sayso.Inbox, mistake string) (string, error) {
	if _, ours := l.Engine(); mistake == "" || ours {
		return "", nil
	}
	return standing(ctx, in)
}

// standing is the version of the policy that a gate goes by; empty where it has
// none, and denies every call.
func standing(ctx context.Context, in sayso.Inbox) (string, error) {
	v, err := in.Explain(ctx, sayso.Call{Tool: "task-list", Args: sayso.Args("{}")}, sayso.Facts{})
	if err != nil || v.Policy == local.BrokenPolicy {
		return "", err
	}
	return v.Policy, nil
}

// statusOfPolicy reads the policy of this machine, which a server on it goes by
// too. A server elsewhere has its own.
func (a *app) statusOfPolicy(s *state) error {
	if a.settings.Server != "" {
		return nil
	}
	rules := local.NewRules(a.paths)
	err := rules.Err()
	if err != nil {
		s.Mistake = firstMistake(err)
	}
	s.Policy, s.Files = rules.Version(), rules.Files()
	return err
}

func (a *app) printModeOf(s state) {
	mode := string(s.Mode)
	if s.ModeS > 0 {
		mode += " for " + span(time.Duration(s.ModeS*float64(time.Second))) + " more"
	}
	if mode != "" {
		a.print("mode     %s", mode)
	}
}

// policyLine names the policy in force: its files, and the beginning of its
// version.
func policyLine(s state) string { return words.Policy(s.Policy, s.Files) }

// goesOn says what a server goes by while the files have a mistake.
func goesOn(s state) string {
	if s.Stands == "" {
		return ""
	}
	return "; the server goes on with the one before (" + shortVersion(s.Stands) + ")"
}

// agentLine is how it stands with one agent of several. What the first line said
// of it is not said again.
func agentLine(w status.Wiring, said string) string {
	line := w.Host + ": " + string(w.State)
	if strings.Contains(said, w.Host+": "+w.Why) {
		return line
	}
	return line + ": " + w.Why
}

// printStatus prints what status found, and what to type about a gate that is
// broken, if that is known, and about a policy that does not load, if that is
// not to look at it.
func (a *app) printStatus(s state, aboutGate, aboutPolicy string) {
	locked := ""
	if s.Locked {
		locked = ", locked"
	}
	a.say(string(s.Status)+locked+": ", s.Why)
	if len(s.Wired) > 1 {
		for _, w := range s.Wired {
			a.say("agent    ", agentLine(w, s.Why))
		}
	}
	for _, name := range s.Relayed {
		a.say("relayed  ", name+": what it asks its editor is asked here; what it does not ask is not seen")
	}
	for _, l := range s.Servers {
		for _, line := range l.lines() {
			a.say("servers  ", line)
		}
	}
	for _, l := range s.Logins {
		a.say("login    ", l.URL+": "+loginStands(l, a.now()))
	}
	if s.Changed != "" {
		a.say("changed  ", s.Changed)
	}
	if s.Error != "" {
		a.say("gate     ", "broken: "+s.Error)
		if aboutGate != "" {
			a.print("type     %s", aboutGate)
		}
	} else {
		a.print("gate     %s", s.Gate)
		a.print("waiting  %d", s.Open)
		a.printModeOf(s)
		a.printPrompts(s.Prompts)
	}
	switch {
	case s.Mistake != "":
		a.say("policy   ", "broken: "+s.Mistake+goesOn(s))
		a.print("type     %s", cmp.Or(aboutPolicy, "sayso policy check"))
	case s.Policy != "":
		a.say("policy   ", policyLine(s))
	default:
		a.print("policy   the server's own")
	}
	if s.Locked {
		a.print("locked   everything asks or denies; `sayso lock --release` ends it")
	}
	if s.Watched {
		a.print("watched  somebody watches")
	} else {
		a.print("watched  nobody watches: sayso watch")
	}
}
