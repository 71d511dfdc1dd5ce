package policy

import (
	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
)

// rule is one entry of the list of rules.
type rule struct {
	effect   sayso.Effect
	name     string
	note     string
	title    string
	remember sayso.Remember
	said     bool // the file says how long a yes lasts
	danger   bool
	matchers []matcher
}

// laterInRules are the keys of a rule that are known and not yet understood.
var laterInRules = map[string]string{
	"when":          "a condition on the call",
	"covers":        "examples that are checked when the file is loaded",
	"requirement":   "whose answers decide",
	"sandbox_paths": "where a command may work",
	"delegate":      "what a lower tier may decide",
}

// rule reads one rule, nil after a mistake.
func (r *reader) rule(n *yaml.Node) *rule {
	before := len(r.errs)
	out := &rule{}
	var effects, patterns []*yaml.Node
	effect := func(e sayso.Effect) field {
		return func(key, value *yaml.Node) {
			out.effect = e
			effects, patterns = append(effects, key), append(patterns, value)
		}
	}
	var asksOnly []*yaml.Node
	ok := r.mapping(n, "a rule", map[string]field{
		"allow": effect(sayso.Allow), "ask": effect(sayso.Ask), "deny": effect(sayso.Deny),
		"name":  func(_, n *yaml.Node) { out.name, _ = r.text(n, "name") },
		"note":  func(_, n *yaml.Node) { out.note, _ = r.text(n, "note") },
		"title": func(_, n *yaml.Node) { out.title, _ = r.text(n, "title") },
		"danger": func(k, n *yaml.Node) {
			out.danger, _ = r.boolean(n, "danger")
			asksOnly = append(asksOnly, k)
		},
		"remember": func(k, n *yaml.Node) {
			out.remember, out.said = r.remember(n), true
			asksOnly = append(asksOnly, k)
		},
	}, laterInRules)
	if !ok {
		return nil
	}
	if len(effects) == 0 && len(r.errs) > before {
		return nil // the effect is probably the key that was not understood
	}
	if len(effects) != 1 {
		r.fail(n, CodeRuleEffect, "write one of allow, ask and deny, with a pattern", "a rule has exactly one effect, this one has %d", len(effects))
		return nil
	}
	if out.effect != sayso.Ask {
		for _, key := range asksOnly {
			r.fail(key, CodeMisplaced, "remove it, or write ask:", "%s says what happens when a person is asked, and this rule asks nobody", key.Value)
		}
	}
	out.matchers = r.matchers(out.effect, patterns[0])
	if len(r.errs) > before {
		return nil
	}
	return out
}

func (r *reader) remember(n *yaml.Node) sayso.Remember {
	switch word, _ := r.word(n, "remember", "never", "exact", "any"); word {
	case "never":
		return sayso.RememberNever
	case "exact":
		return sayso.RememberExact
	}
	return sayso.RememberAny
}

// matchers reads the patterns behind an effect.
func (r *reader) matchers(e sayso.Effect, n *yaml.Node) []matcher {
	items := list(n)
	if len(items) == 0 {
		r.fail(n, CodePattern, `write for example "file-read:docs/**"`, "the rule has no pattern, so it could never match")
	}
	var out []matcher
	for _, item := range items {
		var m matcher
		if item.Kind == yaml.MappingNode {
			m = r.selector(e, item)
		} else if text, ok := r.text(item, "a pattern"); ok {
			m = r.pattern(e, item, text)
		}
		m.line = item.Line
		out = append(out, m)
	}
	return out
}

// reasons stand for a note that the rule does not have.
var reasons = map[sayso.Effect]string{
	sayso.Deny:  "a rule of the policy denies it",
	sayso.Ask:   "a rule of the policy wants a person to be asked",
	sayso.Allow: "a rule of the policy allows it",
}

// match is the match that a rule makes with one of its patterns, but for the
// span.
func (ru *rule) match(f *File, m *matcher, org bool) sayso.Match {
	out := sayso.Match{
		Effect: ru.effect, Cause: sayso.CauseRule, Rule: ru.name, File: f.Name, Line: m.line,
		Reason: ru.note, Remember: ru.remember, Person: ru.remember == sayso.RememberNever,
	}
	if out.Rule == "" {
		out.Rule = ru.effect.String() + ": " + m.text
	}
	if org && ru.effect == sayso.Ask && !ru.said {
		out.Remember = sayso.RememberExact
	}
	if out.Reason == "" {
		out.Reason = reasons[ru.effect]
	}
	return out
}
