package policy

import (
	"context"
	"slices"

	"github.com/sayso-dev/sayso"
)

// Report is what came of holding a policy against a file of tests.
type Report struct {
	Tests    string   `json:"tests"`  // the file
	Passed   int      `json:"passed"` // cases
	Failed   int      `json:"failed"`
	Cases    []Result `json:"cases"`
	Coverage Coverage `json:"coverage"`
}

// Result is what came of one case.
type Result struct {
	Name   string         `json:"name"`
	Line   int            `json:"line"`   // where the call stands in the file of tests
	Column int            `json:"column"` //
	Call   sayso.Call     `json:"call"`
	Text   string         `json:"text"` // the argument that rules match on
	Want   Want           `json:"expect"`
	Got    Spoken         `json:"got"` // what decided
	Danger []sayso.Danger `json:"danger"`
	Wrong  []string       `json:"wrong"`  // what is not as expected: effect, rule, cause, danger
	Change *Change        `json:"change"` // what to write for the expected effect; null if that came out
}

// Passed reports whether all came out as expected.
func (r Result) Passed() bool { return len(r.Wrong) == 0 }

// Test holds the policy against tests, on the machine that they name: paths that
// begin with ~ are in the home of the tests. The facts about a call come from
// gather, which is to resolve paths on the machine that it is given. Modes and
// grants play no part.
func (p *Policy) Test(ctx context.Context, t *Tests, gather func(context.Context, sayso.Call, Machine) sayso.Facts) (Report, error) {
	here, err := New(Options{Home: t.machine.Home, FinalOnly: p.finalOnly}, p.tiers...)
	if err != nil {
		return Report{}, err
	}
	run := &testRun{p: here, cases: t.Cases}
	run.facts = func(p *Policy, c Case) sayso.Facts {
		m := t.machine
		m.Workspace, m.Roots = c.Workspace, p.Roots()
		return gather(ctx, c.Call, m)
	}
	out := Report{Tests: t.Name, Cases: []Result{}}
	for _, c := range t.Cases {
		if err := ctx.Err(); err != nil {
			return Report{}, err
		}
		one := run.run(ctx, c)
		if one.Passed() {
			out.Passed++
		} else {
			out.Failed++
		}
		out.Cases = append(out.Cases, one)
	}
	out.Coverage = run.coverage(ctx)
	return out, nil
}

// testRun is a policy and what its cases came to.
type testRun struct {
	p     *Policy
	cases []Case
	facts func(*Policy, Case) sayso.Facts

	ran []ranCase // as the cases
}

// ranCase is what a case came to.
type ranCase struct {
	facts   sayso.Facts
	verdict sayso.Verdict
	spoke   map[position]bool // patterns of the person's file
}

// run judges a case.
func (run *testRun) run(ctx context.Context, c Case) Result {
	ran := ranCase{facts: run.facts(run.p, c)}
	ran.verdict = run.p.Judge(ctx, c.Call, ran.facts)
	ran.spoke = run.p.speakers(c.Call, ran.facts)
	run.ran = append(run.ran, ran)
	v := ran.verdict
	out := Result{
		Name: c.Name, Line: c.Line, Column: c.Column, Call: c.Call, Want: c.Want, Got: spoken(v.Match), Danger: slices.Clone(v.Danger), Wrong: c.Want.wrong(v),
	}
	if out.Danger == nil {
		out.Danger = []sayso.Danger{}
	}
	var s subject
	s.of(&c.Call, &ran.facts, run.p.home)
	out.Text = s.text()
	if v.Effect != c.Want.Effect {
		change := run.p.changeTo(c.Call, ran.facts, c.Want.Effect)
		out.Change = &change
	}
	return out
}

// wrong names what of a verdict is not as wanted.
func (w Want) wrong(v sayso.Verdict) []string {
	out := []string{}
	add := func(what string, wrong bool) {
		if wrong {
			out = append(out, what)
		}
	}
	add("effect", v.Effect != w.Effect)
	add("rule", w.Rule != "" && v.Rule != w.Rule)
	add("cause", w.Cause != "" && v.Cause != w.Cause)
	add("danger", w.Danger != nil && !sameDanger(v.Danger, w.Danger))
	return out
}

// sameDanger reports whether two lists name the same things.
func sameDanger(a, b []sayso.Danger) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// speakers are the patterns of the person's file that have a say about a call.
func (p *Policy) speakers(c sayso.Call, f sayso.Facts) map[position]bool {
	out := map[position]bool{}
	p.hearSpeakers(c, f, out)
	if own, claimed := unclaimed(c); claimed {
		p.hearSpeakers(own, f, out)
	}
	return out
}

func (p *Policy) hearSpeakers(c sayso.Call, f sayso.Facts, out map[position]bool) {
	var s subject
	s.of(&c, &f, p.home)
	if _, ok := s.final(); ok {
		return
	}
	said, _ := p.said(&s)
	for _, h := range said {
		if h.e != nil && h.e.tier == TierUser {
			out[h.e.m.position] = true
		}
	}
}
