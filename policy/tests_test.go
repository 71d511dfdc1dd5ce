package policy_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/facts"
	"github.com/sayso-dev/sayso/policy"
)

// testsOf reads a file of tests.
func testsOf(t testing.TB, text string) *policy.Tests {
	t.Helper()
	tests, err := policy.ParseTests("policy_test.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return tests
}

// onMachine gathers facts on the machine of the tests.
func onMachine(ctx context.Context, c sayso.Call, m policy.Machine) sayso.Facts {
	return facts.Gather(ctx, c, facts.Options{Workspace: m.Workspace, State: m.State, Home: m.Home, HostHome: m.Home, Roots: m.Roots, FS: m})
}

// tested holds a policy against tests.
func tested(t testing.TB, p *policy.Policy, text string) policy.Report {
	t.Helper()
	report, err := p.Test(context.Background(), testsOf(t, text), onMachine)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestParseTests_calls: what each way of writing a call means.
func TestParseTests_calls(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{call: {bash: "git status; x"}}`, `{"tool":"bash","args":{"command":"git status; x"},"cwd":"/home/you/project"}`},
		{`{call: {web-fetch: https://example.org/a#b}}`, `{"tool":"web-fetch","args":{"url":"https://example.org/a#b"},"cwd":"/home/you/project"}`},
		{`{call: {read_file: a.txt}}`, `{"tool":"read_file","args":{"path":"a.txt"},"cwd":"/home/you/project"}`},
		{`{call: {file-search: {path: docs, glob: "*.md"}}}`, `{"tool":"file-search","args":{"path":"docs","glob":"*.md"},"cwd":"/home/you/project"}`},
		{`{call: {mcp__github__get: {n: 1, deep: [true, null, "1", {x: -1.5e3}]}}}`, `{"tool":"mcp__github__get","args":{"n":1,"deep":[true,null,"1",{"x":-1.5e3}]},"cwd":"/home/you/project"}`},
		{`{call: {get: {}}, server: github}`, `{"tool":"get","server":"github","args":{},"cwd":"/home/you/project"}`},
		{`{call: {Bash: ls}, host: claude-code, session: s1}`, `{"tool":"Bash","host":"claude-code","args":{"command":"ls"},"cwd":"/home/you/project","session":"s1"}`},
		{`{call: {"tool":"bash","args":{"command":"ls"},"cwd":"/srv","tags":["night"]}}`, `{"tool":"bash","args":{"command":"ls"},"cwd":"/srv","tags":["night"]}`},
		{`{call: '{"tool":"bash","args":{"command":"ls"}}', cwd: sub}`, `{"tool":"bash","args":{"command":"ls"},"cwd":"/home/you/project/sub"}`},
		{`{call: {bash: ls}, workspace: ~/src/app, cwd: deep/er}`, `{"tool":"bash","args":{"command":"ls"},"cwd":"/home/you/src/app/deep/er"}`},
		{`{call: {bash: ls}, workspace: /srv/app, cwd: "~"}`, `{"tool":"bash","args":{"command":"ls"},"cwd":"/home/you"}`},
		{`{call: {bash: "ls\u200b\n"}}`, `{"tool":"bash","args":{"command":"ls` + "\u200b" + `\n"},"cwd":"/home/you/project"}`},
	} {
		tests := testsOf(t, "version: 1\ncases:\n  - {expect: ask, "+tt.text[1:]+"\n")
		want, err := sayso.ParseCall([]byte(tt.want))
		if err != nil {
			t.Fatal(err)
		}
		if len(tests.Cases) != 1 {
			t.Fatalf("%d cases of %s", len(tests.Cases), tt.text)
		}
		if diff := cmp.Diff(want, tests.Cases[0].Call); diff != "" {
			t.Errorf("%s: %s", tt.text, diff)
		}
	}
}

// TestParseTests_context: what the file says holds where a case says nothing
// else, and a case with many calls is many cases.
func TestParseTests_context(t *testing.T) {
	tests := testsOf(t, `version: 1
home: /users/ada
workspace: ~/app
host: claude-code
session: s0
cases:
  - name: many
    call:
      - {Bash: ls}
      - {Read: {file_path: /users/ada/app/x}}
    expect: ask
    danger: []
  - {call: {Bash: ls}, session: s1, workspace: /srv/x, expect: deny, danger: [delete], cause: default, rule: r}
`)
	var got []string
	for _, c := range tests.Cases {
		got = append(got, strings.Join([]string{c.Name, c.Call.Tool, c.Call.Host, c.Call.Session, c.Call.Cwd, c.Workspace, c.Want.Effect.String()}, " "))
	}
	want := []string{
		"many Bash claude-code s0 /users/ada/app /users/ada/app ask", "many Read claude-code s0 /users/ada/app /users/ada/app ask",
		" Bash claude-code s1 /srv/x /srv/x deny",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c := tests.Cases[1]; c.Line != 10 || c.Column != 9 {
		t.Errorf("the call stands at %d:%d", c.Line, c.Column)
	}
	if w := tests.Cases[0].Want; w.Danger == nil || len(w.Danger) != 0 {
		t.Errorf("%+v: no danger is not any danger", w)
	}
	last := policy.Want{Effect: sayso.Deny, Rule: "r", Cause: sayso.CauseDefault, Danger: []sayso.Danger{sayso.DangerDelete}}
	if diff := cmp.Diff(last, tests.Cases[2].Want); diff != "" {
		t.Error(diff)
	}
}

// TestMachine: the machine of the tests has what they name, and links lead
// where they say.
func TestMachine(t *testing.T) {
	p := load(t, `version: 1
sandbox:
  paths:
    docs: {root: ./docs}
    notes: {root: ~/notes, mode: rw, write_approval: false}
workspaces:
  ~/app: {rules: [{allow: "bash:make*"}]}
`)
	report := tested(t, p, `version: 1
files: {docs: dir, docs/out: {link: /etc}, docs/in: {link: ../docs}, docs/a.md: file, /etc/passwd: file}
cases:
  - {call: [{file-read: docs/a.md}, {file-read: docs/new.md}, {file-read: docs/in/a.md}, {file-write: /home/you/notes/x}], expect: allow}
  - {call: [{file-read: docs/out/passwd}, {file-read: main.go}, {file-read: docs/a.md/x}], expect: deny}
  - {call: {bash: make}, workspace: ~/app, cwd: sub, expect: allow}
  - {call: {bash: make}, expect: ask}
  - {call: {file-read: /home/you/.local/state/sayso/sayso.db}, expect: deny, cause: builtin}
`)
	for _, c := range report.Cases {
		if !c.Passed() {
			t.Errorf("%d: %s: %s by %s", c.Line, c.Text, c.Got.Effect, c.Got.Rule)
		}
	}
	if report.Coverage.Percent != 100 {
		t.Errorf("%+v", report.Coverage)
	}
}

// TestTest_wrong: what is told of a case that does not come out as expected.
func TestTest_wrong(t *testing.T) {
	p := load(t, rules(`allow: "bash:ls*"`, "deny: \"bash:rm*\"\n    name: nothing is deleted"))
	report := tested(t, p, `version: 1
cases:
  - {call: {bash: ls}, expect: allow, rule: "allow: bash:ls*", cause: rule, danger: []}
  - {call: {bash: ls}, expect: deny}
  - {call: {bash: rm x}, expect: deny, rule: something else, cause: default, danger: [network_write]}
  - {call: {bash: rm x}, expect: deny, rule: nothing is deleted, danger: [delete, delete]}
  - {call: {bash: sayso approve x}, expect: allow}
`)
	var got []string
	for _, c := range report.Cases {
		change := "no change"
		if c.Change != nil && c.Change.Possible {
			change = c.Change.Write[len(c.Change.Write)-1].Text
		} else if c.Change != nil {
			change = c.Change.Why
		}
		got = append(got, strings.Join(c.Wrong, ",")+" | "+change)
	}
	want := []string{
		" | no change", `effect | - deny: "bash:ls"`, "rule,cause,danger | no change", " | no change",
		"effect | nothing can: a final built-in denies it, agents do not answer for themselves",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if report.Passed != 2 || report.Failed != 3 {
		t.Errorf("%d passed, %d failed", report.Passed, report.Failed)
	}
	if c := report.Cases[2].Got; c.Line != 4 || c.File != "policy.yaml" || c.Rule != "nothing is deleted" {
		t.Errorf("%+v", c)
	}
}

// FuzzParseTests: whatever the text, there are either tests or a list of
// mistakes with places in the text, and tests that load can be run.
func FuzzParseTests(f *testing.F) {
	for _, block := range pageOfErrors(f) {
		if strings.HasPrefix(block.text, ofTests) {
			f.Add(block.text)
		}
	}
	f.Add("version: 1\nhome: /a\nfiles: {x: file, y: {link: x}}\ncases: [{name: n, call: [{bash: ls}, {t: {a: [1]}}], expect: ask, danger: []}]\n")
	p := load(f, rules(`allow: ["bash:ls*", "file-*:docs/**"]`, `deny: {kind: delete}`))
	f.Fuzz(func(t *testing.T, text string) {
		tests, err := policy.ParseTests("f", []byte(text))
		if err == nil {
			if report, err := p.Test(context.Background(), tests, onMachine); err != nil || report.Passed+report.Failed != len(tests.Cases) || len(tests.Cases) == 0 {
				t.Fatalf("%+v, %v", report, err)
			}
			return
		}
		var errs policy.Errors
		if tests != nil || !errors.As(err, &errs) || len(errs) == 0 {
			t.Fatalf("error %v", err)
		}
		checkPlaces(t, text, errs)
	})
}

// checkPlaces: every mistake has a place in the text.
func checkPlaces(t *testing.T, text string, errs policy.Errors) {
	t.Helper()
	lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 2
	if i := slices.IndexFunc(errs, func(e *policy.Error) bool {
		return e.Line < 1 || e.Line > lines || e.Column < 1 || e.What == "" || e.Code == ""
	}); i >= 0 {
		t.Fatalf("no place in %d lines: %+v", lines, errs[i])
	}
}

// Whoever stops a long file of tests is not kept waiting.
func TestTest_stops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := load(t, "version: 1\n").Test(ctx, testsOf(t, "version: 1\ncases:\n  - {call: {bash: ls}, expect: ask}\n"), onMachine); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
