package policy

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/redact"
)

// SuggestOptions say how far to go. The zero SuggestOptions are fine.
type SuggestOptions struct {
	Least int // prompts that a rule must save; 2 if zero
	Most  int // rules; 12 if zero
}

// Suggestion is a rule that would have saved prompts.
type Suggestion struct {
	Patterns []string `json:"patterns"`
	When     string   `json:"when"` // empty for always
	Write    string   `json:"write"`
	Saves    int      `json:"saves"`    // prompts, with the rules before it in force
	Examples []string `json:"examples"` // calls that were asked about
}

// Suggestions are rules to add to the policy in force.
type Suggestions struct {
	Calls       int   `json:"calls"`
	Replayed    int   `json:"replayed"`
	NotReplayed []Gap `json:"not_replayed"`
	Prompts     int   `json:"prompts"` // calls that a person was asked about, of those judged again
	// PromptsSaved is what a replay of the policy with these rules comes to. The
	// policy in force by itself comes to AlreadySaved.
	PromptsSaved int          `json:"prompts_saved"`
	AlreadySaved int          `json:"already_saved"`
	Rules        []Suggestion `json:"rules"`
	// Withheld are the tools that nothing is suggested for: calls of them were
	// denied that nobody can look at any more.
	Withheld []Withheld `json:"withheld"`
}

// Text is the suggested rules as a policy file.
func (s *Suggestions) Text() string {
	var rules []string
	for _, r := range s.Rules {
		rules = append(rules, r.Write)
	}
	if len(rules) == 0 {
		return "version: 1\n"
	}
	return fileOf(rules...)
}

// Suggest finds the fewest and narrowest rules that would have saved the most
// prompts of the calls. What they come to was replayed: the prompts that they
// save are those that are printed, each rule is needed for that, and no call that
// was denied would be allowed, neither of the calls nor of those that were denied
// before. What was denied and cannot be looked at may have been any call of its
// tool that is not dangerous, so that nothing is suggested for that tool. Rules
// are suggested for what is known to be harmless alone, see docs/policy.md.
func (p *Policy) Suggest(calls []*Recorded, denied iter.Seq[*Recorded], o SuggestOptions) Suggestions {
	f := &suggester{p: p, o: o, withheld: []Withheld{}}
	if f.o.Least <= 0 {
		f.o.Least = 2
	}
	if f.o.Most <= 0 {
		f.o.Most = 12
	}
	base := p.ReplayWorst(slices.Values(calls), 0)
	out := Suggestions{
		Calls: base.Calls, Replayed: base.Replayed, NotReplayed: base.NotReplayed, Prompts: base.PromptsBefore,
		PromptsSaved: base.PromptsSaved, AlreadySaved: base.PromptsSaved, Rules: []Suggestion{},
	}
	f.sort(calls)
	f.index(denied)
	f.withhold()
	out.Withheld = f.withheld
	f.choose()
	f.prune()
	with := f.with(f.chosen)
	if len(f.chosen) == 0 || with == nil {
		return out
	}
	after := with.ReplayWorst(slices.Values(calls), 0)
	if after.DenialsAllowed > base.DenialsAllowed || after.PromptsSaved <= base.PromptsSaved || after.PromptsAdded > base.PromptsAdded {
		return out // never seen: what is tried call by call is what a replay does
	}
	out.PromptsSaved = after.PromptsSaved
	out.Rules = f.suggestions()
	return out
}

// maxCandidates is how many rules are tried, those first that most prompts wish
// for.
const maxCandidates = 200

// candidate is a rule that may be suggested.
type candidate struct {
	proposedRule
	wished  int
	from    *Recorded
	touches []*recordedCall // calls that the rule has a say about
	file    *File           // of this rule alone
	banned  bool
	gain    int
	fresh   bool // gain is up to date
}

// recordedCall is a call that rules are tried on.
type recordedCall struct {
	*Recorded
	wants bool // a prompt that may be saved
	saved bool
}

type suggester struct {
	p          *Policy
	o          SuggestOptions
	calls      []*recordedCall
	candidates []*candidate
	chosen     []*candidate
	withheld   []Withheld
	redactor   *redact.Redactor
}

// sort finds the prompts that may be saved, with what is wished for, and the
// calls that must go on coming out as they do.
func (f *suggester) sort(calls []*Recorded) {
	byText := map[string]*candidate{}
	for _, c := range calls {
		if f.isErased(c) {
			continue
		}
		now, v, gap := f.p.again(c)
		if gap != "" && c.Came.refused() && c.Gap == "" {
			f.calls = append(f.calls, &recordedCall{Recorded: c}) // a rule that speaks of it is none
		}
		if gap != "" || now.Effect == sayso.Allow && now.By != string(sayso.SourceGrant) {
			continue
		}
		one := &recordedCall{Recorded: c}
		f.calls = append(f.calls, one)
		if !c.Came.asked() || c.Came.refused() || !now.asked() {
			continue
		}
		facts := f.p.completed(&c.Call, c.Facts)
		var s subject
		s.of(&c.Call, &facts, f.p.home)
		for _, w := range s.proposedRules(&v) {
			one.wants = true
			text := w.rule("")
			if byText[text] == nil {
				byText[text] = &candidate{proposedRule: w, from: c}
				f.candidates = append(f.candidates, byText[text])
			}
			byText[text].wished++
		}
	}
	slices.SortStableFunc(f.candidates, func(a, b *candidate) int { return b.wished - a.wished })
	f.redactor = redact.New(&redact.Options{Keys: f.p.redaction.Names})
	kept := f.candidates[:0]
	for _, c := range f.candidates {
		if len(kept) < maxCandidates && f.showable(c) {
			kept = append(kept, c)
		}
	}
	f.candidates = kept
}

// showable reports whether a rule can be shown as it is: nothing in it is hidden,
// and all of it can be seen.
func (f *suggester) showable(c *candidate) bool {
	texts := map[string]string{}
	for i, p := range c.patterns {
		if strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return false
		}
		texts[strconv.Itoa(i)] = p
	}
	hidden, err := f.redactor.Call(c.from.Call.Args, texts)
	if err != nil {
		return false
	}
	for i, p := range c.patterns {
		if hidden.Texts[strconv.Itoa(i)] != p {
			return false
		}
	}
	return f.with([]*candidate{c}) != nil
}

// rule is the text of the rule, under a name unless that is empty.
func (w *proposedRule) rule(name string) string {
	text := ruleText(sayso.Allow, w.patterns)
	if name != "" {
		text += "\n    name: " + yamlQuoted(name)
	}
	if w.when != "" {
		text += "\n    when: " + yamlQuoted(w.when)
	}
	return text
}

// index finds the calls that each candidate has a say about, by a policy with
// all of them. Of what was denied before, which may be much, it keeps no more.
func (f *suggester) index(denied iter.Seq[*Recorded]) {
	if len(f.candidates) == 0 {
		return
	}
	var rules []string
	byName := map[string]*candidate{}
	for i, c := range f.candidates {
		name := "suggested rule " + strconv.Itoa(i)
		byName[name] = c
		rules = append(rules, c.rule(name))
	}
	all := f.p.with(fileOf(rules...))
	if all == nil {
		f.candidates = nil
		return
	}
	touch := func(call *recordedCall) {
		_, v, _ := all.again(call.Recorded)
		told := map[*candidate]bool{}
		for _, m := range v.Matches {
			if c := byName[m.Rule]; c != nil && !told[c] {
				told[c] = true
				c.touches = append(c.touches, call)
			}
		}
	}
	for _, call := range f.calls {
		touch(call)
	}
	for c := range denied {
		if !f.isErased(c) && c.Gap == "" {
			touch(&recordedCall{Recorded: c})
		}
	}
}

// with is the policy with these rules added, nil if there is none.
func (f *suggester) with(list []*candidate) *Policy {
	if len(list) == 0 {
		return f.p
	}
	more := together(list)
	if more == nil {
		return nil
	}
	return f.p.changed(withRules(f.p.tiers, more))
}

// alone is a policy of these rules and nothing else that can be lifted.
func (f *suggester) alone(list []*candidate) *Policy {
	more := together(list)
	if more == nil {
		return nil
	}
	bare := &Policy{home: f.p.home, finalOnly: true}
	return bare.changed([]Tiered{{Tier: TierUser, File: more}})
}

// together is a file of several rules, nil if one of them is none. Each is read
// once, however often it is tried.
func together(list []*candidate) *File {
	var out File
	for i, c := range list {
		if c.file == nil {
			if c.file, _ = Parse("", []byte(fileOf(c.rule("")))); c.file == nil {
				return nil
			}
		}
		if i == 0 {
			out = *c.file
			out.rules = nil
		}
		out.rules = append(out.rules, c.file.rules...)
	}
	return &out
}

// choose adds, one after the other, the rule that saves the most prompts for each
// pattern that it takes.
func (f *suggester) choose() {
	for len(f.chosen) < f.o.Most {
		var best *candidate
		for _, c := range f.candidates {
			if c.banned {
				continue
			}
			f.countSaved(c)
			if !c.banned && c.gain >= f.o.Least && (best == nil || better(c, best) < 0) {
				best = c
			}
		}
		if best == nil {
			return
		}
		f.take(best)
	}
}

// better orders rules: more prompts a pattern first, then the narrower.
func better(a, b *candidate) int {
	return cmp.Or(
		b.gain*len(a.patterns)-a.gain*len(b.patterns),
		len(a.touches)-len(b.touches),
		len(a.patterns)-len(b.patterns),
		strings.Count(strings.Join(a.patterns, " "), "*")-strings.Count(strings.Join(b.patterns, " "), "*"),
		len(strings.Join(b.patterns, " "))-len(strings.Join(a.patterns, " ")),
	)
}

// countSaved counts the prompts that a rule would save besides those that are saved.
// One that would turn anything else is banned.
func (f *suggester) countSaved(c *candidate) {
	if c.fresh {
		return
	}
	c.fresh, c.gain = true, 0
	rest := slices.DeleteFunc(slices.Clone(c.patterns), func(p string) bool {
		return slices.ContainsFunc(f.chosen, func(o *candidate) bool { return slices.Contains(o.patterns, p) })
	})
	if len(rest) < len(c.patterns) {
		c.patterns, c.file = rest, nil
	}
	if len(c.patterns) == 0 {
		c.banned = true
		return
	}
	list := append(slices.Clone(f.chosen), c)
	with, alone := f.with(list), f.alone(list)
	if with == nil || alone == nil {
		c.banned = true
		return
	}
	for _, call := range c.touches {
		now, v, gap := with.again(call.Recorded)
		switch {
		case call.wants:
			if gap == "" && now.Effect == sayso.Allow && !call.saved {
				c.gain++
			}
			continue
		case gap == "" && v.Effect != sayso.Allow:
			if _, v, gap = alone.again(call.Recorded); gap == "" && (v.Effect != sayso.Allow || !call.Came.refused()) {
				continue
			}
		}
		c.banned = true
		return
	}
}

// take takes a rule in.
func (f *suggester) take(c *candidate) {
	f.chosen = append(f.chosen, c)
	c.banned = true
	with := f.with(f.chosen)
	for _, call := range c.touches {
		if call.wants && !call.saved {
			now, _, gap := with.again(call.Recorded)
			call.saved = gap == "" && now.Effect == sayso.Allow
		}
	}
	touched := touchedBy([]*candidate{c})
	for _, other := range f.candidates {
		other.fresh = other.fresh && !slices.ContainsFunc(other.touches, func(call *recordedCall) bool { return touched[call] })
	}
}

// saved counts the prompts that rules save.
func (f *suggester) saved(list []*candidate) int {
	with, n := f.with(list), 0
	if with == nil {
		return 0
	}
	for call := range touchedBy(list) {
		if !call.wants {
			continue
		}
		if now, _, gap := with.again(call.Recorded); gap == "" && now.Effect == sayso.Allow {
			n++
		}
	}
	return n
}

// touchedBy are the calls that some of the rules have a say about.
func touchedBy(list []*candidate) map[*recordedCall]bool {
	touched := map[*recordedCall]bool{}
	for _, c := range list {
		for _, call := range c.touches {
			touched[call] = true
		}
	}
	return touched
}

// prune drops rules that the others have made needless.
func (f *suggester) prune() {
	all := f.saved(f.chosen)
	for i := 0; i < len(f.chosen); {
		fewer := slices.Delete(slices.Clone(f.chosen), i, i+1)
		if n := f.saved(fewer); all-n < f.o.Least { // at least one
			f.chosen, all, i = fewer, n, 0
		} else {
			i++
		}
	}
}

// maxExamples is how many calls are told of a rule.
const maxExamples = 3

func (f *suggester) suggestions() []Suggestion {
	var out []Suggestion
	before := 0
	for i, c := range f.chosen {
		n := f.saved(f.chosen[:i+1])
		s := Suggestion{Patterns: c.patterns, When: c.when, Write: c.rule(""), Saves: n - before, Examples: []string{}}
		before = n
		for text := range examplesOf(c) {
			if s.Examples = append(s.Examples, text); len(s.Examples) == maxExamples {
				break
			}
		}
		out = append(out, s)
	}
	return out
}

// examplesOf yields what is shown of the prompts that a rule saves, each once.
func examplesOf(c *candidate) iter.Seq[string] {
	return func(yield func(string) bool) {
		told := map[string]bool{}
		for _, call := range c.touches {
			if call.wants && call.saved && !told[call.Text] {
				told[call.Text] = true
				if !yield(call.Text) {
					return
				}
			}
		}
	}
}
