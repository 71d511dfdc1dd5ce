package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy"
)

// TestLint_planted puts faults into policies that have none, and looks for them.
func TestLint_planted(t *testing.T) {
	t.Parallel()
	d := newDice(5)
	rounds, found := 14, map[string]int{}
	if testing.Short() {
		rounds = 3
	}
	for n := 0; n < rounds; {
		text := d.policy()
		if len(made(t, []string{text}).Lint()) > 0 {
			continue
		}
		n++
		for _, plant := range d.plants() {
			if plant.kind == policy.FindingUnreachable && strings.Contains(text, "default: deny") {
				continue // there, an allow makes a denial into a question
			}
			sown, line := sow(d, text, plant.rules)
			p := made(t, []string{sown})
			if plant.kind == policy.FindingOverWide {
				if c := plant.call(t); judge(p, c).Effect != sayso.Allow {
					continue // another rule keeps the call from being allowed
				}
			}
			kind, ok := kindAt(p.Lint(), line)
			if !ok || (kind == policy.FindingOverWide) != (plant.kind == policy.FindingOverWide) {
				t.Errorf("%s is found at line %d, where something %s was planted, in\n%s", kind, line, plant.kind, sown)
			}
			if kind != plant.kind {
				continue // another rule is in its way too
			}
			found[string(plant.kind)]++
		}
	}
	t.Log(found)
	if len(found) < 4 || found[string(policy.FindingOverWide)] < rounds/3 {
		t.Errorf("too few faults were planted: %v", found)
	}
}

// plant are rules, of which the last one is a fault.
type plant struct {
	kind  policy.FindingKind
	rules []string
	call  func(testing.TB) sayso.Call // that an over-wide rule allows
}

// plants are faults of every kind, about programs that the dice never name.
func (d dice) plants() []plant {
	effects := []string{"allow", "ask", "deny"}
	loose := d.IntN(2)
	strict := loose + 1 + d.IntN(2-loose)
	shape := pick(d, [][2]string{
		{"bash:jq*", "bash:jq -r*"}, {"bash:tar tf*", "bash:tar tf x"}, {"web-fetch:https://*.example.net", "web-fetch:https://www.example.net/a/*"},
		{"mcp__notes__*", "mcp__notes__get_*"}, {"file-edit:web/**", "file-edit:web/img/*.png"}, {"web-search:go *", "web-search:go lang*"},
	})
	wide, narrow := yamlText(shape[0]), yamlText(shape[1])
	dead := pick(d, []string{"bash:find -delete*", "bash:sort -o x*", "bash:perl -e*", "web-fetch:https://*.internal"})
	steers := pick(d, []string{"file-write:.git/**", "file-edit:.vscode/settings.json", "file-delete:.envrc"})
	return []plant{
		{policy.FindingShadowed, []string{effects[loose+d.IntN(strict-loose+1)] + ": " + wide, effects[loose] + ": " + narrow}, nil},
		{policy.FindingContradictory, []string{effects[strict] + ": " + narrow, effects[loose] + ": " + narrow}, nil},
		{policy.FindingCannotHold, []string{"allow: " + yamlText(dead)}, nil},
		{policy.FindingUnreachable, []string{"allow: " + yamlText(steers)}, nil},
		pick(d, []plant{
			threatened("bash:shred*", "bash", obj{"command": "shred zq"}), threatened("bash:scp*", "bash", obj{"command": "scp a b:"}),
			threatened("bash:lua*", "bash", obj{"command": "lua x.lua"}), threatened("bash:*", "bash", obj{"command": "shred zq"}),
			threatened("file-delete:**", "file-delete", obj{"path": "zq/zq.c"}), threatened("file-write:/**", "file-write", obj{"path": "/etc/zq"}),
			threatened("web-fetch:https://*", "web-fetch", obj{"url": "https://zq.test/?q=x"}), threatened("*", "file-delete", obj{"path": "zq/zq.c"}),
		}),
	}
}

// threatened is a pattern that is too wide, with a call that it allows.
func threatened(pattern, tool string, args obj) plant {
	return plant{policy.FindingOverWide, []string{"allow: " + yamlText(pattern)}, func(t testing.TB) sayso.Call { return call(t, tool, args) }}
}

// sow puts rules into a policy, and returns the line of the last one.
func sow(d dice, text string, rules []string) (string, int) {
	if !strings.Contains(text, "\nrules:\n") {
		text = strings.Replace(text, "version: 1\n", "version: 1\nrules:\n", 1)
	}
	lines := strings.Split(text, "\n")
	at := 0
	for _, rule := range rules {
		from := slices.Index(lines, "rules:") + 1
		places := []int{from}
		for i := from; i < len(lines) && strings.HasPrefix(lines[i], " "); i++ {
			if strings.HasPrefix(lines[i], "  - ") {
				places = append(places, i)
			}
		}
		at = pick(d, places)
		lines = slices.Insert(lines, at, "  - "+rule)
	}
	return strings.Join(lines, "\n"), at + 1
}

// kindAt is the kind of the finding at a line, the most telling one first.
func kindAt(found []policy.Finding, line int) (policy.FindingKind, bool) {
	kind, ok := policy.FindingKind(""), false
	for _, f := range found {
		if f.Line == line && (!ok || f.Kind == policy.FindingOverWide) {
			kind, ok = f.Kind, true
		}
	}
	return kind, ok
}
