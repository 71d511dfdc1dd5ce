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
	"github.com/sayso-dev/sayso/policy"
)

// testOptions are the flags of policy test.
type testOptions struct {
	file, tests string
	minimum     int
}

func (a *app) policyTestCommand() *cobra.Command {
	var o testOptions
	c := &cobra.Command{
		Use: "test [--policy FILE] [--tests FILE] [--min-coverage N]", Short: "holds the policy against calls and what you expect of them", Args: cobra.NoArgs,
		Long: `Reads a file of tests, by default the one beside the policy (policy_test.yaml
beside policy.yaml), and says of each call that does not come out as expected
what came out, by which rule, and what to write to change that. Then it says
which rules, patterns and paths of the file no case reached.

The calls are judged on a machine that the tests describe, so that they come out
alike everywhere. Nothing is recorded; modes and remembered answers play no part.
With --policy only the built-ins that are final are added to that file.

    version: 1
    cases:
      - {call: {bash: git status -s}, expect: allow}
      - name: deleting is for people
        call: [{bash: rm x}, {bash: sudo rm x}, {file-delete: x}]
        expect: deny

Exits with 0 if all came out as expected, 1 if something did not or too little was
reached, 2 if a file could not be read.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.policyTest(c.Context(), o) },
	}
	c.Flags().StringVar(&o.file, "policy", "", "a policy file instead of those in force")
	c.Flags().StringVar(&o.tests, "tests", "", "the file of tests")
	c.Flags().IntVar(&o.minimum, "min-coverage", 0, "per cent of the file that the cases have to reach")
	return c
}

func (a *app) policyTest(ctx context.Context, o testOptions) error {
	if o.minimum < 0 || o.minimum > 100 {
		return usage(fmt.Errorf("a coverage of %d per cent cannot be", o.minimum), "sayso policy test --min-coverage 80")
	}
	p, err := a.loadedPolicy(checkOptions{file: o.file})
	if err != nil {
		return err
	}
	tests, err := a.readTests(o)
	if err != nil {
		return err
	}
	report, err := p.Test(ctx, tests, factsOn)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(report)
	} else {
		a.printTested(report)
	}
	enough := report.Coverage.Percent >= o.minimum
	if !enough {
		a.note("%d per cent are covered, and %d per cent are wanted", report.Coverage.Percent, o.minimum)
	}
	if err == nil && (report.Failed > 0 || !enough) {
		return no{}
	}
	return err
}

// factsOn gathers the facts about a call on the machine of its tests.
func factsOn(ctx context.Context, c sayso.Call, m policy.Machine) sayso.Facts {
	return facts.Gather(ctx, c, facts.Options{Workspace: m.Workspace, State: m.State, Home: m.Home, HostHome: m.Home, Roots: m.Roots, FS: m})
}

// readTests reads the file of tests that was named, or the one beside the policy.
func (a *app) readTests(o testOptions) (*policy.Tests, error) {
	name := o.tests
	if name == "" {
		beside := o.file
		if beside == "" {
			beside = a.paths.Policy()
		}
		ext := filepath.Ext(beside)
		name = strings.TrimSuffix(beside, ext) + "_test" + ext
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint(fmt.Errorf("there is no file of tests %s", name), "sayso policy test --help shows what one looks like; --tests names another")
	}
	if st, failed := os.Stat(name); failed == nil && st.IsDir() {
		return nil, hint(fmt.Errorf("%s is a folder, and no file of tests", name), "sayso policy test --tests FILE")
	}
	if err != nil {
		return nil, err
	}
	tests, err := policy.ParseTests(name, text)
	return tests, hint(err, "mend the file, then run the command again")
}

func (a *app) printTested(r policy.Report) {
	for _, c := range r.Cases {
		if !c.Passed() {
			a.printFailure(r.Tests, c)
		}
	}
	a.print("%d of %s came out as expected", r.Passed, count(len(r.Cases), "call"))
	cov := r.Coverage
	if cov.Total == 0 {
		a.print("coverage: the file has no rules to cover")
		return
	}
	a.print("coverage: %d %% of %s (%d of %d)", cov.Percent, cov.File, cov.Covered, cov.Total)
	for _, c := range cov.Parts {
		switch {
		case !c.Reached():
			a.print("  %s  %s   no case reaches it", placed(c), c.Text)
		case len(c.Decided) == 0:
			a.print("  %s  %s   spoke and decided nothing: without it every case comes out the same", placed(c), c.Text)
		}
	}
}

func placed(c policy.Covered) string {
	if c.Column == 0 {
		return fmt.Sprintf("%s:%d", c.File, c.Line)
	}
	return fmt.Sprintf("%s:%d:%d", c.File, c.Line, c.Column)
}

// printFailure says what came out instead of what was expected.
func (a *app) printFailure(file string, c policy.Result) {
	call := c.Call.Tool
	if c.Text != "" {
		call += ": " + c.Text
	} else if len(c.Call.Args) > len("{}") {
		call += " " + string(c.Call.Args)
	}
	title := ""
	if c.Name != "" {
		title = c.Name + ": "
	}
	a.print("%s:%d:%d: %s%s", file, c.Line, c.Column, title, call)
	for _, what := range c.Wrong {
		switch what {
		case "effect":
			a.print("  expected  %s", c.Want.Effect)
		case "rule":
			a.print("  expected  the rule %s", c.Want.Rule)
		case "cause":
			a.print("  expected  the cause %s; it is %s", c.Want.Cause, c.Got.Cause)
		case "danger":
			a.print("  expected  danger: %s; it is %s", dangers(c.Want.Danger), dangers(c.Danger))
		}
	}
	a.print("  came out  %s   %s", c.Got.Effect, whose(c.Got.Rule, c.Got.File, c.Got.Line))
	a.print("  because   %s", c.Got.Reason)
	if c.Change != nil {
		a.printChange(*c.Change)
	}
}

func dangers(list []sayso.Danger) string {
	if text := strings.TrimPrefix(dangerous(list), ", danger: "); text != "" {
		return text
	}
	return "none"
}
