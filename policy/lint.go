package policy

import (
	"cmp"
	"slices"

	"github.com/sayso-dev/sayso"
)

// FindingKind says what is wrong with a pattern.
type FindingKind string

// The kinds of findings.
const (
	// FindingCannotHold is a pattern that no call fits.
	FindingCannotHold FindingKind = "cannot-hold"
	// FindingUnreachable is a pattern or a default that calls fit, and that
	// never decides: what stands before it, or a built-in, always does.
	FindingUnreachable FindingKind = "unreachable"
	// FindingShadowed is a pattern beside another one that always says at least
	// as strict a thing.
	FindingShadowed FindingKind = "shadowed"
	// FindingContradictory are two patterns of one file that say different
	// things of the same calls.
	FindingContradictory FindingKind = "contradictory"
	// FindingOverWide is a pattern with a star, or a default, that allows what
	// is dangerous.
	FindingOverWide FindingKind = "over-wide"
)

// Finding is something in a policy that is probably not meant. It is proved: by
// a call that shows it, or by generated calls that all come out the same
// without the pattern, or by both.
type Finding struct {
	Kind FindingKind `json:"kind"`
	Pattern
	What  string `json:"what"`  // is wrong, in one sentence
	Write string `json:"write"` // what to do about it
	// By is the pattern that speaks before this one, or against it; nil if none
	// does.
	By *Pattern `json:"by"`
	// Call is a generated call that shows it, as it would be made in Workspace
	// on a machine without links; nil if there is none. Found is what would be
	// at its path, if it has one.
	Call      *sayso.Call     `json:"call"`
	Workspace string          `json:"workspace"`
	Found     sayso.PathState `json:"found"`
	Effect    sayso.Effect    `json:"comes_out"` // of the call; deny without one
	// Same is how many generated calls come out the same without the pattern,
	// those that are aimed at it among them; 0 if the call alone is the proof.
	Same int `json:"same"`
}

// Pattern is a pattern of a rule, or a default, and where it stands.
type Pattern struct {
	Says      sayso.Effect `json:"effect"`
	Text      string       `json:"pattern"` // as written
	Tier      Tier         `json:"tier"`
	Project   string       `json:"project"` // that a file of [TierRepo] belongs to
	File      string       `json:"file"`
	Line      int          `json:"line"`
	Column    int          `json:"column"`
	InCommand bool         `json:"in_shell_rules"` // it stands in shell.rules
}

// pattern is what a finding says of an entry.
func (e *entry) pattern() Pattern {
	return Pattern{
		Says: e.effect, Text: e.written(), Tier: e.tier, Project: e.place().workspace, File: e.says.File,
		Line: e.m.line, Column: e.m.column, InCommand: e.under() == "shell.rules",
	}
}

// place is where an entry stands.
func (e *entry) place() location {
	at := location{tier: e.tier, position: e.m.position}
	if e.tier == TierRepo {
		at.workspace = e.scope.folder
	}
	return at
}

// Lint looks for patterns that do nothing, contradict each other, or allow more
// than is safe. It generates calls that are aimed at each pattern and judges
// them, with the pattern and without. Equal policies have equal findings.
func (p *Policy) Lint() []Finding {
	l := newLinter(p)
	var out []Finding
	for _, e := range l.entries {
		if f := l.idle(e); f != nil {
			out = append(out, *f)
		}
	}
	out = append(out, l.projectAllows()...)
	out = append(out, l.idleDefaults()...)
	out = append(out, l.idleRoots()...)
	out = append(out, l.idleDelegates()...)
	out = append(out, l.overWide()...)
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return out
}

// idle is what is wrong with a pattern that does nothing, nil if it does
// something or nothing can be shown.
func (l *linter) idle(e *entry) *Finding {
	if len(l.aimed[e]) == 0 {
		return l.cannotHold(e)
	}
	if f := l.contradiction(e); f != nil {
		return f
	}
	if f := l.overruled(e); f != nil {
		return f
	}
	if f := l.shadowed(e); f != nil {
		return f
	}
	return l.jointlyShadowed(e)
}

// linter is a policy with calls that are aimed at its patterns.
type linter struct {
	p       *Policy
	machine sampleMachine
	entries []*entry
	rules   map[*entry]*commandRule
	aimed   map[*entry][]*sampleCall // calls that fit the pattern
	missed  map[*entry][]*sampleCall // calls that were made for it and do not
	calls   []*sampleCall
	alone   map[*entry]*Policy
}

func newLinter(p *Policy) *linter {
	l := &linter{
		p: p, machine: p.sampleMachine(), entries: p.index.all(), rules: map[*entry]*commandRule{},
		aimed: map[*entry][]*sampleCall{}, missed: map[*entry][]*sampleCall{}, alone: map[*entry]*Policy{},
	}
	for _, r := range p.index.commands.all {
		l.rules[r.entry] = r
	}
	for _, e := range l.entries {
		for _, a := range l.samplesFor(e) {
			a.fits = p.fittingPatterns(a.subject(p))
			l.calls = append(l.calls, a)
			if _, ok := a.fits[e]; ok {
				l.aimed[e] = append(l.aimed[e], a)
			} else {
				l.missed[e] = append(l.missed[e], a)
			}
		}
	}
	l.calls = append(l.calls, l.generalSamples()...)
	return l
}
