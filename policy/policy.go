package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sayso-dev/sayso"
)

// builtins is the version of what holds without any file. It changes when a
// change of the program changes verdicts.
const builtins = "4"

// Tier says whose file it is.
type Tier string

// The tiers.
const (
	TierRepo Tier = "repo" // the project's own; it only tightens
	TierUser Tier = "user" // the person's
	TierOrg  Tier = "org"  // the organisation's
)

// Tiered is a file and whose it is.
type Tiered struct {
	Tier Tier
	File *File
	// Workspace is the project that a file of [TierRepo] belongs to: its folder,
	// with links followed. The file is one whose bytes a person has accepted.
	Workspace string
}

// Options of a policy. The zero Options are those of a machine without a
// person.
type Options struct {
	// Home is the resolved folder that ~/ stands for in patterns.
	Home string
	// FinalOnly leaves out the built-ins that are not final, so that a file can
	// be tried for itself.
	FinalOnly bool
}

// Policy judges calls by files and the built-ins. It never changes, and may be
// used from many goroutines.
type Policy struct {
	version   string
	home      string
	finalOnly bool
	fallbacks []defaultRule
	deadline  sayso.Deadline
	mode      sayso.Mode
	modeLimit sayso.Mode
	redaction Redaction
	warnings  []Warning
	rooted    []*rootRules
	delegates []*matcher
	notices   []Notice
	folders   []string
	index     index
	tiers     []Tiered // that it was made of
}

var _ sayso.Policy = (*Policy)(nil)

// New makes a policy of files: at most one of the person, one of the
// organisation, and one of each project. A file that needs to know where the
// person is at home is an error if nobody is, and so is one that says what its
// tier may not say.
func New(o Options, tiers ...Tiered) (*Policy, error) {
	p := &Policy{home: o.Home, finalOnly: o.FinalOnly, mode: sayso.ModeInteractive}
	parts := [][]byte{[]byte(builtins), []byte(homeNeeded(tiers, o.Home)), fmt.Append(nil, o.FinalOnly)}
	seen := make(map[string]bool)
	for _, t := range tiers {
		if err := t.check(seen); err != nil {
			return nil, err
		}
		if err := p.add(t); err != nil {
			return nil, err
		}
		parts = append(parts, []byte(t.Tier), []byte(t.Workspace), []byte(t.File.Name), t.File.text)
	}
	p.settle(tiers)
	p.tiers = slices.Clone(tiers)
	p.version = sayso.HashOf("sayso policy", parts...).String()
	return p, nil
}

func (t Tiered) check(seen map[string]bool) error {
	key := string(t.Tier) + " " + t.Workspace
	switch {
	case t.Tier != TierRepo && t.Tier != TierUser && t.Tier != TierOrg, seen[key], (t.Tier == TierRepo) != (t.Workspace != ""):
		return fmt.Errorf("%w: policy: the tiers are user and org, each once, and repo, once for each workspace", sayso.ErrInvalid)
	case t.File == nil:
		return fmt.Errorf("%w: policy: a tier without a file", sayso.ErrInvalid)
	}
	seen[key] = true
	if t.Tier != TierOrg && len(t.File.delegates) > 0 {
		return Errors{t.File.fault(t.File.delegated, CodeTier, "remove it", "delegate is for the organisation's file: it says for what others may decide")}
	}
	if t.Tier == TierRepo && len(t.File.notices) > 0 {
		return Errors{t.File.fault(t.File.noticed, CodeTier, "remove it", "notices are for your own file and the organisation's: a project cannot have anything sent")}
	}
	if t.Tier == TierRepo && len(t.File.parts) > 0 {
		return Errors{t.File.fault(t.File.parts[0].position, CodeTier, "write the rules without it", "a project's own file speaks of that project alone, so it has no workspaces")}
	}
	return nil
}

// fault is a mistake that shows when it is known whose a file is.
func (f *File) fault(at position, code Code, write, what string, args ...any) *Error {
	if failing != nil {
		failing()
	}
	return &Error{f.Name, at.line, at.column, code, fmt.Sprintf(what, args...), write}
}

// homeNeeded is where the person is at home if a rule says so, else nothing.
// The programs of one machine may not agree on it; a policy that does not name
// it is the same for all of them, and so is what a person said yes to under it.
func homeNeeded(tiers []Tiered, home string) string {
	for _, t := range tiers {
		for _, part := range t.File.every() {
			if at, _ := part.namesHome(); at != nil {
				return home
			}
		}
	}
	return ""
}

// namesHome returns the first place in a part that needs to know where the
// person is at home, nil if there is none.
func (p *part) namesHome() (at *position, text string) {
	if strings.HasPrefix(p.folder, "~") {
		return &p.position, p.folder
	}
	for _, ru := range p.rules {
		for _, m := range ru.matchers {
			if m.path != nil && m.path.anchor == atHome {
				return &m.position, m.text
			}
		}
	}
	if p.paths != nil {
		for _, root := range p.paths.rules.Roots {
			if strings.HasPrefix(root.Root, "~") {
				return &position{root.Line, 1}, root.Root
			}
		}
	}
	return nil, ""
}

// add takes the parts of a file over.
func (p *Policy) add(t Tiered) error {
	p.warnings = append(p.warnings, t.File.Warnings...)
	if t.Tier == TierRepo {
		p.warnings = append(p.warnings, t.File.unheard()...)
	}
	p.delegates = append(p.delegates, t.File.delegates...)
	p.addNotices(t.File)
	for _, part := range t.File.every() {
		if at, text := part.namesHome(); at != nil && p.home == "" {
			return Errors{t.File.fault(*at, CodeHome, "write the path from the root", "%s begins with ~, and nobody is at home here", quoted(text))}
		}
		p.addPart(t, part)
	}
	return nil
}

func (p *Policy) addPart(t Tiered, part *part) {
	var sc *scope
	switch {
	case part.folder != "":
		sc = &scope{folder: part.folder, home: p.home}
		p.folders = append(p.folders, part.folder)
	case t.Tier == TierRepo:
		sc = &scope{folder: t.Workspace}
		p.folders = append(p.folders, t.Workspace)
	}
	for _, ru := range part.rules {
		if t.Tier == TierRepo && ru.effect == sayso.Allow {
			p.warnings = append(p.warnings, Warning{t.File.Name, ru.matchers[0].line, ru.matchers[0].column, "a project's own file cannot allow, so this has no effect"})
			continue
		}
		if ru.when != nil && ru.when.Places() {
			p.folders = append(p.folders, ".") // so that where words lead is looked up
		}
		for _, m := range ru.matchers {
			p.index.add(&entry{
				m: m, effect: ru.effect, says: ru.match(t.File, m, t.Tier), title: ru.title, danger: ru.danger, when: ru.when, whenAt: ru.whenAt, whenInLine: ru.whenLine, tier: t.Tier, scope: sc,
			})
		}
		p.index.rules++
	}
	if part.shell != nil {
		p.index.addShell(part, t.File, t.Tier, sc)
	}
	if part.paths != nil {
		p.rooted = append(p.rooted, &rootRules{roots: part.paths.rules.Roots, file: t.File.Name, line: part.paths.line, tier: t.Tier, scope: sc})
		for _, root := range part.paths.rules.Roots {
			p.folders = append(p.folders, root.Root)
		}
	}
	p.addFallbacks(t, part, sc)
}

// Roots returns the folders that the policy names, as it writes them but for a
// tilde: where they lead is a fact that has to be gathered for it to judge, and
// with it where the words of commands do. For conditions that need no more than
// these the workspace is named.
func (p *Policy) Roots() []string {
	var roots []string
	for _, folder := range p.folders {
		roots = append(roots, atHomeOf(folder, p.home))
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// settle combines what files say once: the strictest of each.
func (p *Policy) settle(tiers []Tiered) {
	p.deadline = sayso.Deadline{After: time.Hour}
	deadlines := 0
	for _, t := range tiers {
		f := t.File
		if f.deadline != nil {
			if deadlines == 0 {
				p.deadline = *f.deadline
			}
			p.deadline.After = shorter(p.deadline.After, f.deadline.After)
			p.deadline.Deny = p.deadline.Deny || f.deadline.Deny
			deadlines++
		}
		if f.mode == sayso.ModeStrict {
			p.mode = sayso.ModeStrict
		}
		switch {
		case f.mode == sayso.ModeStrict && t.Tier == TierOrg:
			p.modeLimit = sayso.ModeStrict
		case f.noApproveAll && p.modeLimit == "":
			p.modeLimit = sayso.ModeInteractive
		}
		p.redaction = p.redaction.with(f.redaction)
	}
}

// shorter returns the shorter of two spans, of which zero has no end.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func (r Redaction) with(o Redaction) Redaction {
	return Redaction{
		Names:     slices.Concat(r.Names, o.Names),
		MaxString: fewer(r.MaxString, o.MaxString),
		MaxItems:  fewer(r.MaxItems, o.MaxItems),
	}
}

// fewer returns the smaller of two limits, of which zero is none.
func fewer(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// Version identifies the files and the built-ins; equal versions give equal
// verdicts.
func (p *Policy) Version() string { return p.version }

// Mode returns the mode that holds where nobody has set another: the strictest
// that a file names, interactive if none does.
func (p *Policy) Mode() sayso.Mode { return p.mode }

// ModeLimit returns the laxest mode that anybody may set: strict where the
// organisation's file is, interactive where a file forbids approve_all. The zero
// mode is no limit.
func (p *Policy) ModeLimit() sayso.Mode { return p.modeLimit }

// Deadline returns how long requests may wait.
func (p *Policy) Deadline() sayso.Deadline { return p.deadline }

// Redaction returns what the files add to what is hidden and cut.
func (p *Policy) Redaction() Redaction { return p.redaction }

// Warnings returns what is probably not meant in the files.
func (p *Policy) Warnings() []Warning { return slices.Clone(p.warnings) }

// Paths says where the files are. A path that is empty, or a file that does
// not exist, is a tier that says nothing.
type Paths struct {
	User string // $XDG_CONFIG_HOME/sayso/policy.yaml
	Org  string // /etc/sayso/policy.yaml
	// Projects are the files of projects whose bytes a person has accepted.
	Projects []Project
}

// Project is the policy file of a project.
type Project struct {
	Workspace string // the project's folder, with links followed
	Name      string // of the file, for messages
	Text      []byte // that was accepted
}

// Load reads the files and makes a policy of them, or fails: a policy that does
// not load whole is not loaded at all. Whether others may write the files is
// for the caller to look at.
func Load(paths Paths, o Options) (*Policy, error) {
	var tiers []Tiered
	for _, t := range [...]struct {
		tier Tier
		path string
	}{{TierUser, paths.User}, {TierOrg, paths.Org}} {
		f, err := readFile(t.path)
		if err != nil {
			return nil, fmt.Errorf("%s policy: %w", t.tier, err)
		}
		if f != nil {
			tiers = append(tiers, Tiered{Tier: t.tier, File: f})
		}
	}
	for _, project := range paths.Projects {
		f, err := Parse(project.Name, project.Text)
		if err != nil {
			return nil, fmt.Errorf("the policy of a project: %w", err)
		}
		tiers = append(tiers, Tiered{Tier: TierRepo, File: f, Workspace: project.Workspace})
	}
	return New(o, tiers...)
}

// readFile returns nil for a file that is not there.
func readFile(path string) (*File, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, dangling(path)
	}
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// dangling is the error of a file that is a link to nothing, or lies in a
// folder that is one: somebody put a policy there, and its denials must not be
// lost with it.
func dangling(path string) error {
	for _, name := range [...]string{path, filepath.Dir(path)} {
		st, err := os.Lstat(name)
		if err != nil || st.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is a link to nothing; remove the link, or put the file back to where it leads", name)
		}
	}
	return nil
}

// Instead is the policy with another file of the person.
func (p *Policy) Instead(f *File) (*Policy, error) {
	tiers := []Tiered{{Tier: TierUser, File: f}}
	for _, t := range p.tiers {
		if t.Tier != TierUser {
			tiers = append(tiers, t)
		}
	}
	return New(p.options(), tiers...)
}

// String names the files in force, for people.
func (p *Policy) String() string {
	if p.index.rules == 0 {
		return "built-ins alone"
	}
	return fmt.Sprintf("%d rules, %s", p.index.rules, strings.TrimPrefix(p.version, "sha256:")[:12])
}
