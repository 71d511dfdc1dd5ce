package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/internal/words"
	"github.com/sayso-dev/sayso/policy"
)

// policySource is one line of policy where: a file, and what it has to say here.
type policySource struct {
	Tier   string `json:"tier"`
	File   string `json:"file"`
	State  string `json:"state"`
	Rules  int    `json:"rules"`
	Digest string `json:"digest,omitempty"`
}

// policyPlaces is what policy where says.
type policyPlaces struct {
	Version   string         `json:"version"`
	Workspace string         `json:"workspace"`
	Sources   []policySource `json:"sources"`
	Error     string         `json:"error,omitempty"`
}

func (a *app) policyWhereCommand() *cobra.Command {
	return &cobra.Command{
		Use: "where [DIR]", Short: "says which rules are in force, and from which files", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return a.policyWhere(c.Context(), dir)
		},
	}
}

func (a *app) policyWhere(ctx context.Context, dir string) error {
	if _, err := folder(dir, "sayso policy where --help"); err != nil {
		return err
	}
	rules := local.NewRules(a.paths)
	out := policyPlaces{Version: rules.Version()}
	out.Workspace, _ = a.projectOf(ctx, dir) // none is told as none
	out.Sources = []policySource{fileSource(policy.TierOrg, home.OrgPolicy), fileSource(policy.TierUser, a.paths.Policy())}
	if out.Workspace != "" {
		repo, err := a.repoSource(out.Workspace)
		if err != nil {
			return err
		}
		out.Sources = append(out.Sources, repo)
	}
	out.Sources = append(out.Sources, policySource{Tier: "built-in", State: "in force"})
	err := rules.Err()
	if err != nil {
		out.Error = firstMistake(err)
	}
	if a.json {
		return errors.Join(a.printJSON(out), err)
	}
	a.print("policy     %s", shortVersion(out.Version))
	a.print("workspace  %s", dash(out.Workspace))
	rows := [][]string{}
	for _, s := range out.Sources {
		n := ""
		if s.Rules > 0 {
			n = count(s.Rules, "rule")
		}
		rows = append(rows, []string{s.Tier, dash(printable(s.File)), s.State, n})
	}
	return errors.Join(table(a.out, rows), hint(err, "sayso policy check says all that is wrong with it"))
}

// fileSource is what becomes of a file of a tier.
func fileSource(tier policy.Tier, name string) policySource {
	is := local.SourceOf(tier, name)
	s := policySource{Tier: string(tier), File: name, State: is.State(), Rules: is.Rules}
	if is.Err != nil {
		s.State += ": " + firstMistake(is.Err)
	}
	return s
}

// repoSource is what becomes of the file of a project.
func (a *app) repoSource(workspace string) (policySource, error) {
	accepted, err := a.acceptedIn(workspace)
	if err != nil {
		return policySource{}, err
	}
	now := home.Trusted{Workspace: workspace}
	s := policySource{Tier: "repo", File: now.File()}
	text, missing := readProjectPolicy(s.File)
	if accepted.Text != "" {
		s.Digest = shortDigest(accepted.Digest)
		if f, err := policy.Parse(s.File, []byte(accepted.Text)); err == nil {
			s.Rules = f.Rules()
		}
	}
	switch {
	case accepted.Text == "" && missing != nil:
		s.State = "not there"
	case accepted.Text == "":
		s.State = "counts for nothing until you accept it: sayso policy trust"
	case missing != nil:
		s.State = "in force as accepted; the file is gone"
	case home.PolicyDigest([]byte(text)) != accepted.Digest:
		s.State = "in force as accepted; the file has changed since: sayso policy trust"
	default:
		s.State = "in force"
	}
	return s, nil
}

func shortVersion(version string) string { return words.ShortVersion(version) }
