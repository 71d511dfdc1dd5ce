package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/client"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/policy"
)

// lookBackOptions are the flags of the commands that look back at the log.
type lookBackOptions struct {
	file    string
	since   time.Duration
	suggest policy.SuggestOptions
}

// lookBack is how far back these commands look by themselves: for as long as
// content is kept.
const lookBack = 30 * 24 * time.Hour

func (a *app) policyReplayCommand() *cobra.Command {
	var o lookBackOptions
	c := &cobra.Command{
		Use: "replay --policy NEW [--since 30d]", Short: "says what another policy would have made of the calls in the log", Args: cobra.NoArgs,
		Long: `Judges the calls in the log again, as if NEW had been your policy file, and
prints every decision that would have been another: denials that would be
allowed first, then prompts saved and prompts added. The organisation's file and
those of projects stay in force, and so does all else that had a say: what a tool
said of its call, the policy of the session, the mode, remembered answers. Calls
that were erased, or of which too little was recorded, are counted. Nothing is
recorded.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := wanted(c, "policy"); err != nil {
				return err
			}
			return a.policyReplay(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.file, "policy", "", "the policy file to try")
	durationFlag(c.Flags(), &o.since, "since", lookBack, "how far back to look")
	return c
}

func (a *app) policyReplay(ctx context.Context, o lookBackOptions) error {
	if o.since <= 0 {
		return usage(errors.New("--since is a time that has passed"), "sayso policy replay --policy NEW --since 30d")
	}
	text, err := readPolicy(o.file)
	if err != nil {
		return err
	}
	x, err := a.replayed(ctx, o, text)
	var wrong *policy.Error
	if errors.As(err, &wrong) {
		return hint(err, "mend the file, then run the command again")
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(x)
	}
	a.printReplay(o.file, x)
	a.noteNoCalls(x.Calls)
	return nil
}

// replayed asks a server elsewhere, or the log of this machine.
func (a *app) replayed(ctx context.Context, o lookBackOptions, text []byte) (x policy.Replay, err error) {
	if a.settings.Server != "" {
		err = a.withClient(ctx, func(c *client.Client) error {
			out, err := c.Replay(ctx, string(text), o.since)
			if err != nil {
				return err
			}
			return wire.Convert(out, &x)
		})
		return x, err
	}
	err = a.withEngine(ctx, func(e *local.Engine) error {
		p, err := e.Policy.InsteadOf(o.file, text)
		if err != nil {
			return err
		}
		a.warn(p.Warnings())
		x, err = e.Replay(ctx, a.admin(), p, a.now().Add(-o.since), math.MaxInt)
		return err
	})
	return x, err
}

// withClient talks to a server elsewhere.
func (a *app) withClient(ctx context.Context, do func(*client.Client) error) error {
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	in, err := l.Inbox(ctx, a.person())
	if c, ok := in.(*client.Client); err == nil && ok {
		err = do(c)
	}
	return errors.Join(err, l.Close())
}

func (a *app) printReplay(file string, x policy.Replay) {
	if x.DenialsAllowed > 0 {
		a.print("WARNING: %s that somebody said no to would be ALLOWED (%d denied by policy, %d by a person)", count(x.DenialsAllowed, "call"), x.DeniedByPolicy, x.DeniedByPerson)
		a.printTurned(x.Changes, func(t *policy.Turned) bool { return t.Looser() })
		a.print("")
	}
	a.print("%s", file)
	a.print("  prompts  %d instead of %d: %d saved, %d added", x.PromptsAfter, x.PromptsBefore, x.PromptsSaved, x.PromptsAdded)
	if x.DenialsAllowed == 0 {
		a.print("  denials  none would be allowed")
	}
	if x.AllowancesEnded > 0 {
		a.print("  denied   %s that ran without a question", count(x.AllowancesEnded, "call"))
	}
	a.print("  judged   %d of %s%s", x.Replayed, count(x.Calls, "call"), sinceText(x))
	for _, g := range x.NotReplayed {
		a.print("           %d could not be replayed: %s", g.Count, g.Why)
	}
	for _, turn := range x.Turns {
		a.print("")
		a.print("%s → %s: %d", turn.From.String(), turn.To.String(), turn.Count)
		a.printTurned(x.Changes, func(t *policy.Turned) bool {
			return t.Was.Effect == turn.From && t.Now.Effect == turn.To && !t.Looser() // those stand above
		})
	}
	if x.LeftOut > 0 {
		a.note("the server lists the %d worst changes; %d more are counted, and not listed", len(x.Changes), x.LeftOut)
	}
}

// noteNoCalls says where calls would come from, where there are none.
func (a *app) noteNoCalls(n int) {
	if n == 0 {
		a.note("the log has no calls of that time; --since looks further back, as in --since 90d")
	}
}

func sinceText(x policy.Replay) string {
	if x.Calls == 0 {
		return ""
	}
	return " since " + x.From.Local().Format("2006-01-02 15:04")
}

// maxTurned is how many calls are told of one kind of change.
const maxTurned = 10

// printTurned tells of calls that would have come out otherwise, those that are
// alike in one line.
func (a *app) printTurned(list []policy.Turned, wanted func(*policy.Turned) bool) {
	type group struct {
		first *policy.Turned
		n     int
	}
	var groups []*group
	byText := map[string]*group{}
	for i := range list {
		t := &list[i]
		if !wanted(t) {
			continue
		}
		key := strings.Join([]string{t.Tool, t.Text, t.Was.Answer, t.Was.Rule, t.Now.Rule}, "\x00")
		g := byText[key]
		if g == nil {
			g = &group{first: t}
			byText[key], groups = g, append(groups, g)
		}
		g.n++
	}
	for i, g := range groups {
		if i == maxTurned {
			a.note("and %d more of this kind; --json lists all", len(groups)-maxTurned)
			return
		}
		t := g.first
		a.print("  %s  %s: %s%s", t.ShortID, t.Tool, oneLine(t.Text), times(g.n))
		a.print("        was %s, would be %s", cameText(t.Was), cameText(t.Now))
	}
}

// oneLine is a text with its line ends shown.
func oneLine(text string) string {
	return strings.NewReplacer("\r\n", " ⏎ ", "\n", " ⏎ ", "\r", " ⏎ ").Replace(text)
}

func times(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("   (%d times)", n)
}

// cameText says what a call came to, and by what.
func cameText(c policy.Came) string {
	by := whose(c.Rule, c.File, c.Line)
	if c.Rule == "" {
		by = c.By
	}
	text := map[sayso.Effect]string{sayso.Allow: "allowed", sayso.Ask: "asked about", sayso.Deny: "denied"}[c.Effect]
	switch {
	case c.Answer == sayso.Deny.String():
		text += " and denied by a person"
	case c.Answer != "":
		text += " and allowed by a person"
	case c.By == string(sayso.SourceGrant):
		text += " as remembered"
	case c.By == string(sayso.SourceMode):
		text += " in this mode"
	}
	return text + ": " + by
}

func (a *app) policySuggestCommand() *cobra.Command {
	var o lookBackOptions
	c := &cobra.Command{
		Use: "suggest [--since 30d] [--least 2]", Short: "suggests rules that would have saved the most prompts", Args: cobra.NoArgs,
		Long: `Looks at the calls in the log that you were asked about, and prints the fewest
and narrowest rules that would have saved the most of these prompts, as YAML to
put into your policy file. What it prints was replayed: so many prompts would
have been saved, every rule is needed for that, and nothing that was denied, by a
rule or by a person, would be allowed. It suggests nothing for commands that run
others or a text, that delete, send, become somebody else or are not known, and
nothing that shows secrets. Nothing is recorded, and nothing is changed.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.policySuggest(c.Context(), o) },
	}
	durationFlag(c.Flags(), &o.since, "since", lookBack, "how far back to look")
	c.Flags().IntVar(&o.suggest.Least, "least", 2, "prompts that a rule must save")
	c.Flags().IntVar(&o.suggest.Most, "most", 12, "rules to suggest")
	return c
}

func (a *app) policySuggest(ctx context.Context, o lookBackOptions) error {
	if o.since <= 0 || o.suggest.Least < 1 || o.suggest.Most < 1 {
		return usage(errors.New("--since, --least and --most are more than nothing"), "sayso policy suggest --help")
	}
	return a.withEngine(ctx, func(e *local.Engine) error {
		p, err := e.Policy.Policy()
		if err != nil {
			return hint(err, "sayso policy check")
		}
		x, err := e.Suggest(ctx, a.admin(), p, a.now().Add(-o.since), o.suggest)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(x)
		}
		a.printSuggestions(x)
		a.noteNoCalls(x.Calls)
		return nil
	})
}

func (a *app) printSuggestions(x policy.Suggestions) {
	asked := fmt.Sprintf("%s of %s", count(x.Prompts, "prompt"), count(x.Replayed, "call"))
	if len(x.Rules) == 0 {
		a.print("version: 1")
		a.print("# No rule would have saved enough of %s.", asked)
	} else {
		a.print("# To add to %s: saves %d of %s.", a.paths.Policy(), x.PromptsSaved-x.AlreadySaved, asked)
	}
	for _, w := range x.Withheld {
		a.print("# Nothing is suggested for %s: somebody denied %s of it that cannot be looked at (%s). What is left: sayso show %s", withheldTool(w), count(w.Count, "call"), w.Why, w.Newest.Short())
	}
	if len(x.Rules) > 0 {
		a.print("version: 1")
		a.print("rules:")
	}
	for _, r := range x.Rules {
		a.print("  # saves %d, such as:", r.Saves)
		for _, text := range r.Examples {
			a.print("  #   %s", oneLine(text))
		}
		fmt.Fprintln(a.out, "  "+r.Write) // as it is: only what can be seen is suggested, and its other lines are indented
	}
	if x.AlreadySaved > 0 {
		a.note("the policy in force has no question for %d more of them", x.AlreadySaved)
	}
	for _, g := range x.NotReplayed {
		a.note("%s could not be looked at: %s", count(g.Count, "call"), g.Why)
	}
	if len(x.Rules) > 0 {
		a.note("type sayso policy check when they are in the file")
	}
}

// withheldTool is a tool as patterns name it.
func withheldTool(w policy.Withheld) string {
	if w.Server == "" {
		return w.Tool
	}
	return "mcp__" + w.Server + "__" + w.Tool
}
