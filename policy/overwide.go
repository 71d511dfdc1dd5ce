package policy

import (
	stdpath "path"
	"slices"
	"strings"
	"sync"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// wide reports whether a pattern has a star, or speaks of all arguments.
func (l *linter) wide(e *entry) bool {
	switch m := e.m; {
	case m.selector != nil || m.wild != "":
		return true
	case m.server != "":
		return m.tool == "*"
	case m.path != nil:
		return slices.ContainsFunc(m.path.names, func(n string) bool { return strings.Contains(n, "*") })
	case m.url != nil:
		return m.url.host == "" && m.url.under == ""
	case l.rules[e] != nil:
		return l.rules[e].pattern.more
	}
	return e.m.operand == sayso.OperandNone
}

// threat is a call that a pattern may allow, and what it could do.
type threat struct {
	*sampleCall
	what string
}

// harmTexts are the dangers that no pattern with a star should allow, in words.
var harmTexts = map[sayso.Danger]string{
	sayso.DangerPrivilege:   "it allows commands with the rights of others",
	sayso.DangerDelete:      "it allows deleting what it does not name",
	sayso.DangerNetwork:     "it allows sending anything to other machines",
	sayso.DangerInterpreter: "it allows programs that it does not name",
	sayso.DangerOutside:     "it allows writing outside the workspace",
}

// overWide are the findings about patterns and defaults that allow what is
// dangerous.
func (l *linter) overWide() []Finding {
	var out []Finding
	for _, e := range l.entries {
		if e.effect != sayso.Allow || e.tier == TierRepo || !l.wide(e) {
			continue
		}
		if f := l.allowsHarm(e); f != nil {
			out = append(out, *f)
		}
	}
	for i := range l.p.fallbacks {
		if f := l.looseDefault(&l.p.fallbacks[i]); f != nil {
			out = append(out, *f)
		}
	}
	return out
}

// allowsHarm is the finding about a pattern that has a say in allowing what is
// dangerous.
func (l *linter) allowsHarm(e *entry) *Finding {
	for _, a := range l.threats(e) {
		if v := a.judge(l.p); v.Effect != sayso.Allow || !speaks(v, e) {
			continue
		}
		f := l.finding(FindingOverWide, e, a.sampleCall)
		f.What, f.Write = a.what, "name what is meant, without a star; or add an ask for what is not"
		return f
	}
	return nil
}

// speaks reports whether an entry spoke in a verdict.
func speaks(v sayso.Verdict, e *entry) bool {
	return slices.ContainsFunc(v.Matches, func(m sayso.Match) bool {
		return m.Effect == e.effect && m.File == e.says.File && m.Line == e.says.Line && m.Rule == e.says.Rule
	})
}

// threats are calls that a pattern may allow, and that nobody should with a
// star.
func (l *linter) threats(e *entry) []threat {
	var out []threat
	sc := l.machine.forEntry(e)
	add := func(c sayso.Call, d sayso.Danger, key, value string) {
		out = append(out, threat{sc.sampleCall(c, map[string]any{key: value}, sayso.PathFile), harmTexts[d]})
	}
	if r := l.rules[e]; r != nil && e.m.selector == nil {
		for _, use := range l.harmfulLines(e, r) {
			add(sayso.Call{Tool: "bash"}, use.danger, "command", use.line)
		}
	}
	for _, t := range l.sampleTools(e) {
		switch key := t.tool.Primary; t.tool.Kind {
		case sayso.KindDelete:
			add(t.call, sayso.DangerDelete, key, freshWord+"/"+otherWord+".txt")
		case sayso.KindWrite, sayso.KindEdit:
			add(t.call, sayso.DangerOutside, key, argumentOf(t.tool, "/etc/"+freshWord))
			add(t.call, sayso.DangerOutside, key, argumentOf(t.tool, sc.home+"/"+freshWord))
		case sayso.KindShell:
			for _, use := range harmful() {
				if e.m.selector != nil && isBash(t.tool) {
					add(t.call, use.danger, key, use.line)
				}
			}
		case sayso.KindFetch:
			a := sc.sampleCall(t.call, map[string]any{key: "https://" + freshWord + ".example/?q=" + otherWord}, sayso.PathFile)
			out = append(out, threat{a, "it allows addresses of any host, and an address can carry out what the agent has read"})
		case sayso.KindMCP:
			yes, c := true, t.call
			if c.Annotations == nil {
				c.Annotations = &sayso.Annotations{Destructive: &yes}
			}
			if isTrue(c.Annotations.Destructive) {
				out = append(out, threat{sc.sampleCall(c, map[string]any{}, sayso.PathFile), "it allows tools that their server itself calls destructive"})
			}
		}
	}
	return out
}

// harmfulLine is a line that does harm.
type harmfulLine struct {
	line   string
	danger sayso.Danger
}

// harmfulLines are lines that do harm and begin with the words of a pattern.
func (l *linter) harmfulLines(e *entry, r *commandRule) []harmfulLine {
	if len(r.pattern.words) == 0 {
		return harmful()
	}
	words := spellings(r.pattern)[0]
	line := strings.Join(words, " ")
	lines := append(shell.Uses(words...), line+" x")
	if len(shell.Inspect(line+" x").Commands) > 1 {
		lines = append(lines, l.wrapped(line)...)
	}
	var out []harmfulLine
	for _, line := range lines {
		for _, line := range [...]string{line, strings.ReplaceAll(line, " x", " /tmp/x")} {
			d := harmOf(line, len(strings.Join(words, " ")))
			// Who says more than the name of an interpreter has said which programs
			// are meant, and only those from elsewhere are too much.
			if d == sayso.DangerInterpreter && (e.when != nil || len(words) > 1) && !strings.Contains(line, "/tmp/") {
				continue
			}
			if d != "" {
				out = append(out, harmfulLine{line, d})
			}
		}
	}
	return out
}

// wrapped are lines in which a wrapper runs what other patterns allow.
func (l *linter) wrapped(wrapper string) []string {
	var out []string
	for _, e := range l.entries {
		if r := l.rules[e]; r != nil && e.effect == sayso.Allow && len(r.pattern.words) > 0 && len(out) < maxLines {
			out = append(out, wrapper+" "+strings.Join(spellings(r.pattern)[0], " "))
		}
	}
	return out
}

// maxLines is how many lines are tried for one pattern.
const maxLines = 400

// harmOf is the harm that the first command of a line does behind its first
// bytes, which a pattern names; empty for none, and for lines that no allow
// covers.
func harmOf(line string, named int) sayso.Danger {
	var out sayso.Danger
	read := shell.Inspect(line)
	for i := range read.Commands {
		c := &read.Commands[i]
		if c.Beyond() != nil {
			return ""
		}
		for _, t := range c.Traits {
			if t.Kind == shell.Discards {
				continue // of work in hand, as git commit --amend does: what its name says
			}
			d := traitDangers[t.Kind]
			if i == 0 && harmTexts[d] != "" && (d != sayso.DangerInterpreter || t.Target != nil && t.Target.Span.From > named) && out == "" {
				out = d
			}
		}
	}
	return out
}

// harmful are lines of all programs of the tables that do harm.
var harmful = sync.OnceValue(func() []harmfulLine {
	var out []harmfulLine
	for _, line := range shell.Uses() {
		if d := harmOf(line, 0); d != "" {
			out = append(out, harmfulLine{line, d})
		}
	}
	return out
})

// looseDefault is the finding about a default that allows what is dangerous.
func (l *linter) looseDefault(d *defaultRule) *Finding {
	if d.m.Effect != sayso.Allow || d.tier == TierRepo {
		return nil
	}
	sc := l.machine
	if d.scope != nil {
		sc.workspace = stdpath.Clean(atHomeOf(d.scope.folder, d.scope.home))
	}
	for _, use := range harmful() {
		a := sc.sampleCall(sayso.Call{Tool: "bash"}, map[string]any{"command": use.line}, sayso.PathFile)
		v := a.judge(l.p)
		if v.Effect == sayso.Allow && v.Rule == d.m.Rule && v.Line == d.m.Line && v.File == d.m.File {
			return &Finding{
				Kind: FindingOverWide, Pattern: d.pattern(), What: harmTexts[use.danger], Write: "write ask, and a rule for each program that needs no person",
				Call: &a.call, Workspace: sc.workspace, Effect: v.Effect,
			}
		}
	}
	return nil
}
