package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/policy"
)

// BrokenPolicy is the version of a policy that does not load.
const BrokenPolicy = "broken"

// Rules is the policy in the files of this machine, as they are now: a file
// that changed is read again before the next call is judged. If it has a
// mistake, the policy that stood before stands on, and [Rules.Stale] says so.
// Where there was none, or a file cannot be trusted or read, everything is
// denied.
type Rules struct {
	home  home.Paths
	paths policy.Paths
	o     policy.Options
	own   []string // the folders of our state, as they are named and where they are

	mu      sync.Mutex // guards what follows
	stamps  [3]home.Stamp
	current *policy.Policy
	err     error
	hides   policy.Redaction // of the policy that loaded last
	stale   error
	told    func(error)
}

var _ sayso.Policy = (*Rules)(nil)

// NewRules reads the policy files of a home. A policy that does not load is no
// error here; see [Rules.Err].
func NewRules(paths home.Paths) *Rules {
	r := &Rules{
		home: paths, paths: policy.Paths{User: paths.Policy(), Org: home.OrgPolicy},
		o: policy.Options{Home: home.PersonFolder()}, own: own(paths),
	}
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

// now returns the policy as it is in the files now.
func (r *Rules) now() (*policy.Policy, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stamps := [3]home.Stamp{home.StampOf(r.paths.User), home.StampOf(r.paths.Org), home.StampOf(r.home.TrustedList())}
	if r.stamps[0].Same(stamps[0]) && r.stamps[1].Same(stamps[1]) && r.stamps[2].Same(stamps[2]) {
		return r.current, r.err
	}
	loaded, err := r.load()
	stale := err
	if err != nil && lasting(err) && r.current != nil {
		loaded, err = r.current, nil // the old one stays
	} else {
		stale = nil
	}
	if r.told != nil && text(stale) != text(r.stale) {
		r.told(stale)
	}
	if r.current, r.err, r.stale = loaded, err, stale; err == nil {
		r.hides = loaded.Redaction()
	}
	if r.stamps = stamps; !lasting(err) {
		r.stamps = [3]home.Stamp{}
	}
	return r.current, r.err
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Tell has f called, under a lock of ours, when the files begin to have a
// mistake while an older policy stands, with the mistake, and with nil when
// they have none any more.
func (r *Rules) Tell(f func(error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = f
}

// Stale says why the files do not load while an older policy stands; nil if the
// policy is that of the files.
func (r *Rules) Stale() error {
	if _, err := r.now(); err != nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stale
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
	return r.loadWith(r.paths.User)
}

// loadWith reads the policy with a file of the person.
func (r *Rules) loadWith(user string) (*policy.Policy, error) {
	trusted, err := r.home.Trusted()
	if err != nil {
		return nil, err
	}
	paths := r.paths
	paths.User = user
	for _, t := range trusted {
		paths.Projects = append(paths.Projects, policy.Project{Workspace: t.Workspace, Name: t.File(), Text: []byte(t.Text)})
	}
	return policy.Load(paths, r.o)
}

// Err says why the policy does not load; nil if it does.
func (r *Rules) Err() error {
	_, err := r.now()
	return err
}

// Policy is the policy in force, or why there is none.
func (r *Rules) Policy() (*policy.Policy, error) { return r.now() }

// Instead is the policy that would be in force if the person's file were
// another one.
func (r *Rules) Instead(file string) (*policy.Policy, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	return r.loadWith(file)
}

// InsteadOf is the policy that would be in force if this were the text of the
// person's file. Mistakes name the file by name.
func (r *Rules) InsteadOf(name string, text []byte) (*policy.Policy, error) {
	f, err := policy.Parse(name, text)
	if err != nil {
		return nil, err
	}
	others, err := r.loadWith("")
	if err != nil {
		return nil, err
	}
	return others.Instead(f)
}

// Judge implements sayso.Policy. The folders of this machine's own state are
// among the facts whatever the enforcement point says: a caller that leaves them
// out must not reach what decides about it.
func (r *Rules) Judge(ctx context.Context, c sayso.Call, f sayso.Facts) sayso.Verdict {
	p, err := r.now()
	if err != nil {
		return sayso.Verdict{Policy: BrokenPolicy, Match: denial(err), Matches: []sayso.Match{denial(err)}, Default: denial(err), Risk: sayso.RiskDestructive}
	}
	return p.Judge(ctx, c, r.guarded(f))
}

// guarded are facts with the folders of this machine's own state among them.
func (r *Rules) guarded(f sayso.Facts) sayso.Facts {
	f.State = slices.Clone(f.State)
	for _, dir := range r.own {
		if !slices.Contains(f.State, dir) {
			f.State = append(f.State, dir)
		}
	}
	return f
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
		return BrokenPolicy
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

// ModeLimit is the laxest mode that the files let anybody set.
func (r *Rules) ModeLimit() sayso.Mode {
	p, err := r.now()
	if err != nil {
		return sayso.ModeStrict
	}
	return p.ModeLimit()
}

// Redaction is what the files add to what is hidden and cut. While they do not
// load it is what they said before.
func (r *Rules) Redaction() policy.Redaction {
	_, _ = r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hides
}

// Roots are the folders that the policy names, as it writes them; see
// [policy.Policy.Roots].
func (r *Rules) Roots() []string { return r.Wanted().Roots }

// Wanted are the folders that the policy in force names, with its version.
func (r *Rules) Wanted() sayso.FactsWanted {
	p, err := r.now()
	if err != nil {
		return sayso.FactsWanted{}
	}
	return sayso.FactsWanted{Policy: p.Version(), Roots: p.Roots()}
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

// Loaded says which policy is in force, for the record; false while none loads.
func (r *Rules) Loaded() (sayso.PolicyLoaded, bool) {
	p, err := r.now()
	if err != nil {
		return sayso.PolicyLoaded{}, false
	}
	return sayso.PolicyLoaded{Policy: p.Version(), Files: r.Files()}, true
}

// equal reports whether two policies hide and cut the same.
func equal(a, b policy.Redaction) bool {
	return a.MaxString == b.MaxString && a.MaxItems == b.MaxItems && slices.Equal(a.Names, b.Names)
}
