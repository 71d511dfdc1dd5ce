package policy_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// suggestible are lines as an agent runs them all day, and some that are not for
// any rule.
var suggestible = []string{
	"git status", "git status -s", "git diff", "git diff --stat", "git log --oneline -5", "git log -3", "ls", "ls -la docs", "cat main.go",
	"cat docs/a.md", "cat /etc/passwd", "cat .env", "go test ./...", "go test -run X .", "go vet ./...", "git add docs/a.md", "git commit -m 'a'", "git commit -m b",
	"make test", "grep -rn x docs", "cd docs && ls", "git status && git diff", "git push", "git push origin main", "rm -rf docs",
	"sudo ls", "env X=1 ls", "python3 -c 'x'", "python3 x.py", "sh -c 'ls'", "curl -d x=1 https://example.org", "find . -delete",
	"git log | head -3", "echo $HOME", "xargs ls", "ls > docs/new.md", "awk '{print}' main.go", "git branch -D x", "./run.sh", "pytest -q", "git stash drop",
	"timeout 5 ls", "git show && sudo reboot",
}

// work is a call of a log: mostly lines that come again.
func (d dice) work(t testing.TB) sayso.Call {
	switch d.IntN(6) {
	case 0:
		return d.call(t)
	case 1:
		return call(t, pick(d, []string{"file-edit", "file-write", "file-delete"}), obj{"path": pick(d, somePaths)})
	}
	return bash(t, pick(d, suggestible))
}

// neverSuggested are words that no suggested pattern may begin with.
var neverSuggested = []string{
	"bash:sudo", "bash:env", "bash:xargs", "bash:sh", "bash:python3", "bash:rm", "bash:curl", "bash:git push", "bash:find . -delete", "bash:awk", "bash:git branch", "bash:git stash",
	"bash:*", "bash:git*", "bash:go*", "bash:timeout", "bash:./", "file-delete", "*", "delegate", "bash:git checkout",
}

// What is suggested holds: a replay comes to the printed count, no denial turns,
// every rule is needed, and none is about what is dangerous.
func TestSuggest_promises(t *testing.T) {
	t.Parallel()
	d := newDice(9)
	logs, found, denials := 20, 0, 0
	for range logs {
		p := load(t, "version: 1\n")
		if d.IntN(2) == 0 {
			p = d.random(t)
		}
		calls, denied := d.log(t, p, 80), d.log(t, p, 15)
		for _, r := range denied {
			r.Came.Answer = "deny"
		}
		for _, r := range slices.Concat(calls, denied) {
			if refused(r) {
				denials++
			}
		}
		s := p.Suggest(calls, slices.Values(denied), policy.SuggestOptions{Least: 1 + d.IntN(2)})
		found += len(s.Rules)
		before := p.Replay(slices.Values(calls))
		after := suggested(t, p, s.Rules).Replay(slices.Values(calls))
		sum := s.AlreadySaved
		for _, r := range s.Rules {
			sum += r.Saves
			if len(r.Examples) == 0 {
				t.Errorf("no example of %v", r.Patterns)
			}
			for _, pattern := range r.Patterns {
				for _, word := range neverSuggested {
					if pattern == word || !strings.HasSuffix(word, "*") && strings.HasPrefix(pattern, word) {
						t.Errorf("%q is suggested", pattern)
					}
				}
			}
		}
		if after.PromptsSaved != s.PromptsSaved || sum != s.PromptsSaved || before.PromptsSaved != s.AlreadySaved {
			t.Fatalf("replay saves %d, printed %d, the rules sum up to %d: %+v", after.PromptsSaved, s.PromptsSaved, sum, s.Rules)
		}
		if after.DenialsAllowed != before.DenialsAllowed || after.PromptsAdded != before.PromptsAdded {
			t.Fatalf("denials turn: %+v", s.Rules)
		}
		alone := suggested(t, load(t, "version: 1\n"), s.Rules)
		for range 100 { // so that what was denied and did harm is none that a rule could allow
			c := d.work(t)
			if v := judge(alone, c); v.Effect == sayso.Allow && v.Cause == sayso.CauseRule && slices.ContainsFunc(v.Danger, func(d sayso.Danger) bool { return d != sayso.DangerOutside }) {
				t.Fatalf("%s %s: %v is allowed by %+v", c.Tool, c.Args, v.Danger, s.Rules)
			}
		}
		for _, r := range slices.Concat(calls, denied) {
			if refused(r) && judge(alone, r.Call).Effect == sayso.Allow && judge(load(t, "version: 1\n"), r.Call).Effect != sayso.Allow {
				t.Fatalf("%s %s was denied and is covered by %+v", r.Call.Tool, r.Call.Args, s.Rules)
			}
		}
		for i := range s.Rules {
			fewer := slices.Delete(slices.Clone(s.Rules), i, i+1)
			if n := suggested(t, p, fewer).Replay(slices.Values(calls)).PromptsSaved; n >= s.PromptsSaved {
				t.Fatalf("without %v it saves %d of %d", s.Rules[i].Patterns, n, s.PromptsSaved)
			}
		}
	}
	t.Logf("%d rules for %d logs with %d denials", found, logs, denials)
	if found < logs || denials < logs {
		t.Errorf("%d rules for %d logs with %d denials: too few to say anything", found, logs, denials)
	}
}

func refused(r *policy.Recorded) bool { return r.Came.Effect == sayso.Deny || r.Came.Answer == "deny" }

// log is a log of calls, some of them denied by the person.
func (d dice) log(t testing.TB, p *policy.Policy, n int) (calls []*policy.Recorded) {
	for i := range n {
		r := recorded(t, p, d.work(t), i)
		if r.Came.Effect == sayso.Ask && d.IntN(15) == 0 {
			r.Came.Answer = "deny"
		}
		calls = append(calls, r)
	}
	return calls
}

// suggested is a policy with the suggested rules written into the person's file,
// which is the only one or none.
func suggested(t testing.TB, p *policy.Policy, list []policy.Suggestion) *policy.Policy {
	t.Helper()
	with, err := p.With(list)
	if err != nil {
		t.Fatal(err)
	}
	return with
}

// What was denied and cannot be looked at may have been whatever a rule would
// allow, wherever in the log it stands.
func TestSuggest_lost(t *testing.T) {
	p := load(t, rules(`deny: "bash:make*"`, "deny: [\"bash:git push*\", \"bash:rm*\"]\n    name: two", `ask: "bash:docker run*"`,
		"ask: \"bash:docker pull*\"\n    when: call.cwd == \"/a\"")+"shell:\n  rules:\n    - {pattern: docker ps, approval: true}\n")
	asked := func(c sayso.Call) []*policy.Recorded {
		return []*policy.Recorded{recorded(t, p, c, 1), recorded(t, p, c, 2)}
	}
	calls := slices.Concat(asked(bash(t, "git status")), asked(call(t, "web-fetch", obj{"url": "https://go.dev/doc"})))
	by := func(came policy.Came) *policy.Recorded {
		return &policy.Recorded{Tool: "bash", Gap: policy.GapErased, Came: came}
	}
	person := policy.Came{Effect: sayso.Ask, By: "person", Answer: "deny"}
	rule := func(name string) policy.Came {
		return policy.Came{Effect: sayso.Deny, By: "policy", Rule: name, File: "policy.yaml"}
	}
	asking := func(name, file string) *policy.Recorded {
		return by(policy.Came{Effect: sayso.Ask, By: "person", Answer: "deny", Rule: name, File: file})
	}
	dangerous, outside, fetch, older, limit := by(person), by(person), by(person), by(person), by(person)
	dangerous.Danger, outside.Danger = []sayso.Danger{sayso.DangerDelete}, []sayso.Danger{sayso.DangerOutside}
	fetch.Tool, older.Gap, limit.Gap = "web-fetch", policy.GapOlder, policy.GapLimit
	olderFloor := asking("commands must be literal", "")
	olderFloor.Gap = policy.GapOlder
	for _, tt := range []struct {
		name  string
		lost  []*policy.Recorded
		rules int
		tools string
	}{
		{"nothing was denied", nil, 2, ""},
		{"a person denied a command", []*policy.Recorded{by(person)}, 1, "bash 1"},
		{"and a page", []*policy.Recorded{by(person), fetch, older}, 0, "bash 2 web-fetch 1"},
		{"a deadline did", []*policy.Recorded{by(policy.Came{Effect: sayso.Ask, By: "deadline"})}, 1, "bash 1"},
		{"it was allowed", []*policy.Recorded{by(policy.Came{Effect: sayso.Ask, By: "person", Answer: "allow"})}, 2, ""},
		{"a rule did, and does", []*policy.Recorded{by(rule("deny: bash:make*"))}, 2, ""},
		{"a rule did, and is gone", []*policy.Recorded{by(rule("deny: bash:git status*"))}, 1, "bash 1"},
		{"a rule did that may have said more", []*policy.Recorded{by(rule("two"))}, 1, "bash 1"},
		{"a built-in did", []*policy.Recorded{by(policy.Came{Effect: sayso.Deny, By: "policy", Rule: "agents do not answer for themselves"})}, 2, ""},
		{"the session's own policy did", []*policy.Recorded{by(policy.Came{Effect: sayso.Deny, By: "policy", Rule: "session policy: bash"})}, 1, "bash 1"},
		{"a person did, asked by a rule that asks still", []*policy.Recorded{asking("ask: bash:docker run*", "policy.yaml")}, 2, ""},
		{"a deadline did, for such a rule", []*policy.Recorded{by(policy.Came{Effect: sayso.Ask, By: "deadline", Rule: "ask: bash:docker run*", File: "policy.yaml"})}, 2, ""},
		{"a person did, asked by a rule that is gone", []*policy.Recorded{asking("ask: bash:git status*", "policy.yaml")}, 1, "bash 1"},
		{"a person did, asked by a rule with a condition", []*policy.Recorded{asking("ask: bash:docker pull*", "policy.yaml")}, 1, "bash 1"},
		{"a person did, asked by a rule that others may come before", []*policy.Recorded{asking("shell.rules: docker ps", "policy.yaml")}, 1, "bash 1"},
		{"a person did, asked by a floor", []*policy.Recorded{asking("commands must be literal", "")}, 2, ""},
		{"a person did, asked by a floor of an older release", []*policy.Recorded{olderFloor}, 1, "bash 1"},
		{"a person did, asked by a rule called like a floor", []*policy.Recorded{asking("commands must be literal", "policy.yaml")}, 1, "bash 1"},
		{"a person did, asked because no rule spoke", []*policy.Recorded{asking("default: ask", "")}, 1, "bash 1"},
		{"a mode did", []*policy.Recorded{by(policy.Came{Effect: sayso.Deny, By: "mode"})}, 2, ""},
		{"it did harm", []*policy.Recorded{dangerous}, 2, ""},
		{"it led elsewhere", []*policy.Recorded{outside}, 1, "bash 1"},
		{"there were too many", []*policy.Recorded{limit}, 2, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for where, s := range map[string]policy.Suggestions{
				"before":    p.Suggest(calls, slices.Values(tt.lost), policy.SuggestOptions{}),
				"among all": p.Suggest(slices.Concat(calls, tt.lost), slices.Values([]*policy.Recorded(nil)), policy.SuggestOptions{}),
			} {
				var tools []string
				for _, w := range s.Withheld {
					tools = append(tools, fmt.Sprint(w.Tool, " ", w.Count))
				}
				if len(s.Rules) != tt.rules || strings.Join(tools, " ") != tt.tools {
					t.Errorf("%s: withheld %q, rules %+v", where, tools, s.Rules)
				}
			}
		})
	}
}

// The floors that a lost denial is left to ask again whatever a file allows.
func TestSuggest_floorsLast(t *testing.T) {
	loose := load(t, rules(`allow: ["*", "bash:*", "file-*", "file-*:**", "web-fetch:*://*"]`)+
		"default: allow\nshell:\n  default: {allowed: true, approval: false}\n")
	tight := load(t, "version: 1\n")
	asks := map[string]bool{}
	for _, c := range []sayso.Call{
		bash(t, "$X"), bash(t, "echo 'x"), bash(t, "sh -c ls"), bash(t, "rm -rf ."), bash(t, "echo x > .git/config"),
		call(t, "bash", obj{"cmd": "ls"}), call(t, "file-write", obj{"path": "hard"}), call(t, "file-read", obj{"path": " a"}),
		call(t, "file-search", obj{"path": "docs", "glob": "../x"}), call(t, "web-fetch", obj{"url": "https://a@b.example/"}),
	} {
		before, after := judge(tight, c), judge(loose, c)
		if before.File != "" || after.Effect != sayso.Ask || after.Rule != before.Rule {
			t.Errorf("%s %s: %s by %q, and %s by %q where all is allowed", c.Tool, c.Args, before.Effect, before.Rule, after.Effect, after.Rule)
		}
		lost := &policy.Recorded{Tool: "bash", Gap: policy.GapErased, Came: policy.Came{Effect: sayso.Ask, By: "person", Answer: "deny", Rule: before.Rule}}
		if s := tight.Suggest([]*policy.Recorded{lost}, slices.Values([]*policy.Recorded(nil)), policy.SuggestOptions{}); len(s.Withheld) > 0 {
			t.Errorf("%s: a denial that %q asked for withholds its tool", c.Args, before.Rule)
		}
		asks[before.Rule] = true
	}
	if len(asks) < 8 {
		t.Errorf("only %v", asks)
	}
}

// A denied call of which the policy wants to know what was not recorded is held
// against what is suggested all the same.
func TestSuggest_unsure(t *testing.T) {
	p := load(t, "version: 1\n")
	calls := []*policy.Recorded{recorded(t, p, bash(t, "git status"), 1), recorded(t, p, bash(t, "git status"), 2)}
	denied := recorded(t, p, bash(t, "git status"), 3)
	denied.Facts.Workspace = ""
	other := load(t, "version: 1\nworkspaces:\n  /a: {rules: [{allow: \"bash:git zzz*\"}]}\n")
	if x := other.Replay(slices.Values(append(calls, denied))); x.Replayed != 2 {
		t.Fatalf("%d were replayed", x.Replayed)
	}
	if s := other.Suggest(append(calls, denied), slices.Values([]*policy.Recorded(nil)), policy.SuggestOptions{}); len(s.Rules) != 1 {
		t.Fatalf("nobody denied it: %+v", s)
	}
	denied.Came.Answer = "deny"
	for name, s := range map[string]policy.Suggestions{
		"before":    other.Suggest(calls, slices.Values([]*policy.Recorded{denied}), policy.SuggestOptions{}),
		"among all": other.Suggest(append(calls, denied), slices.Values([]*policy.Recorded(nil)), policy.SuggestOptions{}),
	} {
		if len(s.Rules) > 0 {
			t.Errorf("%s: %+v", name, s.Rules)
		}
	}
}

func TestSuggest_examples(t *testing.T) {
	none := load(t, "version: 1\n")
	log := func(lines ...string) (calls []*policy.Recorded) {
		for i, line := range lines {
			c := bash(t, strings.TrimPrefix(line, "no "))
			if tool, path, ok := strings.Cut(line, ": "); ok {
				c = call(t, tool, obj{"path": path})
			}
			if r := recorded(t, none, c, i); strings.HasPrefix(line, "no ") {
				r.Came.Answer = "deny"
				calls = append(calls, r)
			} else {
				calls = append(calls, r)
			}
		}
		return calls
	}
	for _, tt := range []struct {
		name  string
		calls []*policy.Recorded
		want  []string // patterns and what each rule saves
	}{
		{"exactly what comes again", log("git status", "git status"), []string{"bash:git status 2"}},
		{"as wide as is used", log("git status", "git status -s"), []string{"bash:git status* 2"}},
		{"once is not enough", log("git status", "go test ./..."), nil},
		{"what was denied is not covered", log("git log -1", "git log -2", "no git log -3"), nil},
		{"exactly, beside what was denied", log("git log -1", "git log -1", "git log -2", "no git log -3"), []string{"bash:git log -1 2"}},
		{"two commands of a line", log("go vet ./... && go test ./...", "go vet ./a && go test ./a"), []string{"bash:go test* bash:go vet* 2"}},
		{"with a condition, where it reads anything", log("cat main.go", "cat docs/a.md", "cat docs/new.md", "cat /etc/passwd"), []string{"bash:cat* when 3"}},
		{"nothing that is dangerous", log("git push", "git push", "sudo ls", "sudo ls", "rm x", "rm x", "python3 x.py", "python3 x.py", "sh -c ls", "sh -c ls", "curl -d x https://a.example", "curl -d x https://a.example"), nil},
		{"nothing with a secret", log("cat .env", "cat .env", "grep -H 'Authorization: Bearer hunter2hunter2hunter2' main.go", "grep -H 'Authorization: Bearer hunter2hunter2hunter2' main.go"), nil},
		{"edits in a folder", log("file-edit: docs/a.md", "file-edit: docs/deep/b.md"), []string{"file-edit:docs/** when 2"}},
		{"no deletions", log("file-delete: docs/a.md", "file-delete: docs/a.md"), nil},
		{"no globs for names with a dot", log("cat .[e]nv", "cat .[e]nv", "head .e*", "head .e*", "cat conf/.e?v", "cat conf/.e?v", "for f in .e*; do echo done; done", "for f in .e*; do echo done; done"), nil},
		{"other globs", log("wc -l *.go", "wc -l *.go"), []string{"bash:wc* when 2"}},
		{"nothing that the shell computes", log("[[ -f x ]] && cat main.go", "[[ -f x ]] && cat main.go", "(( 1 )) && ls", "(( 1 )) && ls", "for ((i=0;i<3;i++)); do pwd; done", "for ((i=0;i<3;i++)); do pwd; done"), nil},
		{"no pages from files", log("man -l x", "man -l x", "man ./x", "man ./x", "man --local-file x", "man --local-file x", "man -al x", "man -al x"), nil},
		{"pages of the manual", log("man grep", "man grep"), []string{"bash:man grep 2"}},
		{"no control files", log("file-edit: .git/config", "file-edit: .git/config"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := none.Suggest(tt.calls, slices.Values([]*policy.Recorded(nil)), policy.SuggestOptions{})
			if _, err := policy.Parse("suggested.yaml", []byte(s.Text())); err != nil {
				t.Error(err)
			}
			var got []string
			for _, r := range s.Rules {
				slices.Sort(r.Patterns)
				text := strings.Join(r.Patterns, " ")
				if r.When != "" {
					text += " when"
				}
				got = append(got, text+" "+strconv.Itoa(r.Saves))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
