package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
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
	return a.parent(c, check)
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
		if st, err := os.Stat(o.workspace); err != nil || !st.IsDir() {
			return usage(fmt.Errorf("the workspace %s is no folder", o.workspace), "sayso policy check --help")
		}
	}
	if _, tty := a.terminal(); tty {
		return a.policySummary(o.file, p)
	}
	gather := func(ctx context.Context, c sayso.Call) sayso.Facts {
		c.Cwd = runsIn(c, o.workspace)
		return facts.Gather(ctx, c, facts.Options{Workspace: o.workspace, State: a.paths.Folders(), Home: a.getenv("HOME")})
	}
	bad := false
	err = a.eachLine(func(line []byte) error {
		answer, ok := policy.Check(ctx, p, gather, line)
		bad = bad || !ok
		_, err := fmt.Fprintf(a.out, "%s\n", answer)
		return err
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
	p, err := policy.New(policy.Options{Home: local.PersonHome(), FinalOnly: true}, policy.Tiered{Tier: policy.TierUser, File: f})
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

// firstMistake is the first line of an error of a policy file.
func firstMistake(err error) string {
	var first *policy.Error
	if errors.As(err, &first) {
		return first.Error()
	}
	return err.Error()
}
