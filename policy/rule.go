package policy

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy/internal/condition"
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
	elicit   bool
	elicitAt position
	when     *condition.Condition // nil for always
	whenAt   position
	whenLine bool // it stands in one line
	matchers []*matcher
	examples []example // that it must match
}

// reservedRuleKeys are the keys of a rule that are known and not yet understood.
var reservedRuleKeys = map[string]string{
	"sandbox_paths": "where a command may work; in shell.rules it is understood",
	"delegate":      "what a lower tier may decide",
}

// ruleDraft is a rule as it is read, and where in the file what must fit together stands.
type ruleDraft struct {
	*rule
	effects, patterns []*yaml.Node
	asksOnly          []*yaml.Node // keys that say what happens when a person is asked
	elicits           *yaml.Node
	covers            []*yaml.Node
}

// rule reads one rule, nil after a mistake.
func (r *reader) rule(f *File, n *yaml.Node) *rule {
	before := len(r.errs)
	d := &ruleDraft{rule: &rule{}}
	if !r.mapping(n, "a rule", r.ruleFields(d), reservedRuleKeys) {
		return nil
	}
	if len(d.effects) == 0 && len(r.errs) > before {
		return nil // the effect is probably the key that was not understood
	}
	if len(d.effects) != 1 {
		r.fail(n, CodeRuleEffect, "write one of allow, ask and deny, with a pattern", "a rule has exactly one effect, this one has %d", len(d.effects))
		return nil
	}
	r.fits(d)
	d.matchers = r.matchers(f, d.effect, d.patterns[0])
	if len(r.errs) > before {
		return nil
	}
	r.warnNotElicitable(d.rule)
	for _, item := range d.covers {
		r.examples = append(r.examples, func() { r.covers(f, d.rule, item) })
	}
	return d.rule
}

// ruleFields read the keys of a rule into a draft.
func (r *reader) ruleFields(d *ruleDraft) map[string]field {
	effect := func(e sayso.Effect) field {
		return func(key, value *yaml.Node) {
			d.effect = e
			d.effects, d.patterns = append(d.effects, key), append(d.patterns, value)
		}
	}
	title := func(key, n *yaml.Node) {
		if d.title != "" {
			r.fail(key, CodeDuplicateKey, "keep one of them", "title and description mean the same")
		}
		d.title, _ = r.text(n, key.Value)
	}
	asksOnly := func(read field) field {
		return func(key, n *yaml.Node) {
			read(key, n)
			d.asksOnly = append(d.asksOnly, key)
		}
	}
	return map[string]field{
		"allow": effect(sayso.Allow), "ask": effect(sayso.Ask), "deny": effect(sayso.Deny),
		"name":  func(_, n *yaml.Node) { d.name, _ = r.text(n, "name") },
		"note":  func(_, n *yaml.Node) { d.note, _ = r.text(n, "note") },
		"title": title, "description": title,
		"when": func(_, n *yaml.Node) {
			d.when, d.whenAt = r.when(n), at(n)
			d.whenLine = n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && !strings.Contains(n.Value, "\n")
		},
		"covers": func(_, n *yaml.Node) { d.covers = r.items(n, "covers") },
		"danger": asksOnly(func(_, n *yaml.Node) { d.danger, _ = r.boolean(n, "danger") }),
		"elicit": asksOnly(func(key, n *yaml.Node) {
			d.elicit, _ = r.boolean(n, "elicit")
			d.elicitAt, d.elicits = at(key), key
		}),
		"remember":    asksOnly(func(_, n *yaml.Node) { d.remember, d.said = r.remember(n), true }),
		"requirement": asksOnly(func(_, n *yaml.Node) { r.requirement(n) }),
	}
}

// fits reports what a rule says that has no place in a rule of its effect.
func (r *reader) fits(d *ruleDraft) {
	if d.effect != sayso.Ask {
		for _, key := range d.asksOnly {
			r.fail(key, CodeMisplaced, "remove it, or write ask:", "%s says what happens when a person is asked, and this rule asks nobody", key.Value)
		}
	}
	if d.elicit && (d.danger || d.remember == sayso.RememberNever) {
		r.fail(d.elicits, CodeMisplaced, "remove it", "this rule takes a person for certain, and who answers by way of a client may be a program")
	}
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

// requirement reads whose answers decide: so far, one of anybody.
func (r *reader) requirement(n *yaml.Node) {
	r.mapping(n, "requirement", map[string]field{
		"count": func(_, n *yaml.Node) {
			if count, ok := r.number(n, "count", 100); ok && count > 1 {
				r.fail(n, CodeNotYet, "write count: 1", "not yet: more than one answer to a request comes with a later version")
			}
		},
	}, map[string]string{"from": "whose answers count"})
}

// matchers reads the patterns behind an effect.
func (r *reader) matchers(f *File, e sayso.Effect, n *yaml.Node) []*matcher {
	items := list(n)
	if len(items) == 0 {
		r.fail(n, CodePattern, `write for example "file-read:docs/**"`, "the rule has no pattern, so it could never match")
	}
	var out []*matcher
	for _, item := range items {
		var m matcher
		if item.Kind == yaml.MappingNode {
			m = r.selector(f, e, item)
		} else if text, ok := r.text(item, "a pattern"); ok {
			m = r.pattern(e, item, text)
		}
		m.position = at(item)
		out = append(out, &m)
	}
	return out
}

// when compiles a condition, nil after a mistake.
func (r *reader) when(n *yaml.Node) *condition.Condition {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || n.Value == "" {
		r.fail(n, CodeType, `put quotes around it, as in when: 'call.cwd == "/srv"'`, "when must be a condition, not %s", kindOf(n))
		return nil
	}
	out, wrong := condition.Compile(n.Value)
	for _, m := range wrong {
		r.fail(r.inText(n, m.Line, m.Column), CodeWhen, m.Write, "%s", m.What)
	}
	return out
}

// inText is a place in the text of a node. In quotes and plain it begins where
// the node does; in a block, in the next line, behind the blanks.
func (r *reader) inText(n *yaml.Node, line, column int) *yaml.Node {
	out := &yaml.Node{Line: n.Line, Column: n.Column + column - 1}
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		out.Line, out.Column = n.Line+line, column+r.indent(n.Line+line)
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		out.Column++
	}
	return out
}

// indent is how many blanks a line of the file begins with.
func (r *reader) indent(line int) int {
	lines := bytes.Split(r.source, []byte("\n"))
	if line < 1 || line > len(lines) {
		return 0
	}
	return len(lines[line-1]) - len(bytes.TrimLeft(lines[line-1], " "))
}

// reasons stand for a note that the rule does not have.
var reasons = map[sayso.Effect]string{
	sayso.Deny:  "a rule of the policy denies it",
	sayso.Ask:   "a rule of the policy wants a person to be asked",
	sayso.Allow: "a rule of the policy allows it",
}

// match is the match that a rule makes with one of its patterns, but for the
// span.
func (ru *rule) match(f *File, m *matcher, t Tier) sayso.Match {
	out := sayso.Match{
		Effect: ru.effect, Cause: sayso.CauseRule, Rule: ru.name, File: f.Name, Line: m.line,
		Reason: ru.note, Remember: ru.remember, Person: ru.remember == sayso.RememberNever,
	}
	if out.Rule == "" {
		out.Rule = ru.effect.String() + ": " + m.text
	}
	out.Elicit = ru.elicit && t != TierRepo // whose files only tighten
	if t == TierOrg && ru.effect == sayso.Ask && !ru.said {
		out.Remember = sayso.RememberExact
	}
	if out.Reason == "" {
		out.Reason = reasons[ru.effect]
	}
	return out
}
