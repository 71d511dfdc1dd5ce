package policy

import (
	"context"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// Explanation says why a call comes out as it does, and what would have to be
// written for it to come out otherwise. Modes and grants play no part.
type Explanation struct {
	Effect sayso.Effect   `json:"effect"`
	Cause  sayso.Cause    `json:"cause"`
	Rule   string         `json:"rule"`
	File   string         `json:"file"` // empty for built-ins
	Line   int            `json:"line"` // from 1
	Span   [2]int         `json:"span"` // bytes of Text that decided
	Reason string         `json:"reason"`
	Risk   sayso.Risk     `json:"risk"`
	Danger []sayso.Danger `json:"danger"`

	// Kinds are what the call was judged as: the kind of its tool, and before it
	// another one where its caller says so. The stricter answer holds.
	Kinds []sayso.Kind `json:"kinds"`

	Tool     string `json:"tool"`     // canonical name
	Argument string `json:"argument"` // the argument that rules match on; empty if the tool has none
	Text     string `json:"text"`     // its value
	Words    string `json:"words"`    // the part of Text that Span names

	Spoke    []Spoken         `json:"spoke"`    // everything that had a say, the strictest decides
	Commands []CommandOutcome `json:"commands"` // of a line of bash
	Nearest  *Near            `json:"nearest"`  // the rule that almost matched; null if none is close
	Changes  []Change         `json:"changes"`  // one for each of the other effects
}

// Spoken is one thing that had a say.
type Spoken struct {
	Effect sayso.Effect `json:"effect"`
	Cause  sayso.Cause  `json:"cause"`
	Rule   string       `json:"rule"`
	File   string       `json:"file"`
	Line   int          `json:"line"`
	Span   [2]int       `json:"span"`
	Reason string       `json:"reason"`
}

func spoken(m sayso.Match) Spoken {
	return Spoken{m.Effect, m.Cause, m.Rule, m.File, m.Line, m.Span, m.Reason}
}

// CommandOutcome is what one simple command of a line comes to by itself.
type CommandOutcome struct {
	Text string `json:"text"`
	At   [2]int `json:"at"` // bytes of the line
	By   int    `json:"by"` // index of the command that runs it; -1 if the shell of the line does
	// NamedOnly says that another command only looks it up, so that it is not run.
	NamedOnly bool `json:"named_only,omitzero"`
	Spoken
}

// maxExplained is how many commands of a line are told one by one.
const maxExplained = 200

// Explain says why a call comes out as it does. It judges as [Policy.Judge]
// does; what it says is to be written was tried.
func (p *Policy) Explain(c sayso.Call, f sayso.Facts) Explanation {
	readings := p.readings(&c, &f)
	s := readings[0]
	v := p.Judge(context.Background(), c, f)
	out := Explanation{
		Effect: v.Effect, Cause: v.Cause, Rule: v.Rule, File: v.File, Line: v.Line, Span: v.Span, Reason: v.Reason,
		Risk: v.Risk, Danger: v.Danger, Tool: s.canonical, Argument: s.tool.Primary, Text: s.text(),
		Spoke: []Spoken{}, Commands: []CommandOutcome{},
	}
	for _, s := range readings {
		out.Kinds = append(out.Kinds, s.kind)
	}
	if out.Danger == nil {
		out.Danger = []sayso.Danger{}
	}
	if v.Span[0] >= 0 && v.Span[0] <= v.Span[1] && v.Span[1] <= len(out.Text) {
		out.Words = out.Text[v.Span[0]:v.Span[1]]
	}
	for _, m := range v.Matches {
		out.hear(m)
	}
	if len(v.Matches) == 0 {
		out.hear(v.Default)
	}
	if s.readsCommands() {
		out.Commands = p.outcomes(readings)
	}
	out.Nearest = p.almost(readings, v)
	for _, e := range [...]sayso.Effect{sayso.Allow, sayso.Ask, sayso.Deny} {
		if e != v.Effect {
			out.Changes = append(out.Changes, p.changeTo(c, f, e))
		}
	}
	return out
}

// hear takes in what had a say. A rule that speaks in more than one way is told
// once, with the strictest.
func (x *Explanation) hear(m sayso.Match) {
	for i, old := range x.Spoke {
		if old.Rule == m.Rule && old.File == m.File && old.Line == m.Line && m.File != "" {
			if m.Effect < old.Effect {
				x.Spoke[i] = spoken(m)
			}
			return
		}
	}
	x.Spoke = append(x.Spoke, spoken(m))
}

// outcomes says what each command of a line comes to by itself.
func (p *Policy) outcomes(readings []*subject) []CommandOutcome {
	out := []CommandOutcome{}
	for n, s := range readings {
		l, j := s.line(), p.lineJudge(s)
		for i := range l.Commands[:min(len(l.Commands), maxExplained)] {
			c := &l.Commands[i]
			m := p.outcome(j, c)
			if n > 0 { // the stricter reading holds
				if m.Effect < out[i].Effect {
					out[i].Spoken = spoken(m)
				}
				continue
			}
			one := CommandOutcome{Text: l.Text[c.Span.From:c.Span.To], At: [2]int{c.Span.From, c.Span.To}, By: c.By, Spoken: spoken(m)}
			one.NamedOnly = c.By >= 0 && l.Commands[c.By].Has(shell.LooksUp)
			out = append(out, one)
		}
	}
	return out
}

// outcome is what one command comes to.
func (p *Policy) outcome(j *lineJudge, c *shell.Command) sayso.Match {
	j.said, j.spoke = nil, make(map[*entry]bool)
	var matches []sayso.Match
	ruled := j.command(c)
	for _, h := range j.said {
		matches = append(matches, h.m)
	}
	commandFloors(j.s, c, &floorList{}, func(m sayso.Match) { matches = append(matches, m) })
	rest := spanned(p.otherwise(j.s), c.Span.From, c.Span.To)
	if !ruled {
		matches = append(matches, rest)
	}
	return sayso.Combine(matches, rest)
}
