package policy

import (
	"context"
	stdpath "path"
	"slices"
	"strconv"
	"strings"

	"github.com/sayso-dev/sayso"
)

// Change says what to write for a call to come out with another effect.
type Change struct {
	Effect sayso.Effect `json:"effect"`
	// Possible says that Write makes the call come out so. It was tried.
	Possible bool   `json:"possible"`
	Write    []Edit `json:"write"`
	Why      string `json:"why"` // why nothing can; empty if something can
}

// Edit is one thing to write.
type Edit struct {
	Do     string `json:"do"`     // add, insert (before Old), remove or replace
	Tier   Tier   `json:"tier"`   // whose file it is
	File   string `json:"file"`   // empty for a file of the person that is not there yet
	Line   int    `json:"line"`   // where Old stands, from 1; 0 for what is added
	Column int    `json:"column"` // from 1; 0 if only the line is known
	Under  string `json:"under"`  // the key of the file that it belongs under
	Old    string `json:"old"`    // what stands there
	Text   string `json:"text"`   // what to write; empty to remove
	// Rule is what the file calls the rule that Old belongs to, empty if nothing.
	Rule string `json:"rule,omitzero"`
	// Whole says that with what is removed goes its rule, which says nothing more.
	Whole bool `json:"whole,omitzero"`
}

// maxRounds is how often what is in the way of an effect is taken away.
const maxRounds = 24

// changeSearch is a search for what makes a call come out with an effect.
type changeSearch struct {
	p     *Policy
	call  sayso.Call
	facts sayso.Facts
	want  sayso.Effect

	tiers []Tiered
	edits []Edit
}

// changeTo finds the smallest change that makes a call come out with an effect.
func (p *Policy) changeTo(c sayso.Call, f sayso.Facts, want sayso.Effect) Change {
	a := &changeSearch{p: p, call: c, facts: f, want: want, tiers: p.tiers}
	out := Change{Effect: want, Write: []Edit{}}
	readings := p.readings(&c, &f)
	for _, s := range readings {
		if m, ok := s.final(); ok && want != sayso.Deny {
			out.Why = "nothing can: a final built-in denies it, " + m.Rule
			return out
		}
	}
	for range maxRounds {
		p := p.changed(a.tiers)
		if p == nil {
			break
		}
		effect := a.judge(p)
		if effect == want || a.add(p) {
			a.markWholeRules()
			out.Possible, out.Write = true, append(out.Write, a.edits...)
			return out
		}
		if why := a.unliftable(p); why != "" {
			out.Why = why
			return out
		}
		if !a.clear(p) {
			break
		}
	}
	out.Why = readings[0].unallowable(want)
	return out
}

// judge is how the call comes out under a policy.
func (a *changeSearch) judge(p *Policy) sayso.Effect {
	return p.Judge(context.Background(), a.call, a.facts).Effect
}

// add looks for a rule that makes the call come out as wanted, the one that says
// the least first.
func (a *changeSearch) add(p *Policy) bool {
	for _, patterns := range p.readings(&a.call, &a.facts)[0].proposals(a.want) {
		if !a.works(p, patterns) {
			continue
		}
		for i := 0; i < len(patterns) && len(patterns) > 1; {
			if fewer := slices.Delete(slices.Clone(patterns), i, i+1); a.works(p, fewer) {
				patterns = fewer
			} else {
				i++
			}
		}
		a.edits = append(a.edits, Edit{Do: "add", Tier: TierUser, File: p.own(), Under: "rules", Text: ruleText(a.want, patterns)})
		return true
	}
	return false
}

func (a *changeSearch) works(p *Policy, patterns []string) bool {
	with := p.with(fileOf(ruleText(a.want, patterns)))
	return with != nil && a.judge(with) == a.want
}

// unliftable says which floor keeps the call from coming out as wanted; empty
// if none does. The floors of redirections can be lifted where the policy names
// paths.
func (a *changeSearch) unliftable(p *Policy) string {
	for _, s := range p.readings(&a.call, &a.facts) {
		for _, o := range p.doubts(s) {
			if _, ok := o.s.final(); ok && a.want != sayso.Deny {
				return "nothing can: the call may be one that a final built-in denies, " + o.m.Rule
			}
		}
		if why := a.floorOf(p, s); why != "" {
			return why
		}
	}
	return ""
}

// floorOf says which floor of a reading does.
func (a *changeSearch) floorOf(p *Policy, s *subject) string {
	for _, m := range p.floors(s) {
		if m.Effect >= a.want {
			continue
		}
		redirected := m.Rule == floorWrite.Rule || m.Rule == floorRead.Rule
		if redirected && len(p.rootsHold(s)) > 0 {
			continue
		}
		why := "nothing can: no rule is looser than the built-in floor " + quoted(m.Rule) + " (" + m.Reason + ")"
		if redirected {
			why = "no rule can: " + m.Reason + "; a path under sandbox.paths with mode: rw and write_approval: false could, and then all that is in no such path is denied"
		}
		return why
	}
	return ""
}

// unallowable says why no rule makes the call come out as wanted.
func (s *subject) unallowable(want sayso.Effect) string {
	switch {
	case want == sayso.Allow && s.kind == sayso.KindShell && !s.readsCommands():
		return "nothing can: no allow covers the commands of a shell that nobody here can read, but for their exact text"
	case want == sayso.Allow && s.guessed:
		return "nothing can: it is not certain which server the tool belongs to"
	}
	return "no pattern can be written that speaks of this call and allows it"
}

// clearDefaults makes the defaults that deny ask. None is made to allow: that
// would be about far more than the call. It reports whether it changed one.
func (a *changeSearch) clearDefaults(p *Policy, s *subject) bool {
	if a.want != sayso.Ask {
		return false
	}
	var where []location
	for i := range p.fallbacks {
		f := &p.fallbacks[i]
		if f.m.Effect >= a.want || !f.scope.holds(s, sayso.Deny) || f.shell != (s.kind == sayso.KindShell && p.saysShell(s, f.file)) {
			continue
		}
		at := location{tier: f.tier, position: position{f.m.Line, 0}}
		if f.tier == TierRepo {
			at.workspace = f.scope.folder
		}
		where = append(where, at)
		edit := Edit{Do: "replace", Tier: f.tier, File: f.m.File, Line: f.m.Line, Old: f.m.Rule, Text: "default: " + a.want.String()}
		if f.shell {
			edit.Under, edit.Text = "shell", "default: {allowed: true, approval: "+strconv.FormatBool(a.want == sayso.Ask)+"}"
		}
		a.edits = append(a.edits, edit)
	}
	a.tiers = withDefault(a.tiers, where, a.want)
	return len(where) > 0
}

// clearRoots makes sandbox.paths permit the path of the call, or the target of a
// redirection. It reports whether it changed something.
func (a *changeSearch) clearRoots(p *Policy, s *subject) bool {
	for _, r := range p.rootsHold(s) {
		if blocked := a.blocked(p, s, r); len(blocked) > 0 {
			return a.widen(r, s, blocked[0]) || a.unroot(r)
		}
	}
	return false
}

// blocked are the places that a part of the policy keeps the call from.
func (a *changeSearch) blocked(p *Policy, s *subject, r *rootRules) []*sayso.PathFact {
	var out []*sayso.PathFact
	if s.operand == sayso.OperandPath {
		for i := range s.facts.Operands {
			o := &s.facts.Operands[i]
			if o.Arg != s.tool.Primary || o.Resolved == "" || i > 0 && s.call.Host == "" && s.otherReading(i) {
				continue
			}
			if m, _ := r.judge(s, o); m.Effect < a.want {
				out = append(out, o)
			}
		}
		return out
	}
	if !s.readsCommands() {
		return nil
	}
	for i := range s.line().Redirects {
		red := &s.line().Redirects[i]
		if m, held := p.redirect(s, red); !held || m.Rule != floorWrite.Rule && m.Rule != floorRead.Rule {
			continue
		}
		places, _ := s.places(red.Target, red.Dirs)
		out = append(out, places...)
	}
	return out
}

// widen has a path of sandbox.paths permit a place, or names one more. It
// reports whether that helps.
func (a *changeSearch) widen(r *rootRules, s *subject, o *sayso.PathFact) bool {
	root, ok := s.rootOf(o.Resolved, r.roots)
	do, old := "replace", root.Name
	if !ok {
		do, old = "add", ""
		root = sayso.PathRoot{Name: unusedName(r.roots), Read: sayso.Allow, Write: sayso.Deny, WriteSaid: true}
		folder := stdpath.Dir(o.Resolved)
		root.Root = folder
		if rest, ok := strings.CutPrefix(folder, s.facts.Workspace+"/"); ok && s.facts.Workspace != "" {
			root.Root = "./" + rest
		} else if folder == s.facts.Workspace {
			root.Root = "."
		}
		a.facts.Roots = append(slices.Clip(a.facts.Roots), sayso.RootFact{Root: root.Root, Resolved: folder})
	}
	if s.operand == sayso.OperandPath && s.kind.ReadOnly() {
		root.Read, root.ReadSaid = a.want, true
	} else {
		root.Write, root.WriteSaid = a.want, true
	}
	if !suffixed(o, root.Suffixes) {
		root.Suffixes = withSuffix(root.Suffixes, o.Resolved)
	}
	changed := *r
	changed.roots = (&pathPart{rules: sayso.PathRules{Roots: r.roots}}).with(root).rules.Roots
	if s.operand == sayso.OperandPath {
		again := *s
		again.facts = &a.facts
		if m, _ := changed.judge(&again, o); m.Effect < a.want {
			return false
		}
	} else if slices.EqualFunc(changed.roots, r.roots, func(a, b sayso.PathRoot) bool { return rootText(a) == rootText(b) }) {
		return false
	}
	at := location{tier: r.tier, position: position{r.line, 0}}
	if r.tier == TierRepo {
		at.workspace = r.scope.folder
	}
	a.tiers = withRoot(a.tiers, at, root)
	a.edits = append(a.edits, Edit{Do: do, Tier: r.tier, File: r.file, Line: root.Line, Under: "sandbox.paths", Old: old, Text: rootText(root)})
	return true
}

// unroot takes sandbox.paths of a part away, with the rules that name its paths.
func (a *changeSearch) unroot(r *rootRules) bool {
	at := location{tier: r.tier, position: position{r.line, 0}}
	if r.tier == TierRepo {
		at.workspace = r.scope.folder
	}
	gone := []location{at}
	edits := []Edit{{Do: "remove", Tier: r.tier, File: r.file, Line: r.line, Under: "sandbox", Old: "paths"}}
	for _, t := range a.tiers {
		if t.Tier != r.tier || t.Workspace != at.workspace {
			continue
		}
		for _, p := range t.File.every() {
			if p.shell == nil {
				continue
			}
			for i, rule := range p.shell.rules.Rules {
				if len(rule.Paths) > 0 {
					gone = append(gone, t.at(p.shell.places[i]))
					edits = append(edits, Edit{
						Do: "remove", Tier: r.tier, File: r.file, Line: p.shell.places[i].line, Column: p.shell.places[i].column,
						Under: "shell.rules", Old: strings.Join(rule.Words, " "),
					})
				}
			}
		}
	}
	a.edits = append(a.edits, edits...)
	a.tiers = withoutPlaces(a.tiers, gone)
	return true
}

// unusedName is a name that no path has.
func unusedName(roots []sayso.PathRoot) string {
	for n := 0; ; n++ {
		name := "more"
		if n > 0 {
			name += strconv.Itoa(n + 1)
		}
		if _, taken := (sayso.PathRules{Roots: roots}).Named(name); !taken {
			return name
		}
	}
}

// withSuffix adds the ending of a name; a name without one takes any ending.
func withSuffix(suffixes []string, name string) []string {
	if end := stdpath.Ext(name); len(end) > 1 && len(end) < len(stdpath.Base(name)) {
		return append(slices.Clip(suffixes), end)
	}
	return nil
}

// rootText is a path of sandbox.paths as it is written.
func rootText(root sayso.PathRoot) string {
	text := root.Name + ": {root: " + yamlQuoted(root.Root)
	if root.Write != sayso.Deny {
		text += ", mode: rw"
		if root.WriteSaid {
			text += ", write_approval: " + strconv.FormatBool(root.Write == sayso.Ask)
		}
	}
	if root.ReadSaid {
		text += ", read_approval: " + strconv.FormatBool(root.Read == sayso.Ask)
	}
	if len(root.Suffixes) > 0 {
		quotedAll := make([]string, len(root.Suffixes))
		for i, end := range root.Suffixes {
			quotedAll[i] = yamlQuoted(end)
		}
		text += ", suffixes: [" + strings.Join(quotedAll, ", ") + "]"
	}
	return text + "}"
}
