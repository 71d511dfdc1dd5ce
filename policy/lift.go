package policy

import (
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// What is stricter than what is wanted of a call is taken away as narrowly as it
// can be: by a rule before it where the first one speaks, by what a list of its
// pattern says too much, and only then with the whole pattern.

// clear takes away what is stricter than what is wanted. It reports whether it
// found something.
func (a *changeSearch) clear(p *Policy) bool {
	lifted := map[location]bool{}
	readings := p.readings(&a.call, &a.facts)
	for _, s := range readings {
		for _, o := range p.objections(s) {
			if o.e != nil && o.m.Effect < a.want && !lifted[o.e.place()] {
				lifted[o.e.place()] = true
				a.lift(p, o.s, o.e)
			}
		}
	}
	if len(lifted) > 0 {
		return true
	}
	for _, s := range readings {
		if a.clearRoots(p, s) || a.clearDefaults(p, s) {
			return true
		}
	}
	return false
}

// objections are all that is said of a call, and against what it may be.
func (p *Policy) objections(s *subject) []denial {
	var out []denial
	said, _ := p.said(s)
	for _, h := range said {
		out = append(out, denial{h, s})
	}
	return append(out, p.doubts(s)...)
}

// lift has an entry say nothing against a call.
func (a *changeSearch) lift(p *Policy, s *subject, e *entry) {
	if a.addException(p, s, e) || a.narrow(s, e) || a.addExemption(s, e) {
		return
	}
	a.tiers = withoutPlaces(a.tiers, []location{e.place()})
	a.addEdit(Edit{Do: "remove", Tier: e.tier, File: e.says.File, Line: e.m.line, Column: e.m.column, Under: e.under(), Old: e.written(), Rule: e.called()})
}

// addEdit adds an edit. Another one of the same place becomes one with it.
func (a *changeSearch) addEdit(e Edit) {
	for i, old := range a.edits {
		if old.Do != "insert" && e.Do != "insert" && old.Tier == e.Tier && old.File == e.File && old.Line == e.Line && old.Column == e.Column && old.Under == e.Under {
			e.Old = old.Old
			a.edits[i] = e
			return
		}
	}
	a.edits = append(a.edits, e)
}

// addException puts rules for the very commands before one of shell.rules that asks
// about them, where the first that matches speaks. It reports whether that helps.
func (a *changeSearch) addException(p *Policy, s *subject, e *entry) bool {
	r := p.commandRule(e)
	if r == nil || r.part == 0 || e.effect != sayso.Ask || a.want != sayso.Allow || !s.readsCommands() {
		return false
	}
	var first *File
	var edits []Edit
	for _, c := range p.spokenOf(s, e) {
		pattern, ok := commandText(c, 0)
		if !ok || c.Open {
			return false
		}
		rule := "{pattern: " + yamlQuoted(pattern) + ", approval: false}"
		one, err := Parse("", []byte("version: 1\nshell:\n  rules:\n    - "+rule+"\n"))
		if err != nil {
			return false
		}
		if first == nil {
			first = one
		} else {
			first.shell.append(one.shell)
		}
		edits = append(edits, Edit{
			Do: "insert", Tier: e.tier, File: e.says.File, Line: e.m.line, Column: e.m.column, Under: "shell.rules", Old: e.written(), Text: "- " + rule,
		})
	}
	if first == nil {
		return false
	}
	tiers := withBefore(a.tiers, e.place(), first.shell)
	after := p.changed(tiers)
	if after == nil || after.objects(s, e.place()) {
		return false
	}
	a.tiers = tiers
	for _, one := range edits {
		a.addEdit(one)
	}
	return true
}

// commandRule is what an entry says of commands, nil if it says nothing.
func (p *Policy) commandRule(e *entry) *commandRule {
	i := slices.IndexFunc(p.index.commands.all, func(r *commandRule) bool { return r.entry == e })
	if i < 0 {
		return nil
	}
	return p.index.commands.all[i]
}

// objects reports whether the entry in a place has a say about a call.
func (p *Policy) objects(s *subject, at location) bool {
	said, _ := p.said(s)
	return slices.ContainsFunc(said, func(h matched) bool { return h.e != nil && h.e.place() == at })
}

// spokenOf are the commands of a line that an entry speaks of, no two alike.
func (p *Policy) spokenOf(s *subject, e *entry) []*shell.Command {
	j := p.lineJudge(s)
	var out []*shell.Command
	told := map[string]bool{}
	for _, c := range s.runs() {
		j.said, j.spoke = nil, make(map[*entry]bool)
		j.command(c)
		text, _ := commandText(c, 0)
		if !told[text] && slices.ContainsFunc(j.said, func(h matched) bool { return h.e == e }) {
			told[text] = true
			out = append(out, c)
		}
	}
	return out
}

// narrow takes what the call is out of a list that the entry's pattern names. It
// reports whether there is one.
func (a *changeSearch) narrow(s *subject, e *entry) bool {
	if e.m.selector == nil {
		return false
	}
	for _, fewer := range e.m.selector.without(s) {
		text := fewer.written()
		if _, err := Parse("", []byte(fileOf("- "+e.effect.String()+": "+text))); err != nil {
			continue
		}
		m := &matcher{position: e.m.position, text: text, selector: fewer}
		a.tiers = withMatcher(a.tiers, e.place(), m)
		a.addEdit(Edit{Do: "replace", Tier: e.tier, File: e.says.File, Line: m.line, Column: m.column, Under: e.under(), Old: e.written(), Text: text})
		return true
	}
	return false
}

// under is the key of the file that a rule stands under.
func (e *entry) under() string {
	if strings.HasPrefix(e.says.Rule, "shell.rules: ") && e.m.text == "" {
		return "shell.rules"
	}
	return "rules"
}

// written is a pattern as it stands in the file.
func (e *entry) written() string {
	if e.m.text != "" {
		return e.m.text
	}
	return strings.TrimPrefix(e.says.Rule, "shell.rules: ")
}

// markWholeRules says of each pattern that is removed whether its rule goes with it, and
// adds the examples that what is left of a rule does not match: with them the
// file would not load.
func (a *changeSearch) markWholeRules() {
	for _, t := range a.p.tiers {
		for _, part := range t.File.every() {
			for _, ru := range part.rules {
				a.checkRemainder(t, ru)
			}
		}
	}
	for i, e := range a.edits {
		a.edits[i].Whole = e.Whole || e.Do == "remove" && e.Under == "shell.rules"
	}
}

// checkRemainder looks at what is left of a rule.
func (a *changeSearch) checkRemainder(t Tiered, ru *rule) {
	last, gone := -1, 0
	for i, e := range a.edits {
		stands := slices.ContainsFunc(ru.matchers, func(m *matcher) bool { return m.position == position{e.Line, e.Column} })
		if !stands || e.Tier != t.Tier || e.File != t.File.Name || e.Under != "rules" {
			continue
		}
		if last = i; e.Do == "remove" {
			gone++
		}
	}
	switch {
	case last < 0:
		return
	case gone == len(ru.matchers):
		a.edits[last].Whole = true
		return
	}
	rest := a.remainderOf(t, ru)
	for _, one := range ru.examples {
		if !rest.fits(&File{}, one.call) {
			edit := Edit{Do: "remove", Tier: t.Tier, File: t.File.Name, Line: one.line, Column: one.column, Under: "covers", Old: one.text}
			a.edits = slices.Insert(a.edits, last+1, edit)
		}
	}
}

// remainderOf is a rule as the edits leave it.
func (a *changeSearch) remainderOf(t Tiered, ru *rule) *rule {
	for _, after := range a.tiers {
		if after.Tier != t.Tier || after.Workspace != t.Workspace {
			continue
		}
		for _, part := range after.File.every() {
			for _, other := range part.rules {
				if slices.ContainsFunc(other.matchers, func(m *matcher) bool {
					return slices.ContainsFunc(ru.matchers, func(was *matcher) bool { return was.position == m.position })
				}) {
					return other
				}
			}
		}
	}
	return &rule{effect: ru.effect}
}
