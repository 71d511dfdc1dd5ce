package policy

import (
	"context"
	stdpath "path"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// sampleCall is a generated call, with the facts about it.
type sampleCall struct {
	call  sayso.Call
	facts sayso.Facts
	plain bool // it is what the pattern that it is aimed at says, word for word
	fits  map[*entry]patternFit
	comes *outcome // by the policy that is looked at; nil until it was judged
}

func (a *sampleCall) subject(p *Policy) *subject {
	s := new(subject)
	s.of(&a.call, &a.facts, p.home)
	return s
}

func (a *sampleCall) judge(p *Policy) sayso.Verdict {
	return p.Judge(context.Background(), a.call, a.facts)
}

// sampleMachine is the machine of generated calls: no links anywhere, and a workspace.
type sampleMachine struct {
	home, workspace string
	roots           []string
}

// sampleMachine is a machine that no project of the policy is in.
func (p *Policy) sampleMachine() sampleMachine {
	s := sampleMachine{home: p.home, roots: p.Roots()}
	if s.home == "" {
		s.home = exampleHome
	}
	for _, s.workspace = range [...]string{s.home + "/project", "/srv/project", "/opt/project/" + freshWord} {
		inside := false
		for _, folder := range p.scopes() {
			inside = inside || sayso.Beneath(stdpath.Clean(atHomeOf(folder, p.home)), s.workspace)
		}
		if !inside {
			break
		}
	}
	return s
}

// scopes are the folders of the projects that the policy speaks of.
func (p *Policy) scopes() []string {
	var out []string
	for _, t := range p.tiers {
		if t.Workspace != "" {
			out = append(out, t.Workspace)
		}
		for _, part := range t.File.parts {
			out = append(out, part.folder)
		}
	}
	return out
}

// forEntry is the machine of what an entry speaks of.
func (s sampleMachine) forEntry(e *entry) sampleMachine {
	if e.scope != nil {
		s.workspace = stdpath.Clean(atHomeOf(e.scope.folder, e.scope.home))
	}
	return s
}

// facts are what would be gathered about a call.
func (s sampleMachine) facts(c sayso.Call, state sayso.PathState) sayso.Facts {
	cwd := stdpath.Clean(c.Cwd)
	f := sayso.Facts{Workspace: s.workspace, Cwd: cwd}
	for _, root := range s.roots {
		at := root
		if root[0] != '/' {
			at = s.workspace + "/" + root
		}
		f.Roots = append(f.Roots, sayso.RootFact{Root: root, Resolved: stdpath.Clean(at)})
	}
	add := func(arg, given, name string) {
		if name[0] != '/' {
			name = cwd + "/" + name
		}
		f.Operands = append(f.Operands, sayso.PathFact{Arg: arg, Path: given, Resolved: stdpath.Clean(name), State: state, Links: 1})
	}
	var sub subject
	sub.of(&c, &f, s.home)
	switch {
	case sub.operand == sayso.OperandPath && sub.arg != "":
		add(sub.tool.Primary, sub.arg, sub.arg)
	case sub.operand == sayso.OperandPath && sub.state == argLeftOut:
		add(sub.tool.Primary, ".", cwd)
	case sub.readsCommands():
		eachWord(sub.line(), func(w shell.Word, dirs []shell.Dir) {
			names, _ := sub.wordNames(w, dirs)
			for _, name := range names {
				add(sub.tool.Primary, name, name)
			}
		})
	}
	return f
}

// sampleCall makes a call there.
func (s sampleMachine) sampleCall(c sayso.Call, args map[string]any, state sayso.PathState) *sampleCall {
	c.Cwd = s.workspace
	text, err := jcs.Marshal(args)
	if err != nil {
		text = []byte("{}") // names that are no text are of no call
	}
	c.Args = text
	return &sampleCall{call: c, facts: s.facts(c, state)}
}

// patternFit is what a pattern says of a call that it fits.
type patternFit struct {
	effect sayso.Effect
	sure   bool // and not only perhaps
}

// fittingPatterns are the patterns that fit a call, whatever their conditions say, and
// whatever speaks before them.
func (p *Policy) fittingPatterns(s *subject) map[*entry]patternFit {
	out := map[*entry]patternFit{}
	add := func(e *entry, m sayso.Match, sure bool) {
		if old, ok := out[e]; !ok || m.Effect < old.effect || m.Effect == old.effect && sure {
			out[e] = patternFit{m.Effect, sure}
		}
	}
	if s.operand == sayso.OperandCommand && s.state == argGiven {
		p.fittingCommands(s, add)
		return out
	}
	lists := p.index.lists(s)
	for e := next(&lists); e != nil; e = next(&lists) {
		if !e.scope.holds(s, e.effect) {
			continue
		}
		if _, ok := e.matches(s); ok {
			add(e, e.says, true)
		} else if why := e.near(s); why != "" {
			add(e, nearly(e.says, why), false)
		}
	}
	return out
}

func (p *Policy) fittingCommands(s *subject, add func(*entry, sayso.Match, bool)) {
	j := &lineJudge{p: p, s: s, line: s.line(), rules: make([]int8, len(p.index.commands.all))}
	reads := s.readsCommands()
	for i := range j.line.Commands {
		c := &j.line.Commands[i]
		if c.By >= 0 && j.line.Commands[c.By].Has(shell.LooksUp) {
			continue
		}
		spelled := c.Spellings()
		p.index.commands.candidates(c, spelled, func(r *commandRule) {
			if r.effect == sayso.Allow && (!reads || r.tier == TierRepo) || !j.active(r) {
				return
			}
			switch r.fits(s, c, spelled) {
			case shell.Yes:
				add(r.entry, r.says, true)
			case shell.Perhaps:
				add(r.entry, perhaps(r.says), false)
			}
		})
	}
	if !j.line.Understood() || len(j.line.Commands) == 0 {
		for _, r := range p.index.commands.all {
			if r.effect == sayso.Allow || !j.active(r) || r.named != nil && r.effect != sayso.Deny {
				continue
			}
			if _, ok := s.mentioned(r.pattern); ok {
				add(r.entry, r.says, false)
			}
		}
	}
	if reads {
		return
	}
	for _, r := range p.index.commands.all {
		if r.exactly(s) {
			add(r.entry, r.says, true)
		}
	}
}
