package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/policy"
)

// brokenPolicy is the version of a policy that does not load.
const brokenPolicy = "broken"

// Rules is the policy in the files of this machine, as they are now: a file
// that changed is read again before the next call is judged. While a file does
// not load, everything is denied.
type Rules struct {
	paths policy.Paths
	o     policy.Options
	own   []string // the folders of our state, as they are named and where they are

	mu      sync.Mutex // guards what follows
	stamps  [2]home.Stamp
	current *policy.Policy
	err     error
}

var _ sayso.Policy = (*Rules)(nil)

// NewRules reads the policy files of a home. A policy that does not load is no
// error here; see [Rules.Err].
func NewRules(paths home.Paths) *Rules {
	r := &Rules{paths: policy.Paths{User: paths.Policy(), Org: home.OrgPolicy}, o: policy.Options{Home: PersonHome()}, own: own(paths)}
	_, _ = r.now() // Err tells
	return r
}

// own lists the folders of a home, links followed and not.
func own(paths home.Paths) []string {
	list := paths.Folders()
	for _, dir := range paths.Folders() {
		if r, err := path.Resolve(path.OS{}, "", dir); err == nil && !slices.Contains(list, r.Path) {
			list = append(list, r.Path)
		}
	}
	return list
}

// PersonHome is the person's folder with all links followed; empty if there is
// none.
func PersonHome() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return ""
	}
	return dir
}

// now returns the policy as it is in the files now.
func (r *Rules) now() (*policy.Policy, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stamps := [2]home.Stamp{home.StampOf(r.paths.User), home.StampOf(r.paths.Org)}
	if r.stamps[0].Same(stamps[0]) && r.stamps[1].Same(stamps[1]) {
		return r.current, r.err
	}
	r.current, r.err = r.load()
	if r.stamps = stamps; !lasting(r.err) {
		r.stamps = [2]home.Stamp{}
	}
	return r.current, r.err
}

// lasting reports whether a file that is loaded again, unchanged, gives the same
// error: what is wrong stands in it. A file that could not be read, or that
// others may write, can be in order the next moment.
func lasting(err error) bool {
	var wrong *policy.Error
	return err == nil || errors.As(err, &wrong)
}

func (r *Rules) load() (*policy.Policy, error) {
	if err := home.CheckPolicy(r.paths.User); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := home.CheckOrgFile(r.paths.Org); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return policy.Load(r.paths, r.o)
}

// Err says why the policy does not load; nil if it does.
func (r *Rules) Err() error {
	_, err := r.now()
	return err
}

// Judge implements sayso.Policy. The folders of this machine's own state are
// among the facts whatever the enforcement point says: a caller that leaves them
// out must not reach what decides about it.
func (r *Rules) Judge(ctx context.Context, c sayso.Call, f sayso.Facts) sayso.Verdict {
	p, err := r.now()
	if err != nil {
		return sayso.Verdict{Policy: brokenPolicy, Match: denial(err), Matches: []sayso.Match{denial(err)}, Default: denial(err), Risk: sayso.RiskDestructive}
	}
	f.State = slices.Clone(f.State)
	for _, dir := range r.own {
		if !slices.Contains(f.State, dir) {
			f.State = append(f.State, dir)
		}
	}
	return p.Judge(ctx, c, f)
}

// denial is what a policy that does not load says of every call.
func denial(err error) sayso.Match {
	m := sayso.Match{Effect: sayso.Deny, Cause: sayso.CauseBuiltin, Rule: "broken policy", Reason: "the policy does not load", Person: true}
	var first *policy.Error
	if errors.As(err, &first) {
		m.File, m.Line, m.Reason = first.File, first.Line, "the policy does not load: "+first.What
	}
	return m
}

// Version implements sayso.Policy.
func (r *Rules) Version() string {
	p, err := r.now()
	if err != nil {
		return brokenPolicy
	}
	return p.Version()
}

// Mode is the mode that the files name.
func (r *Rules) Mode() sayso.Mode {
	p, err := r.now()
	if err != nil {
		return sayso.ModeStrict
	}
	return p.Mode()
}

// Redaction is what the files add to what is hidden and cut.
func (r *Rules) Redaction() policy.Redaction {
	p, err := r.now()
	if err != nil {
		return policy.Redaction{}
	}
	return p.Redaction()
}

// Warnings are what is probably not meant in the files.
func (r *Rules) Warnings() []policy.Warning {
	p, err := r.now()
	if err != nil {
		return nil
	}
	return p.Warnings()
}

// Files are the files that exist.
func (r *Rules) Files() []string {
	var files []string
	for _, path := range []string{r.paths.User, r.paths.Org} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			files = append(files, path)
		}
	}
	return files
}

// judged is a Gate that answers nothing while the policy does not load: then it
// is not known whether a call may run.
type judged struct {
	sayso.Gate
	rules *Rules
}

func (g judged) Admit(ctx context.Context, a sayso.Admission) (sayso.Decision, error) {
	if err := g.loaded(); err != nil {
		return sayso.Decision{}, err
	}
	return g.Gate.Admit(ctx, a)
}

func (g judged) Redeem(ctx context.Context, r sayso.Receipt, c sayso.Call) error {
	if err := g.loaded(); err != nil {
		return err
	}
	return g.Gate.Redeem(ctx, r, c)
}

func (g judged) loaded() error {
	if err := g.rules.Err(); err != nil {
		return fmt.Errorf("%w: the policy does not load: %w", sayso.ErrUnavailable, err)
	}
	return nil
}

// equal reports whether two policies hide and cut the same.
func equal(a, b policy.Redaction) bool {
	return a.MaxString == b.MaxString && a.MaxItems == b.MaxItems && slices.Equal(a.Names, b.Names)
}
