package policy_test

import (
	"os"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// TestDocs loads every snippet of the reference, and judges the commands of its
// table with the snippet before it.
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
		last = load(t, text)
		if w := last.Warnings(); len(w) > 0 {
			t.Errorf("%v in\n%s", w, text)
		}
	}
	if snippets < 8 || commands < 7 {
		t.Errorf("found %d snippets and %d commands", snippets, commands)
	}
}

func checkTable(t *testing.T, p *policy.Policy, text string) (n int) {
	_, table, ok := strings.Cut(text, "| command | |\n|---|---|\n")
	if !ok {
		return 0
	}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 2 {
			break
		}
		var want sayso.Effect
		if err := want.UnmarshalText([]byte(strings.TrimSuffix(strings.TrimSpace(cells[1]), " |"))); err != nil {
			t.Fatal(err)
		}
		command := strings.Trim(strings.TrimPrefix(cells[0], "| "), "`")
		if v := judge(p, bash(t, command)); v.Effect != want {
			t.Errorf("the page says %s of %q, the policy %s", want, command, v.Effect)
		}
		n++
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
