package policy

import (
	"context"
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
const builtins = "2"

// Tier says whose file it is.
type Tier string

// The tiers.
const (
	TierUser Tier = "user" // the person's
	TierOrg  Tier = "org"  // the organisation's
)

// Tiered is a file and whose it is.
type Tiered struct {
	Tier Tier
	File *File
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

// Policy judges calls by up to two files and the built-ins. It never changes,
// and may be used from many goroutines.
type Policy struct {
	version   string
	home      string
	finalOnly bool
	fallback  sayso.Match
	deadline  sayso.Deadline
	mode      sayso.Mode
	redaction Redaction
	warnings  []Warning
	index     index
}

var _ sayso.Policy = (*Policy)(nil)

// New makes a policy of files. A file that needs to know where the person is at
// home is an error if nobody is.
func New(o Options, tiers ...Tiered) (*Policy, error) {
	p := &Policy{home: o.Home, finalOnly: o.FinalOnly, fallback: builtinDefault, mode: sayso.ModeInteractive}
	parts := [][]byte{[]byte(builtins), []byte(p.homeNeeded(tiers)), fmt.Append(nil, o.FinalOnly)}
	seen := make(map[Tier]bool)
	for _, t := range tiers {
		if seen[t.Tier] || t.Tier != TierUser && t.Tier != TierOrg {
			return nil, fmt.Errorf("%w: policy: the tiers are user and org, each once", sayso.ErrInvalid)
		}
		seen[t.Tier] = true
		if err := p.add(t, o); err != nil {
			return nil, err
		}
		parts = append(parts, []byte(t.Tier), []byte(t.File.Name), t.File.text)
	}
	p.settle(tiers)
	p.index.finish()
	p.version = sayso.HashOf("sayso policy", parts...).String()
	return p, nil
}

// homeNeeded is where the person is at home if a rule says so, else nothing.
// The programs of one machine may not agree on it; a policy that does not name
// it is the same for all of them, and so is what a person said yes to under it.
func (p *Policy) homeNeeded(tiers []Tiered) string {
	for _, t := range tiers {
		for _, ru := range t.File.rules {
			if slices.ContainsFunc(ru.matchers, func(m matcher) bool { return m.path != nil && m.path.anchor == atHome }) {
				return p.home
			}
		}
	}
	return ""
}

// add takes the rules of a file over.
func (p *Policy) add(t Tiered, o Options) error {
	p.warnings = append(p.warnings, t.File.Warnings...)
	for _, ru := range t.File.rules {
		for i := range ru.matchers {
			m := &ru.matchers[i]
			if m.path != nil && m.path.anchor == atHome && o.Home == "" {
				return Errors{{
					File: t.File.Name, Line: m.line, Column: 1, Code: CodeHome,
					What: fmt.Sprintf("%s begins with ~/, and nobody is at home here", quoted(m.text)), Write: "write the path from the root",
				}}
			}
			p.index.add(ru, m, ru.match(t.File, m, t.Tier == TierOrg))
		}
		p.index.rules++
	}
	return nil
}

// settle combines what files say once: the strictest of each.
func (p *Policy) settle(tiers []Tiered) {
	p.deadline = sayso.Deadline{After: time.Hour}
	var deadlines, fallbacks int
	for _, t := range tiers {
		f := t.File
		if f.fallback != nil {
			if fallbacks == 0 || f.fallback.Effect < p.fallback.Effect {
				p.fallback = *f.fallback
			}
			fallbacks++
		}
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
			tiers = append(tiers, Tiered{t.tier, f})
		}
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

// Judge says what the policy thinks of a call. It never fails.
func (p *Policy) Judge(_ context.Context, c sayso.Call, f sayso.Facts) sayso.Verdict {
	var s subject
	s.of(&c, &f, p.home)
	v := sayso.Verdict{Policy: p.version, Deadline: p.deadline, Risk: s.risk(), Default: p.otherwise(&s)}
	v.Danger = s.danger()
	if m, ok := s.final(); ok {
		v.Match, v.Matches = m, []sayso.Match{m}
		return v
	}
	v.Matches = s.floors(v.Matches)
	floors := len(v.Matches)
	p.index.speak(&s, &v)
	if len(v.Matches) == floors {
		v.Matches = p.unruled(&s, v.Matches, v.Default)
	}
	v.Match = sayso.Combine(v.Matches, v.Default)
	return v
}

// unruled adds what holds where no rule spoke: a built-in, or a default that is
// stricter than the floors. Asks of ours tighten; where the default denies, they
// are silent.
func (p *Policy) unruled(s *subject, floors []sayso.Match, otherwise sayso.Match) []sayso.Match {
	if !p.finalOnly {
		m, ok := s.builtin()
		if ok && (m.Effect != sayso.Ask || otherwise.Effect != sayso.Deny) {
			return append(floors, m)
		}
	}
	if s.strayed && otherwise.Effect != sayso.Deny {
		return append(floors, spanned(defaultElsewhere, 0, len(s.arg)))
	}
	if len(floors) > 0 && otherwise.Effect == sayso.Deny {
		return append(floors, otherwise)
	}
	return floors
}

// String names the files in force, for people.
func (p *Policy) String() string {
	if p.index.rules == 0 {
		return "built-ins alone"
	}
	return fmt.Sprintf("%d rules, %s", p.index.rules, strings.TrimPrefix(p.version, "sha256:")[:12])
}
