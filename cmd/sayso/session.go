package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

func (a *app) sessionCommand() *cobra.Command {
	list := func(c *cobra.Command, _ []string) error { return a.sessions(c.Context()) }
	c := &cobra.Command{Use: "session", GroupID: "force", Short: "sessions, and what their tools may do", RunE: list}
	return a.parent(c,
		&cobra.Command{Use: "list", Short: "lists the sessions of the last day", Args: cobra.NoArgs, RunE: list},
		&cobra.Command{
			Use: "policy SESSION [TOOL=allow|ask|deny ...]", Short: "shows or sets what a session's tools may do", Args: cobra.MinimumNArgs(1),
			Long: `Shows what the tools of a session may do, or sets it. TOOL= takes a setting back.
A tool is called as sayso or its host calls it, a tool of a server SERVER/TOOL. A
deny for a name that no tool has is refused, as in policy files.`,
			RunE: func(c *cobra.Command, args []string) error { return a.sessionPolicy(c.Context(), args[0], args[1:]) },
		})
}

// sessionRow is a session as it is listed.
type sessionRow struct {
	ID     string     `json:"session_id"`
	Host   string     `json:"host"`
	Open   int        `json:"open"`
	Asked  int        `json:"requests"`
	Last   time.Time  `json:"last"`
	Mode   sayso.Mode `json:"mode"`
	LeftS  float64    `json:"mode_left_s,omitzero"`
	Grants int        `json:"grants"`
}

func (a *app) sessions(ctx context.Context) error {
	return a.withInbox(ctx, a.person(), func(in sayso.Inbox) error {
		list, err := in.Requests(ctx, sayso.RowQuery{Since: a.now().Add(-24 * time.Hour), Limit: 1000})
		if err != nil {
			return err
		}
		rows := gather(list)
		for i := range rows {
			if err := rows[i].complete(ctx, in); err != nil {
				return err
			}
		}
		if a.json {
			return a.printJSON(rows)
		}
		if len(rows) == 0 {
			a.note("no session asked for anything in the last day")
			return nil
		}
		out := [][]string{{"SESSION", "HOST", "REQUESTS", "OPEN", "GRANTS", "MODE", "LAST"}}
		for _, s := range rows {
			out = append(out, []string{dash(safe(s.ID)), dash(safe(s.Host)), fmt.Sprint(s.Asked), fmt.Sprint(s.Open), fmt.Sprint(s.Grants), string(s.Mode), s.Last.Local().Format(time.DateTime)})
		}
		return a.fitted(1, out)
	})
}

// gather counts requests by session, the newest session first.
func gather(list []sayso.Request) []sessionRow {
	rows, at := []sessionRow{}, map[string]int{}
	for _, r := range list {
		if r.Staged() {
			continue
		}
		i, ok := at[r.SessionID]
		if !ok {
			i = len(rows)
			at[r.SessionID] = i
			rows = append(rows, sessionRow{ID: r.SessionID, Host: r.Host, Last: r.CreatedAt})
		}
		rows[i].Asked++
		if r.State.Open() {
			rows[i].Open++
		}
	}
	return rows
}

func (s *sessionRow) complete(ctx context.Context, in sayso.Inbox) error {
	mode, err := in.Mode(ctx, s.ID)
	if err != nil {
		return err
	}
	grants, err := in.Grants(ctx, s.ID, false)
	s.Mode, s.LeftS, s.Grants = mode.Mode, mode.Left.Seconds(), len(grants)
	return err
}

func (a *app) sessionPolicy(ctx context.Context, session string, changes []string) error {
	if len(changes) > 0 {
		if err := a.noAgent("setting a session's policy"); err != nil {
			return err
		}
	}
	return a.withInbox(ctx, a.person(), func(in sayso.Inbox) error {
		policies, err := in.Policies(ctx, session)
		if err != nil {
			return ofSession(err, session)
		}
		if policies == nil {
			policies = map[string]sayso.Effect{}
		}
		if len(changes) > 0 {
			set, err := changePolicies(policies, changes)
			if err != nil {
				return err
			}
			if err := a.checkNames(ctx, in, session, set); err != nil {
				return err
			}
			if err := in.SetPolicies(ctx, session, policies); err != nil {
				return err
			}
		}
		if a.json {
			return a.printJSON(policies)
		}
		if len(policies) == 0 {
			a.note("nothing is set for the tools of session %s", printable(session))
			return nil
		}
		var rows [][]string
		for _, tool := range sortedKeys(policies) {
			rows = append(rows, []string{safe(tool), policies[tool].String()})
		}
		return table(a.out, rows)
	})
}

// ofSession says of what may not be done to a session what most often is wrong:
// there is none of that name, or it is somebody else's. Which of the two is not
// told to whom it is none of their business.
func ofSession(err error, session string) error {
	if session == "" || !errors.Is(err, sayso.ErrNotAllowed) {
		return err
	}
	return hint(fmt.Errorf("no session %q that is yours", session), "sayso session list")
}

// changePolicies applies TOOL=EFFECT to the policies, and returns those that
// were set.
func changePolicies(policies map[string]sayso.Effect, changes []string) (set map[string]sayso.Effect, err error) {
	set = map[string]sayso.Effect{}
	for _, change := range changes {
		tool, word, ok := strings.Cut(change, "=")
		if !ok || tool == "" {
			return nil, usage(errors.New("a setting is TOOL=allow, TOOL=ask or TOOL=deny"), settingExample)
		}
		if word == "" {
			delete(policies, tool)
			continue
		}
		var e sayso.Effect
		if err := e.UnmarshalText([]byte(word)); err != nil {
			return nil, usage(err, "sayso session policy SESSION "+tool+"=ask")
		}
		policies[tool], set[tool] = e, e
	}
	return set, nil
}

const settingExample = "sayso session policy SESSION bash=ask"

// checkNames refuses settings of tools that there are not, or warns of them, as
// policy files do. A tool that the session called already is one.
func (a *app) checkNames(ctx context.Context, in sayso.Inbox, session string, set map[string]sayso.Effect) error {
	for _, tool := range sortedKeys(set) {
		warning, err := checkName(set[tool], tool)
		if warning == "" && err == nil {
			continue
		}
		called, errCalled := hasCalled(ctx, in, session, tool)
		switch {
		case errCalled != nil:
			return errCalled
		case called:
		case err != nil:
			return err
		default:
			a.note("warning: %s", warning)
		}
	}
	return nil
}

// checkName is what policy files are told of a name. Here a name is that of one
// tool, and SERVER/TOOL is one.
func checkName(e sayso.Effect, tool string) (warning string, err error) {
	if strings.ContainsAny(tool, ":* \t()") {
		return "", usage(fmt.Errorf("%s is no name of a tool: a setting is for all calls of one tool", quote(tool)), settingExample+", and a rule in your policy for some of its calls")
	}
	if server, name, ok := strings.Cut(tool, "/"); ok && server != "" && name != "" {
		return "", nil
	}
	warning, mistake := policy.CheckName(e, tool)
	if mistake != nil {
		return "", usage(errors.New(mistake.What), mistake.Write)
	}
	return warning, nil
}

// hasCalled reports whether a session asked for a tool of that name.
func hasCalled(ctx context.Context, in sayso.Inbox, session, tool string) (bool, error) {
	list, err := in.Requests(ctx, sayso.RowQuery{Session: session, Limit: 1000})
	return slices.ContainsFunc(list, func(r sayso.Request) bool {
		if r.Server != "" {
			return r.Server+"/"+r.Tool == tool
		}
		return r.Tool == tool || r.HostTool == tool
	}), err
}
