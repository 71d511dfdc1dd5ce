package local

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/sayso-dev/sayso/internal/wire"
	"github.com/sayso-dev/sayso/policy"
	"github.com/sayso-dev/sayso/present"
)

// Source is a file that has a say in the policy, as it is now.
type Source struct {
	Tier      policy.Tier
	Path      string
	Workspace string // of a project's own file, whose text is the one that a person accepted
	There     bool
	Text      []byte
	Rules     int
	Err       error // why it does not load
}

// SourceOf reads a file of a tier.
func SourceOf(tier policy.Tier, name string) Source {
	s := Source{Tier: tier, Path: name}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s
	}
	s.There = true
	return s.parsed(text, err)
}

// parsed is the source with its text, unless there is an error already.
func (s Source) parsed(text []byte, err error) Source {
	if len(text) <= policy.MaxFile { // a longer one is a mistake, and nothing to look at
		s.Text = text
	}
	var f *policy.File
	if err == nil {
		f, err = policy.Parse(s.Path, text)
	}
	if s.Err = err; err == nil {
		s.Rules = f.Rules()
	}
	return s
}

// State says in words what becomes of the file.
func (s Source) State() string {
	switch {
	case !s.There:
		return "not there"
	case s.Err != nil:
		return "does not load"
	case s.Workspace != "":
		return "in force as accepted"
	}
	return "in force"
}

// Sources are the files that have a say, the one that binds most first.
func (r *Rules) Sources() ([]Source, error) {
	list := []Source{SourceOf(policy.TierOrg, r.paths.Org), SourceOf(policy.TierUser, r.paths.User)}
	trusted, err := r.home.Trusted()
	for _, t := range trusted {
		s := Source{Tier: policy.TierRepo, Path: t.File(), Workspace: t.Workspace, There: true}
		list = append(list, s.parsed([]byte(t.Text), nil))
	}
	return list, err
}

// Files is the text of the policy in force, with what is secret hidden and made
// safe to be shown.
func (l LookBack) Files() (out wire.PolicyFiles, err error) {
	rules := l.e.Policy
	out = wire.PolicyFiles{Version: rules.Version(), Files: []wire.PolicyFile{}, Warnings: []wire.PolicyNote{}}
	wrong, stale := rules.Err(), rules.Stale()
	if out.Stands = stale != nil; out.Stands {
		wrong = stale
	}
	if wrong != nil {
		out.Mistake = l.shown(first(wrong))
	}
	sources, err := rules.Sources()
	if err != nil {
		return out, unavailable(err)
	}
	for _, s := range sources {
		out.Files = append(out.Files, l.file(s))
	}
	for _, w := range rules.Warnings() {
		out.Warnings = append(out.Warnings, wire.PolicyNote{File: w.File, Line: w.Line, Column: w.Column, What: l.shown(w.What)})
	}
	return out, nil
}

func (l LookBack) file(s Source) wire.PolicyFile {
	f := wire.PolicyFile{
		Tier: string(s.Tier), File: s.Path, Workspace: s.Workspace, State: s.State(), Rules: s.Rules, Text: l.policyText(string(s.Text)), Mistakes: []wire.PolicyNote{},
	}
	f.Altered = f.Text != string(s.Text)
	var all policy.Errors
	var one *policy.Error
	switch {
	case errors.As(s.Err, &all):
		for _, e := range all {
			f.Mistakes = append(f.Mistakes, l.note(e))
		}
	case errors.As(s.Err, &one):
		f.Mistakes = append(f.Mistakes, l.note(one))
	case s.Err != nil:
		f.Mistakes = append(f.Mistakes, wire.PolicyNote{File: s.Path, What: l.shown(s.Err.Error())})
	}
	return f
}

func (l LookBack) note(e *policy.Error) wire.PolicyNote {
	return wire.PolicyNote{File: e.File, Line: e.Line, Column: e.Column, What: l.shown(e.What), Write: l.shown(e.Write)}
}

var (
	// kept finds a secret of a notice that is kept elsewhere: the policy says
	// where, and that is none.
	kept = regexp.MustCompile(`\bsecret(:\s*\{?\s*(?:file|env):)`)
	// bare finds a value of which part is hidden, and that has no quotes. YAML
	// would read a list.
	bare = regexp.MustCompile(`(?m)([:-][ \t]+)([^\s"'{}\[\],]*\[hidden \d+ bytes\][^\s"'{}\[\],]*)([ \t]*(?:[,}\]]|#|$))`)
)

// policyText is a policy as it may be shown, so that it loads if it did. Where a
// secret is kept stands there under a name that tells nothing while it is
// searched; a secret that was put there by mistake is found by its shape.
func (l LookBack) policyText(text string) string {
	name := "kept"
	for strings.Contains(text, name) {
		name += "x"
	}
	masked := l.shown(kept.ReplaceAllString(text, name+"$1"))
	return bare.ReplaceAllString(strings.ReplaceAll(masked, name, "secret"), "$1'$2'$3")
}

// shown is a text as it may be shown.
func (l LookBack) shown(text string) string {
	text, _ = l.e.redactorNow().Text(text)
	text, _ = present.Safe(text)
	return text
}

// first is the first mistake of an error of policy files, in one line.
func first(err error) string {
	var e *policy.Error
	if errors.As(err, &e) {
		return e.Error()
	}
	return err.Error()
}
