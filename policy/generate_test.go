package policy_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// dice make calls and policies at random, the same ones for the same seed. A
// policy that they make has one pattern a line, so that a line can be taken out.
type dice struct {
	*rand.Rand
	odd bool // also what is rare: calls that claim a kind or misname their arguments, patterns that name lists
}

func newDice(seed uint64) dice { return dice{Rand: rand.New(rand.NewPCG(seed, seed))} }

func pick[T any](d dice, from []T) T { return from[d.IntN(len(from))] }

var (
	somePrograms = []string{"git", "git status", "git push", "go test", "ls", "rm", "make", "npm run", "cat", "curl", "python3", "sudo", "find", "echo", "./run.sh", "cargo build", "xargs"}
	someWords    = []string{"-v", "-rf", "x", "docs/a.md", "origin", "./...", "--force", "'a b'", "*.go", "main.go", "/etc/passwd", "-m", "'it''s'", "a=b", "{a,b}", "$HOME", "-delete"}
	someGlue     = []string{"; ", " && ", " | ", " || ", " & ", "\n"}
	somePaths    = []string{"main.go", "docs/a.md", "docs/deep/b.md", "docs", ".", "/etc/passwd", "../app2/secret", ".git/config", ".env", "hard", "readme", "new.txt", "out/passwd", "/home/dev/notes", "docs/new.md", "loop", "a*b"}
	someURLs     = []string{"https://example.org/", "https://example.org/docs/a?q=1", "https://www.example.org:8443/x", "http://localhost:3000/", "https://pkg.go.dev/fmt", "https://a@b.example/", "http://10.0.0.1/x", "https://example.org/%2e%2e/x"}
	someServers  = []string{"github", "docs", "db"}
	someTools    = []string{"get_issue", "create_issue", "drop_table", "search"}
	pathTools    = []string{"file-read", "file-write", "file-edit", "file-delete", "file-list", "file-search"}
)

// command is a simple command, as in a call.
func (d dice) command() string {
	words := []string{pick(d, somePrograms)}
	for range d.IntN(3) {
		words = append(words, pick(d, someWords))
	}
	line := strings.Join(words, " ")
	switch d.IntN(20) {
	case 0:
		line += " > docs/new.md"
	case 1:
		line = "LANG=C " + line
	case 2:
		line = "env X=1 " + line
	case 3:
		line = "(" + line + ")"
	case 4:
		line = "sh -c 'rm x'"
	case 5:
		line += " $(ls)"
	}
	return line
}

func (d dice) line() string {
	line := d.command()
	for d.IntN(3) == 0 {
		line += pick(d, someGlue) + d.command()
	}
	return line
}

// call is any call.
func (d dice) call(t testing.TB) sayso.Call {
	var c sayso.Call
	switch n := d.IntN(20); {
	case n < 9:
		c = bash(t, d.line())
	case n < 14:
		c = call(t, pick(d, pathTools), obj{"path": pick(d, somePaths)})
	case n < 16:
		c = call(t, "web-fetch", obj{"url": pick(d, someURLs)})
	case n < 18:
		c = call(t, "mcp__"+pick(d, someServers)+"__"+pick(d, someTools), obj{"q": pick(d, someWords)})
	case n < 19:
		c = call(t, pick(d, []string{"web-search", "delegate"}), obj{pick(d, []string{"query", "prompt"}): pick(d, someWords)})
	default:
		c = call(t, pick(d, []string{"frobnicate", "task-list", "Bash", "PowerShell", "mcp__a__b__c"}), obj{"command": "ls"})
		c.Host = pick(d, []string{"", "claude-code"})
	}
	switch d.IntN(12) {
	case 0:
		c.Cwd = "/home/dev/app2"
	case 1:
		c.Session = "s1"
	case 2:
		c.Tags = []string{"night"}
	}
	if d.odd {
		d.skew(t, &c)
	}
	return c
}

// skew has some calls claim a kind, and some name their arguments in another way
// than their tool does.
func (d dice) skew(t testing.TB, c *sayso.Call) {
	if d.IntN(4) == 0 {
		c.Kind = pick(d, []sayso.Kind{sayso.KindDelete, sayso.KindWrite, sayso.KindShell, sayso.KindRead, sayso.KindMCP})
	}
	name := map[string]string{"bash": "command", "web-fetch": "url"}[c.Tool]
	if strings.HasPrefix(c.Tool, "file-") {
		name = "path"
	}
	if name == "" || d.IntN(4) > 0 {
		return
	}
	value := obj{}
	if err := json.Unmarshal(c.Args, &value); err != nil {
		t.Fatal(err)
	}
	text := value[name]
	switch d.IntN(5) {
	case 0:
		value = obj{strings.ToUpper(name[:1]) + name[1:]: text}
	case 1:
		value = obj{name[:3]: text}
	case 2:
		value = obj{name: []any{text}}
	case 3:
		value["depth"] = 3
	case 4:
		value = obj{}
	}
	c.Args = call(t, c.Tool, value).Args
}

// listed is a pattern that names lists.
func (d dice) listed() string {
	return pick(d, []string{
		"{kind: [write, delete, shell]}", "{kind: [mcp, delete], server: [github, db]}", "{tool: [bash, file-edit, file-write]}", "{server: [github, docs]}",
		"{tool: [drop_*, get_*], server: [db, github]}", "{host: [claude-code, codex]}", "{kind: [read, edit], args: {path: [\"docs/*\", \"/etc/*\"]}}", "{kind: [shell, fetch], session: s1}",
	})
}

// pattern is a pattern of a rule, or a mapping.
func (d dice) pattern(e string) string {
	if d.odd && d.IntN(5) == 0 {
		return d.listed()
	}
	star := pick(d, []string{"*", "*", "*", ""})
	switch n := d.IntN(20); {
	case n < 9:
		words := pick(d, somePrograms)
		if d.IntN(3) == 0 {
			words += " " + pick(d, []string{"-v", "x", "origin", "-rf", "docs/a.md", "--force"})
		}
		return yamlText("bash:" + words + star)
	case n < 13:
		return yamlText(pick(d, append(pathTools, "file-*")) + ":" + pick(d, []string{"docs/**", "*.go", "docs/*", "/etc/**", "**", "docs/a.md", "~/notes"}))
	case n < 15:
		return yamlText("web-fetch:" + pick(d, []string{"https://example.org", "https://*.example.org/*", "https://*", "http://localhost:3000/*", "*", "https://pkg.go.dev/fmt"}))
	case n < 17:
		return yamlText("mcp__" + pick(d, append(someServers, "*")) + "__" + pick(d, append(someTools, "*")))
	case n < 18:
		return "{kind: " + pick(d, []string{"shell", "delete", "fetch", "mcp", "[read, list]"}) + "}"
	case n < 19:
		return "{session: s1, tool: " + pick(d, []string{"bash", "file-*"}) + "}"
	}
	if e == "deny" {
		return yamlText("bash")
	}
	return yamlText("*")
}

func yamlText(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

// policy is the text of a policy.
func (d dice) policy() string {
	var b strings.Builder
	b.WriteString("version: 1\n")
	if d.IntN(3) == 0 {
		fmt.Fprintf(&b, "default: %s\n", pick(d, []string{"ask", "deny", "allow"}))
	}
	if n := d.IntN(6); n > 0 {
		b.WriteString("rules:\n")
		for range n {
			d.rule(&b)
		}
	}
	roots := d.IntN(6) == 0
	if roots {
		b.WriteString("sandbox:\n  paths:\n")
		fmt.Fprintf(&b, "    docs: {root: ./docs, mode: %s%s}\n", pick(d, []string{"ro", "rw"}), pick(d, []string{"", ", write_approval: false", ", suffixes: [.md]", ", read_approval: true"}))
		if d.IntN(2) == 0 {
			b.WriteString("    all: {root: ., mode: rw}\n")
		}
	}
	if d.IntN(3) == 0 {
		d.shell(&b, roots)
	}
	return b.String()
}

func (d dice) rule(b *strings.Builder) {
	e := pick(d, []string{"allow", "allow", "ask", "deny"})
	fmt.Fprintf(b, "  - %s:\n", e)
	for range 1 + d.IntN(3) {
		fmt.Fprintf(b, "      - %s\n", d.pattern(e))
	}
	switch d.IntN(8) {
	case 0:
		b.WriteString("    name: a rule\n")
	case 1:
		b.WriteString("    when: 'call.cwd == \"/home/dev/app\"'\n")
	case 2:
		b.WriteString("    when: 'call.commands.exists(c, c.dynamic)'\n")
	}
}

func (d dice) shell(b *strings.Builder, roots bool) {
	b.WriteString("shell:\n")
	if d.IntN(2) == 0 {
		fmt.Fprintf(b, "  default: {allowed: %v, approval: %v}\n", d.IntN(3) > 0, d.IntN(2) == 0)
	}
	b.WriteString("  rules:\n")
	for range 1 + d.IntN(4) {
		more := pick(d, []string{", approval: false", ", approval: false", ", allowed: false", ""})
		if roots && d.IntN(3) == 0 {
			more += ", sandbox_paths: [docs]"
		}
		fmt.Fprintf(b, "    - {pattern: %s%s}\n", yamlText(pick(d, somePrograms)), more)
	}
}

// tiers are one or two policies, as a person and an organisation would have
// them, or none.
func (d dice) tiers() []string {
	switch d.IntN(10) {
	case 0:
		return nil
	case 1, 2:
		return []string{d.policy(), d.policy()}
	}
	return []string{d.policy()}
}

// made makes a policy of the texts of the person's and the organisation's file.
func made(t testing.TB, texts []string) *policy.Policy {
	t.Helper()
	p, err := tryMade(texts)
	if err != nil {
		t.Fatalf("%v in\n%s", err, strings.Join(texts, "---\n"))
	}
	return p
}

func tryMade(texts []string) (*policy.Policy, error) {
	var tiers []policy.Tiered
	for i, text := range texts {
		if text == "" {
			continue
		}
		f, err := policy.Parse([]string{"policy.yaml", "org.yaml"}[i], []byte(text))
		if err != nil {
			return nil, err
		}
		tiers = append(tiers, policy.Tiered{Tier: []policy.Tier{policy.TierUser, policy.TierOrg}[i], File: f})
	}
	return policy.New(policy.Options{Home: "/home/dev"}, tiers...)
}
