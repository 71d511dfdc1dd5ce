package policy

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
)

// Coverage says what of the person's file the cases reached. Of several files in
// force the others do not count: whoever tests their file cannot change those.
type Coverage struct {
	File    string    `json:"file"`    // empty if there is none
	Covered int       `json:"covered"` // parts that had a say in a case
	Total   int       `json:"total"`
	Percent int       `json:"percent"` // rounded down; 100 of nothing
	Parts   []Covered `json:"parts"`   // in the order of the file
}

// Covered is a part of a file that may have a say: a pattern of a rule, a rule on
// commands, a path of sandbox.paths, or a default.
//
// It spoke in a case if it had a say there, and decided it if the case would
// come out otherwise without it: with another effect, or by another rule. A
// default and a path have a say only where they decide.
type Covered struct {
	Under   string `json:"under"` // the key of the file that it belongs under
	Rule    string `json:"rule"`  // as verdicts call it
	Text    string `json:"text"`  // what stands there: the effect and the pattern, the path, the default
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`  // 0 if only the line is known
	Spoke   []int  `json:"spoke"`   // cases by their numbers, from 0
	Decided []int  `json:"decided"` //

	position position
	without  func(*File) *File // the file without it; nil for a default
}

// Reached reports whether it had a say in a case.
func (c Covered) Reached() bool { return len(c.Spoke) > 0 }

// coverage says what the cases reached.
func (run *testRun) coverage(ctx context.Context) Coverage {
	out := Coverage{Percent: 100, Parts: []Covered{}}
	for at, t := range run.p.tiers {
		if t.Tier != TierUser {
			continue
		}
		out.File, out.Parts = t.File.Name, t.File.coverable()
		for i := range out.Parts {
			run.cover(ctx, &out.Parts[i], at)
		}
	}
	for _, c := range out.Parts {
		if c.Reached() {
			out.Covered++
		}
	}
	if out.Total = len(out.Parts); out.Total > 0 {
		out.Percent = 100 * out.Covered / out.Total
	}
	return out
}

// cover finds the cases in which a part of the file had a say. What it decided
// is found by taking it out.
func (run *testRun) cover(ctx context.Context, c *Covered, tier int) {
	pattern := c.Under == underRules || c.Under == underShell
	var without *Policy
	for i, ran := range run.ran {
		if pattern && !ran.spoke[c.position] {
			continue
		}
		decided := false
		if c.without == nil {
			decided = ran.verdict.Cause == sayso.CauseDefault && ran.verdict.Rule == c.Rule && ran.verdict.File == c.File && ran.verdict.Line == c.Line
		} else {
			if without == nil {
				without = run.p.changed(replaced(run.p.tiers, tier, c.without))
			}
			decided = without != nil && !sameVerdict(ran.verdict, without.Judge(ctx, run.cases[i].Call, run.facts(without, run.cases[i])))
		}
		if pattern || decided {
			c.Spoke = append(c.Spoke, i)
		}
		if decided {
			c.Decided = append(c.Decided, i)
		}
	}
}

// replaced are tiers with one of the files changed.
func replaced(tiers []Tiered, at int, change func(*File) *File) []Tiered {
	out := slices.Clone(tiers)
	out[at].File = change(out[at].File)
	return out
}

// sameVerdict reports whether two verdicts are the same answer for the same
// reason.
func sameVerdict(a, b sayso.Verdict) bool {
	return a.Effect == b.Effect && a.Cause == b.Cause && a.Rule == b.Rule && a.File == b.File && a.Line == b.Line &&
		a.Remember == b.Remember && a.Person == b.Person && a.Elicit == b.Elicit && a.Title == b.Title && sameDanger(a.Danger, b.Danger)
}

// The keys of a file that what is covered belongs under.
const (
	underRules        = "rules"
	underShell        = "shell.rules"
	underPaths        = "sandbox.paths"
	underDefault      = "default"
	underShellDefault = "shell.default"
)

// coverable are the parts of a file that may have a say, in their order.
func (f *File) coverable() []Covered {
	out := []Covered{}
	add := func(c Covered) {
		c.File, c.Line, c.Column = f.Name, c.position.line, c.position.column
		c.Spoke, c.Decided = []int{}, []int{}
		out = append(out, c)
	}
	if m := f.fallback; m != nil {
		add(Covered{Under: underDefault, Rule: m.Rule, Text: m.Rule, position: position{m.Line, 0}})
	}
	for _, p := range f.every() {
		p.coverable(f, add)
	}
	slices.SortStableFunc(out, func(a, b Covered) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return out
}

func (p *part) coverable(f *File, add func(Covered)) {
	for _, ru := range p.rules {
		for _, m := range ru.matchers {
			says := ru.match(f, m, TierUser)
			add(Covered{Under: underRules, Rule: says.Rule, Text: ru.effect.String() + ": " + m.text, position: m.position, without: withoutPosition(m.position)})
		}
	}
	if p.shell != nil {
		for i, ru := range p.shell.rules.Rules {
			at, text := p.shell.places[i], strings.Join(ru.Words, " ")
			add(Covered{Under: underShell, Rule: "shell.rules: " + text, Text: ru.Effect.String() + ": " + text, position: at, without: withoutPosition(at)})
		}
		if p.shell.said {
			text := "shell.default: " + p.shell.rules.Default.String()
			add(Covered{Under: underShellDefault, Rule: text, Text: text, position: position{p.shell.line, 0}})
		}
	}
	if p.paths != nil {
		for _, root := range p.paths.rules.Roots {
			at := p.paths.position()
			add(Covered{Under: underPaths, Rule: "sandbox.paths." + root.Name, Text: "sandbox.paths." + root.Name, position: position{root.Line, 0}, without: func(f *File) *File {
				return f.withoutRoot(at, root.Name)
			}})
		}
	}
}

func withoutPosition(at position) func(*File) *File {
	return func(f *File) *File { return f.without(map[position]bool{at: true}) }
}
