package policy_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// TestExplain_promise writes, for 1,000 generated pairs of a call and a policy and
// for some of odd shapes, what the explanation says is to be written, as a person
// would with an editor, and judges again.
func TestExplain_promise(t *testing.T) {
	t.Parallel()
	d := newDice(4)
	pairs, odd, possible, not := 1000, 333, 0, 0
	shapes := map[string]int{}
	for i := range pairs + odd {
		d.odd = i >= pairs
		texts, c := d.tiers(), d.call(t)
		p := made(t, texts)
		x := p.Explain(c, gatherFor(p, machine, c))
		if v := judge(p, c); v.Effect != x.Effect || v.Rule != x.Rule || v.Span != x.Span {
			t.Fatalf("explained %s by %q, judged %s by %q", x.Effect, x.Rule, v.Effect, v.Rule)
		}
		if len(x.Changes) != 2 {
			t.Fatalf("%d changes", len(x.Changes))
		}
		for _, ch := range x.Changes {
			if !ch.Possible {
				not++
				checkImpossible(t, c, ch, x)
				continue
			}
			possible++
			for _, e := range ch.Write {
				shapes[e.Do+" under "+e.Under]++
			}
			if c.Kind != "" && len(ch.Write) > 0 && x.Effect < ch.Effect {
				shapes["of a call that claims a kind"]++
			}
			after, err := tryMade(written(t, texts, ch.Write))
			if err != nil {
				t.Fatalf("%v after %+v in\n%s", err, ch.Write, strings.Join(texts, "---\n"))
			}
			if v := judge(after, c); v.Effect != ch.Effect {
				t.Fatalf("%s %s: %s by %q, promised %s by %+v\n%s\nbecomes\n%s", c.Tool, c.Args, v.Effect, v.Rule, ch.Effect, ch.Write,
					strings.Join(texts, "---\n"), strings.Join(written(t, texts, ch.Write), "---\n"))
			}
		}
	}
	t.Logf("%d changes are possible, %d are not; %v", possible, not, shapes)
	for _, shape := range []string{"insert under shell.rules", "replace under rules", "replace under when", "remove under rules", "remove under shell.rules", "add under rules", "of a call that claims a kind"} {
		if shapes[shape] < 10 {
			t.Errorf("%d edits are %s: too few to say anything", shapes[shape], shape)
		}
	}
	if possible < pairs || not < pairs/50 {
		t.Errorf("%d changes are possible, %d are not: too few to say anything", possible, not)
	}
}

// checkImpossible holds what nothing can change against a policy that allows as
// much as any.
func checkImpossible(t *testing.T, c sayso.Call, ch policy.Change, x policy.Explanation) {
	t.Helper()
	if ch.Why == "" || len(ch.Write) > 0 || ch.Effect < x.Effect {
		t.Fatalf("%s %s: %+v", c.Tool, c.Args, ch)
	}
	if strings.HasPrefix(ch.Why, "no rule can") {
		return // a path of sandbox.paths could
	}
	rule := "allow"
	if ch.Effect == sayso.Ask {
		rule = "ask"
	}
	if v := judge(load(t, rules(rule+`: ["*", "bash:*", "mcp__*", "web-fetch:*", "file-*"]`)), c); v.Effect >= ch.Effect {
		t.Fatalf("%s %s: nothing can %s it, they say (%s), and a rule does", c.Tool, c.Args, ch.Effect, ch.Why)
	}
}

// written are the texts of the files after what an explanation says was written.
func written(t *testing.T, texts []string, edits []policy.Edit) []string {
	t.Helper()
	lines := [2][]string{}
	for i, text := range texts {
		lines[i] = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	tier := func(e policy.Edit) int { return slices.Index([]policy.Tier{policy.TierUser, policy.TierOrg}, e.Tier) }
	for _, e := range edits {
		at := tier(e)
		switch {
		case e.Do == "remove" && e.Under == "sandbox":
			for i := e.Line - 1; i < len(lines[at]) && (i < e.Line || strings.HasPrefix(lines[at][i], "    ")); i++ {
				lines[at][i] = "#gone"
			}
		case e.Do == "remove":
			if !strings.Contains(lines[at][e.Line-1], e.Old) && !strings.HasPrefix(e.Old, "{") {
				t.Fatalf("line %d is %q, not %q", e.Line, lines[at][e.Line-1], e.Old)
			}
			lines[at][e.Line-1] = "#gone"
		case e.Do == "replace" && e.Column > 0:
			lines[at][e.Line-1] = lines[at][e.Line-1][:e.Column-1] + e.Text
		case e.Do == "replace":
			old := lines[at][e.Line-1]
			lines[at][e.Line-1] = old[:len(old)-len(strings.TrimLeft(old, " "))] + e.Text
		}
	}
	inserts := slices.DeleteFunc(slices.Clone(edits), func(e policy.Edit) bool { return e.Do != "insert" })
	slices.SortStableFunc(inserts, func(a, b policy.Edit) int { return b.Line - a.Line })
	for _, e := range inserts {
		at := tier(e)
		if was := strings.Split(texts[at], "\n")[e.Line-1]; !strings.Contains(was, "pattern: "+yamlText(e.Old)) {
			t.Fatalf("line %d is %q, and not about %q", e.Line, was, e.Old)
		}
		lines[at] = slices.Insert(lines[at], e.Line-1, "    "+e.Text)
	}
	for _, e := range edits {
		if e.Do == "add" {
			lines[tier(e)] = inserted(t, lines[tier(e)], e)
		}
	}
	var out []string
	for _, l := range lines[:max(len(texts), 1)] {
		out = append(out, tidy(l))
	}
	return out
}

func inserted(t *testing.T, lines []string, e policy.Edit) []string {
	if len(lines) == 0 {
		lines = []string{"version: 1"}
	}
	key, indent := "rules:", "  "
	if e.Under == "sandbox.paths" {
		key, indent = "  paths:", "    "
	}
	at := slices.Index(lines, key)
	if at < 0 && key != "rules:" {
		t.Fatalf("no %s in %q", key, lines)
	}
	if at < 0 {
		lines = append(lines, key)
		at = len(lines) - 1
	}
	return slices.Insert(lines, at+1, indent+e.Text)
}

var emptied = regexp.MustCompile(`(?m)^  - (allow|ask|deny):\n(    (name|when): .*\n)*(  - |[a-z#]|\z)`)

// tidy drops rules without patterns and lists without rules.
func tidy(lines []string) string {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l == "#gone" })
	if len(lines) == 0 {
		return ""
	}
	text := strings.Join(lines, "\n") + "\n"
	for emptied.MatchString(text) {
		text = emptied.ReplaceAllString(text, "$4")
	}
	text = regexp.MustCompile(`(?m)^rules:\n([a-z]|\z)`).ReplaceAllString(text, "$1")
	text = regexp.MustCompile(`(?m)^  rules:\n([a-z]|\z)`).ReplaceAllString(text, "$1")
	text = regexp.MustCompile(`(?m)^(shell|sandbox):\n([a-z]|\z)`).ReplaceAllString(text, "$2")
	return text
}

// TestExplain_says holds what is told of calls against what somebody would want
// to know.
func TestExplain_says(t *testing.T) {
	const text = `version: 1
rules:
  - allow: ["bash:git status*", "bash:git log", "file-edit:docs/*", "web-fetch:https://*.example.org/docs/*"]
  - deny: "bash:rm*"
    note: nothing is deleted here
  - allow: {server: github, tool: get_*}
  - ask: "mcp__db__*"
    when: 'call.cwd == "/srv"'
workspaces:
  /srv/other:
    rules: [{allow: "bash:make*"}]
shell:
  rules:
    - {pattern: git, approval: true}
    - {pattern: git fetch, approval: false}
`
	p := load(t, text)
	for _, tt := range []struct {
		call           sayso.Call
		effect         sayso.Effect
		words, near    string
		why, allow     string
		line, nearLine int
	}{
		{bash(t, "ls; git status -s"), sayso.Ask, "git", "", "", `- allow: "bash:ls"`, 14, 0},
		{bash(t, "git lgo"), sayso.Ask, "git", "bash:git log", `it is about "git log", and the command has "lgo"`, "", 14, 3},
		{bash(t, "ls && /bin/rm -rf x"), sayso.Deny, "/bin/rm", "", "", "", 4, 0},
		{bash(t, "gti log"), sayso.Ask, "gti log", "bash:git log", "its program is git", `- allow: "bash:gti log"`, 12, 3},
		{bash(t, "git log -5"), sayso.Ask, "git", "bash:git log", "end the pattern with a star", "", 14, 3},
		{bash(t, "make test"), sayso.Ask, "make test", "bash:make*", "it is about the project /srv/other", `- allow: "bash:make test"`, 12, 11},
		{call(t, "file-edit", obj{"path": "docs/deep/b.md"}), sayso.Ask, "docs/deep/b.md", "file-edit:docs/*", "lies deeper than the pattern", `- allow: "file-edit:docs/deep/b.md"`, 0, 3},
		{call(t, "file-edit", obj{"path": "/etc/passwd"}), sayso.Ask, "/etc/passwd", "file-edit:docs/*", "the pattern is about /home/dev/app", `- allow: "file-edit:/etc/passwd"`, 0, 3},
		{call(t, "web-fetch", obj{"url": "https://example.org/docs/x"}), sayso.Ask, "https://example.org/docs/x", "web-fetch:https://*.example.org/docs/*", "not for example.org itself", `- allow: "web-fetch:https://example.org/docs/x"`, 0, 3},
		{call(t, "mcp__github__create_issue", obj{}), sayso.Ask, "", "{server: github, tool: get_*}", "its tool is get_*", `- allow: "mcp__github__create_issue"`, 0, 6},
		{call(t, "mcp__db__drop", obj{}), sayso.Ask, "", "mcp__db__*", "its condition does not hold", `- allow: "mcp__db__drop"`, 0, 7},
		{bash(t, "echo $HOME"), sayso.Ask, "$HOME", "", "", "", 0, 0},
	} {
		t.Run(string(tt.call.Args), func(t *testing.T) {
			x := p.Explain(tt.call, gatherFor(p, machine, tt.call))
			if x.Effect != tt.effect || x.Words != tt.words || x.Line != tt.line {
				t.Errorf("%s by %q at line %d, words %q", x.Effect, x.Rule, x.Line, x.Words)
			}
			switch {
			case (x.Nearest == nil) != (tt.near == ""):
				t.Errorf("nearest: %+v", x.Nearest)
			case tt.near != "" && (x.Nearest.Pattern != tt.near || x.Nearest.Line != tt.nearLine || !strings.Contains(x.Nearest.Why, tt.why)):
				t.Errorf("nearest: %+v", x.Nearest)
			}
			if write := x.Changes[0].Write; tt.allow != "" && (len(write) == 0 || write[len(write)-1].Text != tt.allow) {
				t.Errorf("to allow: %+v", x.Changes[0])
			}
		})
	}
}

// TestExplain_narrow: no more is taken away than is in the way, and what is said
// of it names what stands in the file.
func TestExplain_narrow(t *testing.T) {
	const text = `version: 1
rules:
  - deny:
      - "bash:git push*"
      - "bash:rm*"
    covers:
      - '{"tool":"bash","args":{"command":"rm x"}}'
      - '{"tool":"bash","args":{"command":"git push"}}'
  - ask:
      - {kind: [delete, edit], host: [codex, claude-code]}
  - deny:
      - {server: [db, docs], tool: "drop_*", args: {q: [a, 3, true]}}
  - deny:
      - {kind: [write, delete]}
    name: alone
  - ask:
      - "bash:terraform*"
    when: 'call.host == "" || call.host == "x"'
    name: far away
  - deny:
      - "file-read:/etc/*"
  - deny:
      - "bash:curl*"
      - "bash:wget*"
shell:
  rules:
    - {pattern: "docker", approval: true}
    - {pattern: "make deploy", allowed: false}
`
	claimed := call(t, "file-write", obj{"path": "docs/a.md"})
	claimed.Kind = sayso.KindDelete
	edited := call(t, "Edit", obj{"file_path": "docs/a.md", "old_string": "a", "new_string": "b"})
	edited.Host = "claude-code"
	p := load(t, text)
	for _, tt := range []struct {
		name string
		call sayso.Call
		want sayso.Effect
		edit []string // what to do, in words
	}{
		{"an entry of a list, and its example", bash(t, "rm x"), sayso.Ask, []string{"remove bash:rm* under rules", `remove {"tool":"bash","args":{"command":"rm x"}} under covers`}},
		{"both entries, and so the rule", bash(t, "curl x | wget"), sayso.Ask, []string{"remove bash:curl* under rules", "remove bash:wget* under rules, the whole rule"}},
		{"a rule of one entry", call(t, "file-read", obj{"path": "/etc/passwd"}), sayso.Ask, []string{"remove file-read:/etc/* under rules, the whole rule"}},
		{"a rule before one on commands", bash(t, "docker ps -a"), sayso.Allow, []string{`insert - {pattern: "docker ps -a", approval: false} before docker under shell.rules`}},
		{"of each command", bash(t, "docker ps; ls && docker logs x"), sayso.Allow, []string{
			`insert - {pattern: "docker ps", approval: false} before docker under shell.rules`,
			`insert - {pattern: "docker logs x", approval: false} before docker under shell.rules`, `add - allow: "bash:ls" under rules`,
		}},
		{"a denial on commands has no exception", bash(t, "make deploy"), sayso.Ask, []string{"remove make deploy under shell.rules, the whole rule"}},
		{"a value of a list", edited, sayso.Allow, []string{`replace {kind: delete, edit, host: codex, claude-code} by {kind: delete, host: ["codex", "claude-code"]} under rules`, `add - allow: "file-edit:docs/a.md" under rules`}},
		{"with all else that a mapping names", call(t, "mcp__db__drop_x", obj{"q": "a"}), sayso.Ask, []string{
			`replace {server: db, docs, tool: drop_*, args: {q: a, 3, true}} by {tool: "drop_*", server: "docs", args: {"q": ["a", 3, true]}} under rules`,
		}},
		{"a line out of a condition", bash(t, `terraform plan "x"`), sayso.Allow, []string{
			`replace call.host == "" || call.host == "x" by '(call.host == "" || call.host == "x") && call.command != "terraform plan \"x\""' under when`,
			`add - allow: "bash:terraform plan x" under rules`,
		}},
		{"both kinds of a call that claims one", claimed, sayso.Ask, []string{"remove {kind: write, delete} under rules, the whole rule"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, ch := range p.Explain(tt.call, gatherFor(p, machine, tt.call)).Changes {
				if ch.Effect != tt.want {
					continue
				}
				var got []string
				for _, e := range ch.Write {
					got = append(got, inWords(e))
				}
				if !slices.Equal(got, tt.edit) {
					t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.edit, "\n"))
				}
				if v := judge(made(t, written(t, []string{text}, ch.Write)), tt.call); v.Effect != tt.want {
					t.Errorf("written, it is %s by %q", v.Effect, v.Rule)
				}
			}
		})
	}
}

// inWords is an edit in a line.
func inWords(e policy.Edit) string {
	out := map[string]string{
		"add": "add " + e.Text, "remove": "remove " + e.Old, "replace": "replace " + e.Old + " by " + e.Text, "insert": "insert " + e.Text + " before " + e.Old,
	}[e.Do] + " under " + e.Under
	if e.Whole {
		out += ", the whole rule"
	}
	return out
}

// TestExplain_floor: where an argument is misnamed, the floor is the reason and
// not a rule that speaks of that argument; a rule that denies what may be meant
// is told once, and can be taken away.
func TestExplain_floor(t *testing.T) {
	p := load(t, rules(`deny: "bash:git*"`, `allow: "bash:ls*"`))
	for _, tt := range []struct {
		args  obj
		rule  string
		spoke int
		ask   bool // it says what to write for it to be asked about
	}{
		{obj{"cmd": "git status"}, "arguments must be known", 3, false},
		{obj{}, "arguments must be readable", 2, false},
		{obj{"Command": "git status"}, "deny: bash:git*", 3, true},
		{obj{"command": []any{"git", "push"}}, "deny: bash:git*", 2, true},
		{obj{"Command": "ls"}, "arguments must be known", 3, false},
		{obj{"command": "ls", "background": 3}, "arguments must be known", 2, false},
	} {
		c := call(t, "Bash", tt.args)
		c.Host = "claude-code"
		x := p.Explain(c, gatherFor(p, machine, c))
		if x.Rule != tt.rule || len(x.Spoke) != tt.spoke {
			t.Errorf("%s: by %q, and %d spoke: %+v", c.Args, x.Rule, len(x.Spoke), x.Spoke)
		}
		if ch := x.Changes[len(x.Changes)-1]; tt.ask && (ch.Effect != sayso.Ask || !ch.Possible || inWords(ch.Write[0]) != "remove bash:git* under rules, the whole rule") {
			t.Errorf("%s: to ask: %+v", c.Args, ch)
		}
		if ch := x.Changes[0]; ch.Effect != sayso.Allow || ch.Possible || !strings.Contains(ch.Why, "built-in floor") {
			t.Errorf("%s: to allow: %+v", c.Args, ch)
		}
	}
}

// TestExplain_claims: a call that claims a kind is told as both, and what stands
// against either is taken away.
func TestExplain_claims(t *testing.T) {
	texts := []string{rules(`allow: "file-write:docs/**"`, `ask: {kind: write}`, `deny: {kind: delete}`)}
	p := made(t, texts)
	c := call(t, "file-write", obj{"path": "docs/a.md"})
	if x := p.Explain(c, gatherFor(p, machine, c)); !slices.Equal(x.Kinds, []sayso.Kind{sayso.KindWrite}) {
		t.Errorf("of itself it is %v", x.Kinds)
	}
	c.Kind = sayso.KindDelete
	x := p.Explain(c, gatherFor(p, machine, c))
	if !slices.Equal(x.Kinds, []sayso.Kind{sayso.KindDelete, sayso.KindWrite}) || len(x.Spoke) != 3 {
		t.Errorf("kinds %v, spoke %+v", x.Kinds, x.Spoke)
	}
	var got []string
	for _, e := range x.Changes[0].Write {
		got = append(got, inWords(e))
	}
	want := []string{"remove {kind: delete} under rules, the whole rule", "remove {kind: write} under rules, the whole rule"}
	if !slices.Equal(got, want) {
		t.Errorf("to allow: %q", got)
	}
	if v := judge(made(t, written(t, texts, x.Changes[0].Write)), c); v.Effect != sayso.Allow {
		t.Errorf("written, it is %s", v.Effect)
	}
}

// TestExplain_commands: each command of a line is told by itself.
func TestExplain_commands(t *testing.T) {
	p := load(t, rules(`allow: "bash:ls*"`, `deny: "bash:rm*"`))
	line := "ls -l | sudo rm x; ls $X; command -v rm; wc"
	c := bash(t, line)
	x := p.Explain(c, gatherFor(p, machine, c))
	var got []string
	for _, o := range x.Commands {
		if line[o.At[0]:o.At[1]] != o.Text {
			t.Errorf("%q is not at %v", o.Text, o.At)
		}
		got = append(got, o.Effect.String()+" "+o.Text)
	}
	want := []string{"allow ls -l", "ask sudo rm x", "deny rm x", "ask ls $X", "ask command -v rm", "ask wc"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestExplain_nearest takes a rule that allows a call away from it by one
// change, and asks which rule was the nearest.
func TestExplain_nearest(t *testing.T) {
	for _, tt := range []struct{ pattern, command string }{
		{"bash:cargo build --release", "cargo build --release -v"}, {"bash:cargo build*", "cargo biuld"}, {"bash:terraform plan*", "./terraform plan"},
		{"bash:find*", "find . -delete"}, {"bash:kubectl get", "kubectl get $X"}, {"bash:npm run build*", "npm run"},
	} {
		p := load(t, rules(`allow: "bash:something else"`, `allow: "`+tt.pattern+`"`, `deny: web-fetch`))
		c := bash(t, tt.command)
		if x := p.Explain(c, gatherFor(p, machine, c)); x.Nearest == nil || x.Nearest.Pattern != tt.pattern {
			t.Errorf("%s: nearest %+v", tt.command, x.Nearest)
		}
	}
	// What else a program does is nothing near.
	p := load(t, rules(`allow: ["bash:go test ./...", "bash:git status"]`))
	for _, command := range []string{"go vet ./...", "git log", "git push --force"} {
		c := bash(t, command)
		if x := p.Explain(c, gatherFor(p, machine, c)); x.Nearest != nil {
			t.Errorf("%s: nearest %+v", command, x.Nearest)
		}
	}
}

// A deny with a star behind the name of a tool that is called like a program, or
// almost like a tool of ours, does not load: what is to be written for one that
// is there is another pattern.
func TestExplain_denyOfAToolThatNobodyKnows(t *testing.T) {
	for tool, want := range map[string]string{"frobnicate": `- deny: "frobnicate*"`, "rm": `- deny: "*rm"`, "bsh": `- deny: "*bsh"`} {
		texts := []string{"version: 1\nrules:\n  - ask: web-search\n"}
		p, c := made(t, texts), call(t, tool, obj{})
		for _, ch := range p.Explain(c, gatherFor(p, machine, c)).Changes {
			if ch.Effect != sayso.Deny {
				continue
			}
			if len(ch.Write) == 0 || ch.Write[len(ch.Write)-1].Text != want {
				t.Errorf("%s: to deny: %+v", tool, ch)
			} else if v := judge(made(t, written(t, texts, ch.Write)), c); v.Effect != sayso.Deny {
				t.Errorf("%s: %s", tool, v.Effect)
			}
		}
	}
}
