package policy_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/policy"
)

// TestCoverage: what was reached, what decided, and what did not.
func TestCoverage(t *testing.T) {
	p := load(t, `version: 1
default: deny
rules:
  - allow: ["bash:ls*", "bash:ls -l*", "bash:wc*"]
  - deny: ["bash:rm*", {kind: delete}]
  - deny: "bash:rm -r*"
    name: trees
  - ask: "mcp__db__*"
    when: 'call.cwd == "/srv"'
shell:
  default: {allowed: true}
  rules:
    - {pattern: git status, approval: false}
    - {pattern: git, approval: false}
sandbox:
  paths:
    docs: {root: ./docs}
    out: {root: ./out, mode: rw, write_approval: false}
workspaces:
  ~/app: {rules: [{allow: "bash:make*"}, {ask: "bash:make install*"}]}
`)
	report := tested(t, p, `version: 1
cases:
  - {call: {bash: ls -l}, expect: allow}
  - {call: {bash: sudo rm -r x}, expect: deny}
  - {call: {mcp__db__drop: {}}, expect: deny}
  - {call: {bash: git status}, expect: allow}
  - {call: {bash: ls > out/x}, expect: allow}
  - {call: {file-read: docs/x}, expect: allow}
  - {call: {file-read: docs/x}, expect: allow, cwd: sub}
  - {call: {bash: make}, expect: ask}
  - {call: {bash: make}, workspace: ~/app, expect: allow}
`)
	var got []string
	for _, c := range report.Coverage.Parts {
		got = append(got, fmt.Sprintf("%d %s spoke %v decided %v", c.Line, c.Text, c.Spoke, c.Decided))
	}
	want := []string{
		"2 default: deny spoke [2] decided [2]",
		"4 allow: bash:ls* spoke [0 4] decided [0 4]",
		"4 allow: bash:ls -l* spoke [0] decided []",
		"4 allow: bash:wc* spoke [] decided []",
		"5 deny: bash:rm* spoke [1] decided [1]",
		"5 deny: {kind: delete} spoke [] decided []",
		"6 deny: bash:rm -r* spoke [1] decided []",
		"8 ask: mcp__db__* spoke [] decided []",
		"11 shell.default: ask spoke [7] decided [7]",
		"13 allow: git status spoke [3] decided [3]",
		"14 allow: git spoke [] decided []",
		"17 sandbox.paths.docs spoke [5] decided [5]",
		"18 sandbox.paths.out spoke [4] decided [4]",
		"20 allow: bash:make* spoke [8] decided [8]",
		"20 ask: bash:make install* spoke [] decided []",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c := report.Coverage; c.Covered != 10 || c.Total != 15 || c.Percent != 66 || c.File != "policy.yaml" {
		t.Errorf("%d of %d, %d %% of %s", c.Covered, c.Total, c.Percent, c.File)
	}
}

// TestCoverage_none: of nothing all is covered, and the organisation's file is
// not the person's to cover.
func TestCoverage_none(t *testing.T) {
	f, err := policy.Parse("org.yaml", []byte(rules(`deny: "bash:rm*"`)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierOrg, File: f})
	if err != nil {
		t.Fatal(err)
	}
	report := tested(t, p, "version: 1\ncases: [{call: {bash: rm x}, expect: deny}]\n")
	if c := report.Coverage; report.Failed != 0 || c.Total != 0 || c.Percent != 100 || c.File != "" {
		t.Errorf("%+v", report)
	}
}

// TestCoverage_mutations takes every part out of random policies, in their text,
// and judges the calls of random cases anew: a part that is said to have decided
// a case changes how it comes out, one that is not does not; one that is said to
// have spoken is named in the verdict, and no other is.
func TestCoverage_mutations(t *testing.T) {
	t.Parallel()
	d := newDice(7)
	decided, spoke, silent, roots := 0, 0, 0, 0
	for range 70 {
		texts := d.tiers()
		if len(texts) == 0 {
			continue
		}
		p := made(t, texts)
		var calls []sayso.Call
		text := "version: 1\nhome: /home/dev\nworkspace: /home/dev/app\ncases:\n"
		for range 12 {
			c := d.call(t)
			line, err := jcs.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			calls = append(calls, c)
			text += "  - {expect: ask, call: '" + strings.ReplaceAll(string(line), "'", "''") + "'}\n"
		}
		report, err := p.Test(context.Background(), testsOf(t, text), inProject)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range report.Coverage.Parts {
			if part.Under == "default" || part.Under == "shell.default" {
				continue // is the answer or is not
			}
			less, err := tryMade(append([]string{takenOut(t, texts[0], part)}, texts[1:]...))
			if err != nil {
				continue // a path that a rule names
			}
			for i, c := range calls {
				v, w := judgeIn(p, c), judgeIn(less, c)
				changes, says := !alike(v, w), slices.Contains(part.Decided, i)
				if says != changes {
					t.Fatalf("%s at line %d, %s %s: decided %v; with it %s by %s:%d %q, without it %s by %s:%d %q\n%s", part.Text, part.Line, c.Tool, c.Args, says,
						v.Effect, v.File, v.Line, v.Rule, w.Effect, w.File, w.Line, w.Rule, texts[0])
				}
				named := slices.ContainsFunc(v.Matches, func(m sayso.Match) bool { return m.File == part.File && m.Line == part.Line })
				if part.Under != "sandbox.paths" && named != slices.Contains(part.Spoke, i) {
					t.Fatalf("%s at line %d, %s %s: spoke %v, named %v", part.Text, part.Line, c.Tool, c.Args, part.Spoke, named)
				}
			}
			switch {
			case part.Under == "sandbox.paths" && part.Reached():
				roots++
			case len(part.Decided) > 0:
				decided++
			case part.Reached():
				spoke++
			default:
				silent++
			}
		}
	}
	t.Logf("%d decided, %d spoke, %d silent, %d paths", decided, spoke, silent, roots)
	if decided < 50 || spoke < 15 || silent < 100 || roots < 4 {
		t.Errorf("%d decided, %d spoke, %d silent, %d paths: too few to say anything", decided, spoke, silent, roots)
	}
}

// inProject gathers facts on the disk of these tests.
func inProject(ctx context.Context, c sayso.Call, m policy.Machine) sayso.Facts {
	return facts.Gather(ctx, c, facts.Options{Workspace: m.Workspace, State: m.State, Home: m.Home, HostHome: m.Home, Roots: m.Roots, FS: machine})
}

func judgeIn(p *policy.Policy, c sayso.Call) sayso.Verdict {
	ctx := context.Background()
	return p.Judge(ctx, c, inProject(ctx, c, policy.Machine{
		Home: "/home/dev", Workspace: "/home/dev/app", State: []string{"/home/dev/.local/state/sayso", "/home/dev/.config/sayso"}, Roots: p.Roots(),
	}))
}

// alike reports whether two verdicts are the same answer for the same reason.
func alike(a, b sayso.Verdict) bool {
	key := func(v sayso.Verdict) string {
		danger := slices.Sorted(slices.Values(v.Danger))
		return fmt.Sprint(v.Effect, v.Cause, v.Rule, v.File, v.Line, v.Remember, v.Person, v.Title, danger)
	}
	return key(a) == key(b)
}

var inShellRule = regexp.MustCompile(`pattern: "[^"]*"`)

// takenOut is the text of a policy without one part. No line moves.
func takenOut(t *testing.T, text string, part policy.Covered) string {
	t.Helper()
	lines := strings.Split(text, "\n")
	at := &lines[part.Line-1]
	switch part.Under {
	case "rules":
		*at = `      - "mcp__nobody__nothing"`
	case "shell.rules":
		*at = inShellRule.ReplaceAllString(*at, `pattern: "nobody-runs-this"`)
	case "sandbox.paths":
		*at = "#"
	default:
		t.Fatalf("what is under %s?", part.Under)
	}
	return strings.Join(lines, "\n")
}
