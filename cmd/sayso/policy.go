package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/policy"
)

// checkOptions are the flags of policy check.
type checkOptions struct{ file, workspace, session string }

func (a *app) policyCommand() *cobra.Command {
	var o checkOptions
	check := &cobra.Command{
		Use: "check [--policy FILE] [--workspace DIR] < calls.jsonl", Short: "says what the policy says of calls, one a line", Args: cobra.NoArgs,
		Long: `Reads a call a line and prints what the policy says of it, one line each. Nothing
is recorded; modes and remembered answers play no part. With --policy only the
built-ins that are final are added to that file. A line that is no valid call is
denied. At a terminal it looks at the policy alone. Exits with 0 if all lines
could be read.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.policyCheck(c.Context(), o) },
	}
	check.Flags().StringVar(&o.file, "policy", "", "a policy file instead of those in force")
	check.Flags().StringVar(&o.workspace, "workspace", "", "the folder of the project; without, it is found from each call's directory")
	check.Flags().StringVar(&o.session, "session", "", "the session of calls that name none")
	c := &cobra.Command{Use: "policy", GroupID: "force", Short: "the rules"}
	return a.parent(c, check, a.policyInitCommand(), a.policyTrustCommand(), a.policyWhereCommand(), a.policySchemaCommand(),
		a.policyExplainCommand(), a.policyTestCommand(), a.policyLintCommand(), a.policyReplayCommand(), a.policySuggestCommand())
}

func (a *app) policyCheck(ctx context.Context, o checkOptions) error {
	p, err := a.policyFor(o)
	if err != nil {
		if hintOf(err) != "" {
			return err // it says itself what to type
		}
		return hint(err, "mend the file, then run the command again")
	}
	if o.workspace != "" {
		st, err := os.Stat(o.workspace)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			a.note("there is no folder %s; its files are taken for missing", printable(o.workspace))
		case err != nil || !st.IsDir():
			return usage(fmt.Errorf("the workspace %s is no folder", o.workspace), "sayso policy check --help")
		}
		if o.workspace, err = filepath.Abs(o.workspace); err != nil {
			return err
		}
	}
	if _, tty := a.terminal(); tty {
		return a.policySummary(o.file, p)
	}
	gather := func(ctx context.Context, c sayso.Call) sayso.Facts {
		c.Cwd = runsIn(c, o.workspace)
		return facts.Gather(ctx, c, a.machine(o.workspace, rootsOf(p)))
	}
	bad := false
	err = a.eachLine(ctx, func(line []byte) error {
		answer, ok := policy.Check(ctx, inSession{p, o.session}, gather, line)
		bad = bad || !ok
		return a.printText(answer)
	})
	if err == nil && bad {
		return no{}
	}
	return err
}

// policySummary says what a policy is made of that has no mistakes, where
// nobody gave calls to look at.
func (a *app) policySummary(file string, p sayso.Policy) error {
	files := []string{file}
	if rules, ok := p.(*local.Rules); ok {
		files = rules.Files()
	}
	version := strings.TrimPrefix(p.Version(), "sha256:")
	version = version[:min(len(version), shortestDigest)]
	if len(files) == 0 {
		a.print("no policy file: the built-ins alone (%s)", version)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := policy.Parse(name, text)
		if err != nil {
			return err
		}
		a.print("%s: %s, no mistakes (%s)", name, count(f.Rules(), "rule"), version)
	}
	a.note("calls are read from standard input, one a line: sayso policy check < calls.jsonl")
	return nil
}

// policyFor is the policy in force, or that of one file.
func (a *app) policyFor(o checkOptions) (sayso.Policy, error) {
	if o.file == "" {
		rules := local.NewRules(a.paths)
		a.warn(rules.Warnings())
		return rules, rules.Err()
	}
	text, err := os.ReadFile(o.file)
	if err != nil {
		return nil, err
	}
	f, err := policy.Parse(o.file, text)
	if err != nil {
		return nil, err
	}
	p, err := policy.New(policy.Options{Home: home.PersonFolder(), FinalOnly: true}, policy.Tiered{Tier: policy.TierUser, File: f})
	if err != nil {
		return nil, err
	}
	a.warn(p.Warnings())
	return p, nil
}

func (a *app) warn(warnings []policy.Warning) {
	for _, w := range warnings {
		fmt.Fprintln(a.err, printable(w.String()))
	}
}

// inSession is a policy that takes calls without a session for calls of one.
type inSession struct {
	sayso.Policy
	session string
}

// Judge says what the policy thinks of a call.
func (p inSession) Judge(ctx context.Context, c sayso.Call, f sayso.Facts) sayso.Verdict {
	if c.Session == "" {
		c.Session = p.session
	}
	return p.Policy.Judge(ctx, c, f)
}

// rootsOf are the folders that a policy names, and that facts must say where
// they are.
func rootsOf(p sayso.Policy) []string {
	if p, ok := p.(interface{ Roots() []string }); ok {
		return p.Roots()
	}
	return nil
}

// firstMistake is the first line of an error of a policy file.
func firstMistake(err error) string {
	var first *policy.Error
	if errors.As(err, &first) {
		return first.Error()
	}
	return err.Error()
}
