package policy_test

import (
	"os"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// TestDocs loads every snippet of the reference, and judges the commands of its
// table, and its tests, with the snippet before it.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	snippets, commands := 0, 0
	var last *policy.Policy
	rest := string(page)
	for {
		before, block, ok := strings.Cut(rest, "```yaml")
		commands += checkTable(t, last, before)
		if !ok {
			break
		}
		var text string
		text, rest, _ = strings.Cut(block, "```")
		kind, text, _ := strings.Cut(text, "\n")
		snippets++
		if strings.TrimSpace(kind) == "error" {
			_, err := policy.Parse("policy.yaml", []byte(text))
			if err == nil || !strings.Contains(rest, "    "+err.Error()+"\n") {
				t.Errorf("the page does not show the mistake: %v", err)
			}
			continue
		}
		if strings.TrimSpace(kind) == "tests" {
			for _, c := range tested(t, last, text).Cases {
				if !c.Passed() {
					t.Errorf("the page says %s of %q, the policy %s (%s)", c.Want.Effect, c.Text, c.Got.Effect, c.Got.Rule)
				}
			}
			continue
		}
		if strings.TrimSpace(kind) == "org" {
			f, err := policy.Parse("policy.yaml", []byte(text))
			if err == nil {
				_, err = policy.New(policy.Options{}, policy.Tiered{Tier: policy.TierOrg, File: f})
			}
			if err != nil {
				t.Error(err)
			}
			continue
		}
		last = load(t, text)
		if w := last.Warnings(); len(w) > 0 {
			t.Errorf("%v in\n%s", w, text)
		}
	}
	if snippets < 20 || commands < 60 {
		t.Errorf("found %d snippets and %d commands", snippets, commands)
	}
}

// checkTable judges the rows of the tables of commands and of calls in a text.
func checkTable(t *testing.T, p *policy.Policy, text string) (n int) {
	for _, kind := range []string{"command", "call"} {
		_, table, ok := strings.Cut(text, "| "+kind+" | |\n|---|---|\n")
		if !ok {
			continue
		}
		for line := range strings.Lines(table) {
			cut := strings.LastIndex(strings.TrimSuffix(strings.TrimSpace(line), " |"), " | ")
			if cut < 0 {
				break
			}
			var want sayso.Effect
			if err := want.UnmarshalText([]byte(strings.Trim(line[cut:], " |\n"))); err != nil {
				t.Fatal(err)
			}
			row := strings.ReplaceAll(strings.Trim(strings.TrimPrefix(line[:cut], "| "), "`"), `\|`, "|")
			c := bash(t, row)
			if tool, arg, _ := strings.Cut(row, " "); kind == "call" {
				key := "path"
				if tool == "web-fetch" {
					key = "url"
				}
				c = call(t, tool, obj{key: arg})
			}
			if v := judgeOn(p, yard(), c); v.Effect != want {
				t.Errorf("the page says %s of %q, the policy %s (%s)", want, row, v.Effect, v.Rule)
			}
			n++
		}
	}
	return n
}

// TestDocs_answeringVerbs holds the list of the page against the program.
func TestDocs_answeringVerbs(t *testing.T) {
	page, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	p := loadWith(t, policy.Options{})
	_, list, _ := strings.Cut(string(page), "answer or to administer (")
	list, _, _ = strings.Cut(list, ")")
	verbs := strings.Split(list, "`")
	if len(verbs) < 30 {
		t.Fatalf("found %q", list)
	}
	for i := 1; i < len(verbs); i += 2 {
		verb := strings.Join(strings.Fields(verbs[i]), " ")
		if v := judge(p, bash(t, "sayso "+verb+" x")); v.Effect != sayso.Deny {
			t.Errorf("sayso %s: %s", verb, v.Effect)
		}
	}
}
