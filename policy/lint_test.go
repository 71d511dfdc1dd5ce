package policy_test

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// told is a finding as somebody who reads a failing test wants to see it.
func told(f policy.Finding) string {
	out := fmt.Sprintf("%d:%d %s: %s %q: %s", f.Line, f.Column, f.Kind, f.Says, f.Text, f.What)
	if f.By != nil {
		out += fmt.Sprintf(" (by %d:%d %q)", f.By.Line, f.By.Column, f.By.Text)
	}
	if f.Call != nil {
		out += fmt.Sprintf(" [%s %s %s in %s: %s]", f.Call.Tool, f.Call.Server, f.Call.Args, f.Workspace, f.Effect)
	}
	return out
}

// The presets are what people begin with, and have nothing of this.
func TestLint_presets(t *testing.T) {
	t.Parallel()
	for _, name := range policy.Presets() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range preset(t, name).Lint() {
				t.Error(told(f))
			}
		})
	}
}

// blanked is the text of a policy without the pattern of a finding, taken out as
// with an editor: in the policies that the dice make a pattern is a line.
func blanked(t *testing.T, texts []string, p policy.Pattern) []string {
	t.Helper()
	out := written(t, texts, []policy.Edit{{Do: "remove", Tier: p.Tier, File: p.File, Line: p.Line, Old: p.Text}})
	for i, text := range out {
		if strings.Contains(texts[i], "\nshell:\n") && !strings.Contains(text, "\nshell:\n") {
			out[i] += "shell:\n  rules: []\n" // a shell without a default asks
		}
	}
	return out
}

// TestLint_proofs: what is found in generated policies is as it is said to be.
// Nothing of what makes the findings takes part in the checks.
func TestLint_proofs(t *testing.T) {
	t.Parallel()
	d := newDice(3)
	kinds := map[policy.FindingKind]int{}
	rounds, sample := 50, 100
	if testing.Short() {
		rounds = 15
	}
	for range rounds {
		texts := d.tiers()
		p := made(t, texts)
		for _, f := range p.Lint() {
			kinds[f.Kind]++
			checkShown(t, texts, p, f)
			if f.Same == 0 || f.Column == 0 {
				continue
			}
			after, err := tryMade(blanked(t, texts, f.Pattern))
			if err != nil {
				t.Fatalf("%v without %s in\n%s", err, told(f), strings.Join(texts, "---\n"))
			}
			for range sample {
				c := d.callNear(t, f)
				if a, b := judge(p, c), judge(after, c); !alikeVerdicts(a, b) {
					t.Fatalf("%s\n%s %s: %s by %q, without it %s by %q, in\n%s", told(f), c.Tool, c.Args, a.Effect, a.Rule, b.Effect, b.Rule, strings.Join(texts, "---\n"))
				}
			}
		}
	}
	t.Log(kinds)
	for _, kind := range []policy.FindingKind{policy.FindingCannotHold, policy.FindingUnreachable, policy.FindingShadowed, policy.FindingContradictory, policy.FindingOverWide} {
		if kinds[kind] == 0 {
			t.Errorf("%d findings are %s: too few to say anything", kinds[kind], kind)
		}
	}
}

// callNear is any call, or one with the words of a pattern in it.
func (d dice) callNear(t *testing.T, f policy.Finding) sayso.Call {
	words, bash4, ok := strings.Cut(strings.TrimSuffix(f.Text, "*"), "bash:")
	if ok {
		words = bash4
	}
	if d.IntN(3) > 0 || !ok && !f.InCommand {
		return d.call(t)
	}
	line := strings.Replace(pick(d, []string{"%", "% x", "ls; %", "sudo %", "% --force origin", "% $X", "env %", "% > docs/new.md", "/usr/bin/%", "sh -c '%'", "% (", "$(%)", "% -v docs/a.md"}), "%", words, 1)
	return bash(t, line)
}

// alikeVerdicts reports whether two verdicts have the same consequences.
func alikeVerdicts(a, b sayso.Verdict) bool {
	person := func(v sayso.Verdict) bool {
		return v.Effect == sayso.Ask && (v.Person || v.Cause == sayso.CauseNotUnderstood)
	}
	return a.Effect == b.Effect && person(a) == person(b) && a.Title == b.Title && fmt.Sprint(a.Danger) == fmt.Sprint(b.Danger)
}

// checkShown judges the call that a finding shows.
func checkShown(t *testing.T, texts []string, p *policy.Policy, f policy.Finding) {
	t.Helper()
	if f.Call == nil {
		if f.Same == 0 {
			t.Fatalf("no proof: %s", told(f))
		}
		return
	}
	on := scene(f)
	v := judgeOn(p, on, *f.Call)
	if v.Effect != f.Effect {
		t.Fatalf("%s\ncomes out as %s by %q in\n%s", told(f), v.Effect, v.Rule, strings.Join(texts, "---\n"))
	}
	switch f.Kind {
	case policy.FindingOverWide:
		if v.Effect != sayso.Allow {
			t.Fatalf("%s\nis not allowed", told(f))
		}
	case policy.FindingContradictory:
		for _, side := range []policy.Pattern{f.Pattern, *f.By} {
			alone, ok := aloneIn(side)
			if !ok {
				continue // a mapping that is not written as it is told
			}
			if v := judgeOn(alone, on, *f.Call); v.Effect != side.Says || v.Cause != sayso.CauseRule {
				t.Fatalf("%s\nline %d alone: %s by %q", told(f), side.Line, v.Effect, v.Rule)
			}
		}
	}
}

// aloneIn is a policy of one pattern.
func aloneIn(p policy.Pattern) (*policy.Policy, bool) {
	text := p.Text
	if p.InCommand {
		text = "bash:" + text + "*"
	}
	if !strings.HasPrefix(text, "{") {
		text = yamlText(text)
	}
	out, err := tryMade([]string{rules(p.Says.String() + ": " + text)})
	return out, err == nil
}

// scene is the disk of the call of a finding.
func scene(f policy.Finding) disk {
	on := disk{}
	folders := func(at string) {
		for ; at != "/" && at != "."; at = path.Dir(at) {
			on[at] = "dir"
		}
	}
	folders(f.Workspace)
	var args struct {
		Path string `json:"path"`
		File string `json:"file_path"`
	}
	if json.Unmarshal(f.Call.Args, &args) != nil || args.Path+args.File == "" || f.Found == "" {
		return on
	}
	at := args.Path + args.File
	if at[0] != '/' {
		at = f.Workspace + "/" + at
	}
	at = path.Clean(at)
	folders(path.Dir(at))
	if f.Found != sayso.PathMissing && on[at] == "" {
		on[at] = string(f.Found)
	}
	return on
}

// TestLint_finds is what each kind of finding is, by examples: the line and the
// kind of each finding of a policy.
func TestLint_finds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		rules []string // from line 3 on
		want  string
	}{
		{"a narrower pattern", []string{`allow: "bash:git log*"`, `allow: "bash:git log -5"`}, "4 shadowed"},
		{"in a list", []string{`allow: ["bash:ls", "bash:ls*"]`}, "3 shadowed"},
		{"twice the same", []string{`ask: "file-edit:docs/**"`, `ask: "file-edit:docs/**"`}, "4 shadowed"},
		{"by a stricter one", []string{`deny: "bash:git*"`, `allow: "bash:git log*"`}, "4 shadowed"},
		{"by a stricter one that stands behind it", []string{`ask: "bash:git log*"`, `deny: "bash:git*"`}, "3 shadowed"},
		{"not by a looser one", []string{`allow: "bash:git*"`, `ask: "bash:git push*"`}, "3 over-wide"},
		{"not by one with a condition", []string{`deny: "bash:git*"`, `when: 'call.cwd == "/srv"'`, `ask: "bash:git log*"`}, ""},
		{"with a condition, by a deny", []string{`deny: "bash:git*"`, `ask: "bash:git log*"`, `when: 'call.cwd == "/srv"'`}, "4 shadowed"},
		{"with a condition that may fail", []string{`allow: "bash:ls*"`, `allow: "bash:ls -l"`, `when: 'call.cwd == "/srv"'`}, ""},
		{"what is told is not the same", []string{`ask: bash`, `ask: "bash:git push*"`, `title: Push`}, ""},
		{"nor how long it is remembered", []string{`ask: bash`, `ask: "bash:git push*"`, `remember: never`}, ""},
		{"by all tools", []string{`deny: "*"`, `ask: "file-edit:docs/a.md"`}, "4 shadowed"},
		{"by all of a kind, but for tools that nobody knows", []string{`ask: {kind: [write, edit]}`, `ask: "file-edit:docs/**"`}, ""},
		{"by all tools of a server", []string{`ask: "mcp__db__*"`, `ask: {server: db, tool: drop_*}`}, "4 shadowed"},
		{"by all hosts", []string{`deny: "web-fetch:https://*"`, `ask: "web-fetch:https://example.org"`}, "4 shadowed"},
		{"by another scheme", []string{`deny: "web-fetch:http://*"`, `ask: "web-fetch:*://example.org"`}, ""},
		{"by all addresses", []string{`deny: "web-fetch:*"`, `ask: "web-fetch:https://example.org"`}, "4 shadowed"},

		{"by two together", []string{`ask: {kind: [write, delete], host: claude-code}`, `deny: {kind: [write, edit]}`, `deny: {kind: delete}`}, "3 shadowed"},
		{"by two of servers", []string{`deny: {server: [db, github], tool: "drop_*"}`, `deny: "mcp__db__*"`, `deny: {server: github, tool: "d*"}`}, "3 shadowed"},
		{"by one, and not by another", []string{`ask: {kind: [write, delete], host: claude-code}`, `deny: {kind: [write, edit]}`}, ""},
		{"each by it", []string{`ask: {kind: [write, delete]}`, `ask: {kind: write}`, `ask: {kind: delete}`}, "4 shadowed 5 shadowed"},
		{"by two, one of which has a condition", []string{`ask: {kind: [write, delete], host: claude-code}`, `deny: {kind: [write, edit]}`, "deny: {kind: delete}\n    when: 'call.cwd == \"/srv\"'"}, ""},

		{"allowed and denied", []string{`allow: "bash:make*"`, `deny: "bash:make*"`}, "3 contradictory"},
		{"allowed and asked about", []string{`ask: "file-edit:docs/*"`, `allow: "file-edit:docs/*"`}, "4 contradictory"},
		{"asked about and denied", []string{`ask: "mcp__db__drop"`, `deny: {server: db, tool: drop}`}, "3 contradictory"},

		{"the words are beyond any allow", []string{`allow: "bash:sort -o x*"`, `allow: "bash:python3 -c*"`}, "3 cannot-hold 4 cannot-hold"},
		{"a server's tool without its server", []string{`allow: {tool: mcp__db__get}`}, "3 cannot-hold"},
		{"many hosts, and local ones", []string{`allow: "web-fetch:https://*.local/*"`}, "3 cannot-hold"},
		{"a tool and the kind of another", []string{`allow: {tool: bash, kind: read}`}, "3 cannot-hold"},
		{"the same for a server's tool of that name, whose kind its caller says", []string{`deny: {tool: bash, kind: read}`}, ""},

		{"a built-in is stricter", []string{`allow: "file-write:.git/**"`}, "3 unreachable"},
		{"a credential file is not", []string{`allow: "file-read:.env"`}, ""},

		{"deletes", []string{`allow: "bash:rm*"`, `allow: file-delete`, `allow: "bash:rm out.o"`, `allow: "file-delete:out/**"`}, "3 over-wide 4 over-wide 5 shadowed 6 shadowed"},
		{"network writes", []string{`allow: "bash:curl*"`, `allow: "bash:git push*"`, `allow: "bash:git push origin main"`, `allow: "web-fetch:https://*"`}, "3 over-wide 4 over-wide 5 shadowed 6 over-wide"},
		{"interpreters", []string{`allow: "bash:python3*"`, `allow: "bash:node build.js"`, `allow: "bash:python3 -m pytest*"`}, "3 over-wide 5 shadowed"},
		{"wrappers", []string{`allow: "bash:sudo*"`, `allow: "bash:env*"`, `allow: "bash:ls*"`}, "3 over-wide"},
		{"writes outside", []string{`allow: "file-write:/**"`, `allow: "file-edit:src/**"`}, "3 over-wide"},
		{"what a server calls destructive", []string{`allow: "mcp__db__*"`, `allow: "mcp__github__get_*"`}, "3 over-wide"},
		{"everything", []string{`allow: "*"`}, "3 over-wide"},
		{"every command", []string{`allow: "bash:*"`}, "3 over-wide"},
		{"but for what is asked about", []string{`allow: "bash:rm*"`, `ask: "bash:rm*"`, `remember: never`}, "3 contradictory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := "version: 1\nrules:\n"
			for _, line := range tt.rules {
				if key, _, _ := strings.Cut(line, ":"); key != "allow" && key != "ask" && key != "deny" {
					text += "    " + line + "\n"
				} else {
					text += "  - " + line + "\n"
				}
			}
			checkFindings(t, text, tt.want)
		})
	}
}

// TestLint_findsShell: of shell.rules the first that matches speaks, and defaults
// speak where nothing else does.
func TestLint_findsShell(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"the order matters", "shell:\n  rules:\n    - {pattern: git}\n    - {pattern: git log, approval: false}\n", "5 unreachable"},
		{"and is right", "shell:\n  rules:\n    - {pattern: git log, approval: false}\n    - {pattern: git}\n", ""},
		{"an ask behind an allow", "shell:\n  rules:\n    - {pattern: make, approval: false}\n    - {pattern: make deploy}\n", "5 contradictory"},
		{"a denial stands anywhere", "shell:\n  rules:\n    - {pattern: git, approval: true}\n    - {pattern: git push, allowed: false}\n", ""},
		{"rules and shell.rules go together", "rules:\n  - ask: \"bash:make*\"\nshell:\n  rules:\n    - {pattern: make, approval: false}\n", "6 contradictory"},
		{"a default that nothing leaves anything to", "rules:\n  - ask: {kind: shell}\nshell:\n  default: {approval: false}\n", "5 unreachable"},
		{"a default that holds", "rules:\n  - ask: \"bash:make*\"\nshell:\n  default: {allowed: false}\n", ""},
		{"a default for everything", "default: allow\n", "2 over-wide"},
		{"a default for commands", "shell:\n  default: {approval: false}\n", "3 over-wide"},
		{"paths that no operand is in", "sandbox:\n  paths:\n    out: {root: ./out, mode: rw}\nshell:\n  rules:\n    - {pattern: cat /etc/passwd, approval: false, sandbox_paths: [out]}\n    - {pattern: pytest, approval: false, sandbox_paths: [out]}\n", "7 cannot-hold"},
		{"what the paths deny", "rules:\n  - allow: \"file-write:/etc/**\"\nsandbox:\n  paths:\n    out: {root: ./out, mode: rw}\n", "3 unreachable"},
		{"another project", "workspaces:\n  ~/a:\n    rules: [{deny: \"bash:make*\"}]\n  ~/b:\n    rules: [{allow: \"bash:make*\"}]\n", ""},
		{"a project and everywhere", "rules:\n  - ask: \"bash:make*\"\nworkspaces:\n  ~/a:\n    rules: [{ask: \"bash:make test\"}]\n", "6 shadowed"},
	} {
		t.Run(tt.name, func(t *testing.T) { checkFindings(t, "version: 1\n"+tt.text, tt.want) })
	}
}

// TestLint_roots: a path in another one that says the same is not needed. What is
// found is tried: the line is taken out, and any call comes out the same.
func TestLint_roots(t *testing.T) {
	t.Parallel()
	d := newDice(11)
	for _, tt := range []struct {
		name  string
		paths []string // from line 4 on
		more  string
		want  string
	}{
		{"in another one", []string{"docs: {root: ./docs}", "deep: {root: ./docs/deep}"}, "", "5 shadowed"},
		{"wherever it stands", []string{"deep: {root: ./docs/deep, mode: rw}", "all: {root: ., mode: rw}"}, "", "4 shadowed"},
		{"one folder twice", []string{"docs: {root: ./docs}", "again: {root: docs/}"}, "", "5 shadowed"},
		{"with the same endings", []string{"all: {root: ., suffixes: [.md]}", "docs: {root: ./docs, suffixes: [.md]}"}, "", "5 shadowed"},
		{"from home", []string{"home: {root: ~/}", "papers: {root: ~/papers}"}, "", "5 shadowed"},
		{"from the root", []string{"all: {root: /, mode: rw, write_approval: true}", "etc: {root: /etc, mode: rw, write_approval: true}"}, "", "5 shadowed"},
		{"with other endings", []string{"all: {root: .}", "docs: {root: ./docs, suffixes: [.md]}"}, "", ""},
		{"another mode", []string{"all: {root: .}", "docs: {root: ./docs, mode: rw}"}, "", ""},
		{"said and not only so", []string{"all: {root: ., read_approval: false}", "docs: {root: ./docs}"}, "", ""},
		{"the nearest says something else", []string{"all: {root: .}", "docs: {root: ./docs, mode: rw}", "deep: {root: ./docs/deep}"}, "", ""},
		{"beside each other", []string{"docs: {root: ./docs}", "docs2: {root: ./docs2}"}, "", ""},
		{"from the root, and from the workspace", []string{"all: {root: /}", "docs: {root: ./docs}"}, "", ""},
		{"with a name that is needed", []string{"all: {root: .}", "docs: {root: ./docs}"}, "shell:\n  rules:\n    - {pattern: pytest, approval: false, sandbox_paths: [docs]}\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := append([]string{"version: 1", "sandbox:", "  paths:"}, tt.paths...)
			for i := range tt.paths {
				lines[3+i] = "    " + lines[3+i]
			}
			text := strings.Join(lines, "\n") + "\n" + tt.more
			checkFindings(t, text, tt.want)
			p := load(t, text)
			for _, f := range p.Lint() {
				after := load(t, strings.Join(slices.Delete(slices.Clone(lines), f.Line-1, f.Line), "\n")+"\n"+tt.more)
				for range 300 {
					c := d.call(t)
					if a, b := judge(p, c), judge(after, c); !alikeVerdicts(a, b) {
						t.Fatalf("%s %s: %s by %q, without it %s by %q", c.Tool, c.Args, a.Effect, a.Rule, b.Effect, b.Rule)
					}
				}
			}
		})
	}
}

// TestLint_delegates: what the organisation hands over where it asks about nothing
// is not handed over. What is found is tried with whatever the person allows.
func TestLint_delegates(t *testing.T) {
	t.Parallel()
	d := newDice(12)
	for _, tt := range []struct{ name, org, want string }{
		{"an ask", `rules: [{ask: "bash:make*"}]` + "\n" + `delegate: ["bash:make*"]`, ""},
		{"part of an ask", `rules: [{ask: bash}]` + "\n" + `delegate: ["bash:make test*"]`, ""},
		{"an ask of shell.rules", "shell: {rules: [{pattern: make}]}\n" + `delegate: ["bash:make*"]`, ""},
		{"no rule", `delegate: ["bash:make*"]`, "org.yaml:2"},
		{"another rule", `rules: [{ask: "bash:git*"}]` + "\n" + `delegate: ["bash:make*", "bash:git log*"]`, "org.yaml:3"},
		{"a denial", `rules: [{deny: "bash:make*"}]` + "\n" + `delegate: ["bash:make*"]`, "org.yaml:3"},
		{"twice", `rules: [{ask: "file-edit:**"}]` + "\n" + `delegate: ["file-edit:docs/**", "file-edit:docs/deep/**"]`, "org.yaml:3"},
		{"another server", `rules: [{ask: "mcp__db__*"}]` + "\n" + `delegate: ["mcp__github__*"]`, "org.yaml:3"},
		{"a default", "default: ask\n" + `delegate: ["bash:make*"]`, "org.yaml:3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			org := "version: 1\n" + tt.org + "\n"
			var got []string
			for _, f := range made(t, []string{"", org}).Lint() {
				if strings.HasPrefix(f.Text, "delegate: ") {
					got = append(got, fmt.Sprintf("%s:%d", f.File, f.Line))
					if f.Kind != policy.FindingUnreachable || f.Same == 0 {
						t.Errorf("%s", told(f))
					}
					checkUnhanded(t, d, org, strings.TrimPrefix(f.Text, "delegate: "))
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// checkUnhanded takes a pattern out of what is handed over, and judges with what
// the person may have written.
func checkUnhanded(t *testing.T, d dice, org, pattern string) {
	t.Helper()
	without := strings.Replace(org, yamlText(pattern), yamlText("mcp__nobody__nothing"), 1)
	if i := strings.LastIndex(org, yamlText(pattern)); i >= 0 {
		without = org[:i] + yamlText("mcp__nobody__nothing") + org[i+len(yamlText(pattern)):]
	}
	for range 100 {
		user := rules("allow: "+yamlText(pattern), "allow: "+d.pattern("allow"))
		before, after := made(t, []string{user, org}), made(t, []string{user, without})
		for range 5 {
			c := d.call(t)
			if a, b := judge(before, c), judge(after, c); !alikeVerdicts(a, b) {
				t.Fatalf("%s %s: %s by %q, without it %s by %q", c.Tool, c.Args, a.Effect, a.Rule, b.Effect, b.Rule)
			}
		}
	}
}

func checkFindings(t *testing.T, text, want string) {
	t.Helper()
	var kinds, all []string
	for _, f := range load(t, text).Lint() {
		kinds = append(kinds, fmt.Sprint(f.Line, " ", f.Kind))
		all = append(all, told(f))
		if f.What == "" || f.Write == "" || f.Same == 0 && f.Call == nil {
			t.Errorf("half a finding: %s", told(f))
		}
	}
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("found %q, want %q in\n%s%s", got, want, text, strings.Join(all, "\n"))
	}
}
