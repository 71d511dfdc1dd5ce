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
denied. At a terminal, or without a call, it looks at the policy alone. Exits with 0 if all lines
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
	var err error
	if o.workspace, err = a.workspaceFolder(o.workspace, "sayso policy check --help"); err != nil {
		return err
	}
	p, err := a.policyFor(o)
	if err != nil {
		return mend(err)
	}
	a.noteFinalOnly(o.file)
	if _, tty := a.terminal(); tty {
		return a.policySummary(o.file, p)
	}
	gather := func(ctx context.Context, c sayso.Call) sayso.Facts {
		c.Cwd = runsIn(c, o.workspace)
		return facts.Gather(ctx, c, a.machine(o.workspace, rootsOf(p)))
	}
	bad, empty := false, true
	err = a.eachLine(ctx, func(line []byte) error {
		empty = false
		answer, ok := policy.Check(ctx, inSession{p, o.session}, gather, line)
		bad = bad || !ok
		return a.printText(answer)
	})
	switch {
	case err == nil && empty:
		return a.policySummary(o.file, p)
	case err == nil && bad:
		return no{}
	}
	return err
}

// workspaceFolder is the absolute name of the folder that --workspace names, empty
// for none. It may be missing: then so are its files.
func (a *app) workspaceFolder(name, usageLine string) (string, error) {
	if name == "" {
		return "", nil
	}
	st, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.note("there is no folder %s; its files are taken for missing", name)
	case err != nil || !st.IsDir():
		return "", usage(fmt.Errorf("the workspace %s is no folder", name), usageLine)
	}
	return filepath.Abs(name)
}

// noteFinalOnly says what a file that is tried for itself is judged without.
func (a *app) noteFinalOnly(file string) {
	if file != "" {
		a.note("tried for itself: built-ins that are not final, such as reading inside the workspace, are left out")
	}
}

// mend adds what to do about a policy that does not load, where the error does not
// say so itself.
func mend(err error) error {
	if hintOf(err) != "" {
		return err
	}
	return hint(err, "mend the file, then run the command again")
}

// readPolicy reads a policy file that somebody named.
func readPolicy(name string) ([]byte, error) {
	st, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, hint(fmt.Errorf("there is no file %s", name), "name a policy file; sayso policy where says which are in force, sayso policy init PRESET --print prints one to begin with")
	case err == nil && st.IsDir():
		return nil, hint(fmt.Errorf("%s is a folder, and no policy file", name), "name the file in it, as in --policy %s", filepath.Join(name, "policy.yaml"))
	}
	return os.ReadFile(name)
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
	text, err := readPolicy(o.file)
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
