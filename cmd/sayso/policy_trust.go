package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/present"
)

// trustOptions are the flags of policy trust.
type trustOptions struct {
	yes    string // the digest of what is accepted
	remove bool
}

func (a *app) policyTrustCommand() *cobra.Command {
	var o trustOptions
	c := &cobra.Command{
		Use: "trust [DIR]", Short: "accepts the policy file of a project", Args: cobra.MaximumNArgs(1),
		Long: `Shows what the policy file of a project (.sayso/policy.yaml in its root) says, as a
difference from what you accepted before, and accepts exactly these bytes. The
file can only make things stricter: what it allows counts for nothing. What you
accepted stays in force when the file changes, until you accept the new one or
take it back with --remove.`,
		RunE: func(c *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return a.policyTrust(c.Context(), dir, o)
		},
	}
	c.Flags().StringVar(&o.yes, "yes", "", "do not ask; the digest of what is accepted, as it is shown")
	c.Flags().BoolVar(&o.remove, "remove", false, "take back what was accepted")
	return c
}

func (a *app) policyTrust(ctx context.Context, dir string, o trustOptions) error {
	if err := a.noAgent("accepting the policy of a project"); err != nil {
		return err
	}
	if !o.remove { // what is gone can still be taken back
		if _, err := folder(dir, "sayso policy trust --help"); err != nil {
			return err
		}
	}
	workspace, err := a.projectOf(ctx, dir)
	if err != nil {
		return err
	}
	accepted, err := a.acceptedIn(workspace)
	if err != nil {
		return err
	}
	if o.remove {
		return a.untrust(ctx, accepted, workspace)
	}
	next := home.Trusted{Workspace: workspace, By: home.Person(), At: a.now().UTC()}
	text, err := readProjectPolicy(next.File())
	if err != nil {
		return err
	}
	next.Text, next.Digest = text, home.PolicyDigest([]byte(text))
	f, err := policy.Parse(next.File(), []byte(text))
	if err == nil {
		_, err = policy.New(policy.Options{Home: home.PersonFolder()}, policy.Tiered{Tier: policy.TierRepo, File: f, Workspace: workspace})
	}
	if err != nil {
		return hint(err, "have the file mended; it was not accepted")
	}
	if accepted.Digest == next.Digest {
		a.print("%s is accepted as it is (%s)", next.File(), shortDigest(next.Digest))
		return nil
	}
	a.showProjectPolicy(accepted, next)
	if err := a.agreeTo(ctx, "accept exactly this?", next.Digest, o.yes); err != nil {
		return err
	}
	ended, err := a.trust(ctx, next)
	if err != nil {
		return err
	}
	a.print("accepted: %s (%s), %s", next.File(), shortDigest(next.Digest), count(f.Rules(), "rule"))
	a.noteEnded(ended)
	return nil
}

// projectOf is the root of the project that a folder lies in.
func (a *app) projectOf(ctx context.Context, dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	f := facts.Gather(ctx, sayso.Call{Tool: "task-list", Cwd: dir, Args: sayso.Args("{}")}, facts.Options{Home: a.getenv("HOME")})
	if f.Workspace == "" {
		return "", hint(fmt.Errorf("%s is in no project", dir), "name the folder of one: sayso policy trust DIR")
	}
	return f.Workspace, nil
}

func (a *app) acceptedIn(workspace string) (home.Trusted, error) {
	list, err := a.paths.Trusted()
	for _, t := range list {
		if t.Workspace == workspace {
			return t, err
		}
	}
	return home.Trusted{}, err
}

// readProjectPolicy reads the file of a project. Somebody else may have written
// it, so it must be a plain file of a size that a policy has.
func readProjectPolicy(name string) (string, error) {
	r, err := path.Resolve(path.OS{}, "", name)
	switch {
	case err != nil:
		return "", err
	case r.State == path.Missing:
		return "", hint(fmt.Errorf("there is no %s", name), "write one, or name another project: sayso policy trust DIR")
	case r.State != path.File || r.Path != name:
		return "", fmt.Errorf("%s is a link, or no file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() // only read
	text, err := io.ReadAll(io.LimitReader(f, policy.MaxFile+1))
	return string(text), err
}

// showProjectPolicy shows what would be accepted, made safe for the eye.
func (a *app) showProjectPolicy(accepted, next home.Trusted) {
	a.print("%s (%s)", printable(next.File()), shortDigest(next.Digest))
	if accepted.Text != "" {
		a.print("accepted by %s on %s, and changed since:", printable(accepted.By), accepted.At.Local().Format("Jan 2 2006 at 15:04"))
	}
	shown, kinds := present.Safe(present.Diff(home.RepoPolicy, accepted.Text, next.Text).Content)
	fmt.Fprintln(a.out, strings.TrimRight(shown, "\n"))
	for _, kind := range kinds {
		a.note("warning: the file holds characters that deceive: %s", kind)
	}
	a.print("It can only tighten: what it allows counts for nothing.")
}

// agreeTo asks the person, or takes the digest that they gave.
func (a *app) agreeTo(ctx context.Context, question string, d sayso.Digest, yes string) error {
	if yes != "" {
		typed := strings.TrimPrefix(strings.ToLower(yes), "sha256:")
		if len(typed) < shortestDigest || !strings.HasPrefix(strings.TrimPrefix(d.String(), "sha256:"), typed) {
			return hint(fmt.Errorf("%w: this is not the one with the digest %s", sayso.ErrMismatch, yes), "look at what is shown, and give its digest")
		}
		return nil
	}
	if _, tty := a.terminal(); !tty {
		return hint(errNoTerminal, "sayso policy trust --yes %s", shortDigest(d))
	}
	return a.agree(ctx, question)
}

func shortDigest(d sayso.Digest) string {
	text := strings.TrimPrefix(d.String(), "sha256:")
	return text[:min(len(text), shortestDigest)]
}

// trust puts the acceptance into the log, before it counts, and returns how many
// remembered answers end with the policy that they were given under.
func (a *app) trust(ctx context.Context, t home.Trusted) (ended int, err error) {
	err = a.withEngine(ctx, func(e *local.Engine) error {
		in := e.Inbox(a.admin())
		before, err := in.Grants(ctx, "", false)
		if err != nil {
			return err
		}
		if err := e.PolicyAccepted(ctx, a.person(), sayso.PolicyLoaded{Policy: t.Digest.String(), Files: []string{t.File()}}); err != nil {
			return err
		}
		if err := a.paths.Trust(t); err != nil {
			return err
		}
		if after, err := in.Grants(ctx, "", false); err == nil { // it is accepted, whatever can be said of it
			ended = len(before) - len(after)
		}
		return nil
	})
	return ended, err
}

// noteEnded says how many remembered answers a change of the policy ended.
func (a *app) noteEnded(n int) {
	if n > 0 {
		a.note("%s ended, given under the policy before", count(n, "remembered answer"))
	}
}

func (a *app) untrust(ctx context.Context, accepted home.Trusted, workspace string) error {
	if accepted.Workspace == "" {
		return hint(fmt.Errorf("nothing was accepted for %s", workspace), "name the folder of another project: sayso policy trust --remove DIR")
	}
	ended, err := a.trust(ctx, home.Trusted{Workspace: workspace})
	if err != nil {
		return err
	}
	a.print("taken back: %s counts for nothing", accepted.File())
	a.noteEnded(ended)
	return nil
}
