package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/policy"
)

// lintReport is what policy lint says.
type lintReport struct {
	Version  string           `json:"version"` // of the policy
	Findings []policy.Finding `json:"findings"`
	Warnings []string         `json:"warnings"` // of loading, which standard error has as well
}

func (a *app) policyLintCommand() *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use: "lint [--policy FILE] [--workspace DIR]", Short: "finds rules that do nothing, contradict each other, or allow too much", Args: cobra.NoArgs,
		Long: `Looks at the policy in force, or at one file, for patterns that no call fits
(cannot-hold), that never decide (unreachable), that another one makes needless
(shadowed), that say different things of the same calls (contradictory), and for
those with a star that allow what is dangerous (over-wide). Each is proved: by a
call, which is shown, or by generated calls that all come out the same without
it. Nothing is run and nothing recorded. Exits with 0 if nothing was found, 1 if
something was or loading warns, and 2 if the policy does not load.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.policyLint(c.Context(), o) },
	}
	c.Flags().StringVar(&o.file, "policy", "", "a policy file instead of those in force")
	c.Flags().StringVar(&o.workspace, "workspace", "", "of the files of projects, only that of the project in this folder")
	return c
}

func (a *app) policyLint(ctx context.Context, o checkOptions) error {
	var err error
	if o.workspace, err = a.workspaceFolder(o.workspace, "sayso policy lint --help"); err != nil {
		return err
	}
	p, err := a.loadedPolicy(o)
	if err != nil {
		return err
	}
	found, warned := p.Lint(), p.Warnings()
	if o.workspace != "" {
		project, _ := a.projectOf(ctx, o.workspace) // none has no file of its own
		found = slices.DeleteFunc(found, func(f policy.Finding) bool { return f.Project != "" && f.Project != project })
		warned = slices.DeleteFunc(warned, func(w policy.Warning) bool {
			at, ok := strings.CutSuffix(w.File, "/"+home.RepoPolicy)
			return ok && at != project
		})
	}
	found = slices.DeleteFunc(found, func(f policy.Finding) bool { // the warning says it, and what was meant
		return f.Kind == policy.FindingCannotHold && slices.ContainsFunc(warned, func(w policy.Warning) bool {
			return w.File == f.File && w.Line == f.Line && w.Column == f.Column
		})
	})
	warnings := []string{}
	for _, w := range warned {
		warnings = append(warnings, printable(w.String()))
	}
	if err := a.printLint(lintReport{p.Version(), found, warnings}); err != nil {
		return err
	}
	if len(found)+len(warnings) > 0 {
		return no{}
	}
	return nil
}

func (a *app) printLint(r lintReport) error {
	if a.json {
		if r.Findings == nil {
			r.Findings = []policy.Finding{}
		}
		return a.printJSON(r)
	}
	for _, f := range r.Findings {
		a.printFinding(f)
	}
	if len(r.Findings) == 0 && len(r.Warnings) > 0 {
		a.print("nothing but %s of loading (%s)", count(len(r.Warnings), "warning"), shortVersion(r.Version))
	} else if len(r.Findings) == 0 {
		a.print("nothing found (%s)", shortVersion(r.Version))
	}
	return nil
}

func (a *app) printFinding(f policy.Finding) {
	a.print("%s: %s: %s", placeOf(f.Pattern), string(f.Kind), wordsOf(f.Pattern))
	a.print("  %s", f.What)
	if f.By != nil {
		a.print("  see        %s: %s", placeOf(*f.By), wordsOf(*f.By))
	}
	if f.Call != nil {
		a.print("  this call  %s: %s", callWords(*f.Call, f.Workspace), f.Effect.String())
	}
	if f.Same > 0 {
		a.print("  proof      %s, those aimed at it among them, come out the same without it", count(f.Same, "generated call"))
	}
	a.print("  to do      %s", f.Write)
}

// placeOf is where a pattern stands, as editors read it.
func placeOf(p policy.Pattern) string {
	at := p.File + ":" + strconv.Itoa(p.Line)
	if p.Column > 0 {
		at += ":" + strconv.Itoa(p.Column)
	}
	return at
}

// wordsOf is what a pattern or a default says.
func wordsOf(p policy.Pattern) string {
	if p.Column == 0 || strings.HasPrefix(p.Text, "delegate: ") {
		return p.Text // a default, a path or what is handed over, which say themselves what
	}
	return p.Says.String() + ": " + p.Text
}

// callWords is a generated call in one line.
func callWords(c sayso.Call, workspace string) string {
	known := c.Known()
	name := known.Name
	if known.Kind == sayso.KindMCP {
		tool, server := c.CanonicalName()
		name = "mcp__" + server + "__" + tool
	}
	if c.Host != "" {
		name += " (" + c.Host + ": " + c.Tool + ")"
	}
	return name + " " + string(c.Args) + " in " + workspace
}
