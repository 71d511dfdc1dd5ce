package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	inspect "github.com/sayso-dev/sayso/inspect/path"
)

// rootRules is what a part of a file says of files: beneath which roots they may
// be read and written.
type rootRules struct {
	roots []sayso.PathRoot
	file  string
	line  int
	tier  Tier
	scope *scope
}

// rootsHold returns what is said of files where the call would run.
func (p *Policy) rootsHold(s *subject) []*rootRules {
	var out []*rootRules
	for _, r := range p.rooted {
		if r.scope.holds(s, sayso.Deny) {
			out = append(out, r)
		}
	}
	return out
}

// denied is the denial of a path outside of what a file permits.
func (r *rootRules) denied(reason string) sayso.Match {
	return sayso.Match{Effect: sayso.Deny, Cause: sayso.CauseRule, Rule: "sandbox.paths", File: r.file, Line: r.line, Reason: reason}
}

// pathSaid returns what the roots say of the path of a call: said is what holds
// like a rule, unsaid what holds only where no rule speaks.
func (p *Policy) pathSaid(s *subject) (said, unsaid []sayso.Match) {
	unread := !s.state.understood()
	if s.operand != sayso.OperandPath || unread && !s.tool.Patch {
		return nil, nil
	}
	for _, r := range p.rootsHold(s) {
		for i := range s.facts.Operands {
			o := &s.facts.Operands[i]
			if o.Arg != s.tool.Primary || o.Resolved == "" || i > 0 && s.call.Host == "" && s.otherReading(i) {
				continue
			}
			m, explicit := r.judge(s, o)
			m.Span = [2]int{0, len(s.arg)}
			if r.tier == TierRepo && m.Effect == sayso.Allow {
				continue // a project's own file only tightens
			}
			if unread && m.Effect != sayso.Deny {
				continue // what a patch may name speaks against it alone
			}
			if explicit {
				said = append(said, m)
			} else {
				unsaid = append(unsaid, m)
			}
		}
	}
	return said, unsaid
}

// otherReading reports whether an operand is another reading of the path than
// that of the kernel, which stands first. Who names no host opens what it named
// as the kernel does; hosts may tidy it before.
func (s *subject) otherReading(i int) bool {
	first := slices.IndexFunc(s.facts.Operands, func(o sayso.PathFact) bool { return o.Arg == s.tool.Primary })
	return i != first && s.facts.Operands[i].Path == s.arg && s.facts.Operands[first].Path == s.arg
}

// judge says what the roots permit for a place. What the file does not say
// itself is not explicit.
func (r *rootRules) judge(s *subject, o *sayso.PathFact) (m sayso.Match, explicit bool) {
	if !s.known(r.roots) {
		m := floorNoRoots
		m.File, m.Line = r.file, r.line
		return m, true
	}
	root, ok := s.rootOf(o.Resolved, r.roots)
	if !ok {
		return r.denied("the path lies outside every path that the policy names"), true
	}
	effect, explicit := root.Write, root.WriteSaid
	what := "writing"
	if s.kind.ReadOnly() {
		effect, explicit, what = root.Read, root.ReadSaid, "reading"
	}
	m = r.denied("")
	m.Rule, m.Line = "sandbox.paths."+root.Name, root.Line
	switch {
	case effect == sayso.Deny:
		m.Reason = root.Name + " may be read and not written"
		return m, true
	case !suffixed(o, root.Suffixes):
		m.Reason = "the name does not end in " + strings.Join(root.Suffixes, " or ")
		return m, true
	}
	m.Effect, m.Reason = effect, what+" in "+root.Name+" needs no person"
	if effect == sayso.Ask {
		m.Reason = what + " in " + root.Name + " needs a person"
	}
	if !explicit {
		m.Cause = sayso.CauseDefault
	}
	if inner, ok := r.beneath(s, o, root, effect); ok {
		return inner, true
	}
	if why := s.unsettling(o, root); why != "" && m.Effect == sayso.Allow {
		m.Effect, m.Reason = sayso.Ask, why
	}
	return m, explicit
}

// unsettling says why what a root permits is asked about all the same; empty if
// nothing does.
func (s *subject) unsettling(o *sayso.PathFact, root sayso.PathRoot) string {
	switch {
	case s.leadsOutside(root):
		return root.Name + " is a link that leads out of the workspace"
	case o.State == sayso.PathSpecial:
		return "the path leads to what is neither a file nor a folder"
	case !s.harmless():
		return "what the search looks at cannot be told from its pattern"
	}
	return ""
}

// beneath is what holds for a folder whose parts have roots of their own, or
// whose files are not all of the kind that may be read: a search or a deletion
// goes through all of it.
func (r *rootRules) beneath(s *subject, o *sayso.PathFact, root sayso.PathRoot, effect sayso.Effect) (sayso.Match, bool) {
	if o.State != sayso.PathDir || s.kind != sayso.KindSearch && s.kind != sayso.KindList && s.kind != sayso.KindDelete {
		return sayso.Match{}, false
	}
	held, found := sayso.Match{Effect: effect}, false
	for _, inner := range r.roots {
		what := inner.Write
		if s.kind.ReadOnly() {
			what = inner.Read
		}
		if inner.Name == root.Name || what >= held.Effect || !sayso.Beneath(o.Resolved, s.root(inner.Root)) {
			continue
		}
		held, found = r.denied(inner.Name+" lies in the folder, and more is asked for it"), true
		if what == sayso.Deny {
			held.Reason = inner.Name + " lies in the folder, and may not be written"
		}
		held.Rule, held.Line, held.Effect = "sandbox.paths."+inner.Name, inner.Line, what
	}
	if found {
		return held, true
	}
	if len(root.Suffixes) > 0 && s.kind != sayso.KindList && effect == sayso.Allow {
		m := r.denied("the folder may hold files that do not end in " + strings.Join(root.Suffixes, " or "))
		m.Rule, m.Line, m.Effect = "sandbox.paths."+root.Name, root.Line, sayso.Ask
		return m, true
	}
	return sayso.Match{}, false
}

// suffixed reports whether the last name of a place has one of the endings. A
// folder has none and needs none.
func suffixed(o *sayso.PathFact, suffixes []string) bool {
	if len(suffixes) == 0 || o.State == sayso.PathDir {
		return true
	}
	name := path.Base(o.Resolved)
	return slices.ContainsFunc(suffixes, func(end string) bool { return len(name) > len(end) && strings.HasSuffix(name, end) })
}

// leadsOutside reports whether a root that is written as a folder of the workspace
// leads out of it.
func (s *subject) leadsOutside(root sayso.PathRoot) bool {
	if root.Root[0] == '/' || root.Root[0] == '~' || s.facts.Workspace == "" {
		return false
	}
	written := path.Join(s.facts.Workspace, root.Root)
	return sayso.Beneath(s.facts.Workspace, written) && !sayso.Beneath(s.facts.Workspace, s.root(root.Root))
}

// writable reports whether a command may write to a place without a question:
// every part of the policy that speaks of files must say so.
func (p *Policy) writable(s *subject, o *sayso.PathFact) bool {
	if o.State != sayso.PathFile && o.State != sayso.PathMissing || o.Links > 1 || inspect.Control(o.Resolved) {
		return false
	}
	permitted := false
	for _, r := range p.rootsHold(s) {
		if !s.known(r.roots) {
			return false
		}
		root, ok := s.rootOf(o.Resolved, r.roots)
		if !ok || root.Write != sayso.Allow || !suffixed(o, root.Suffixes) || s.leadsOutside(root) {
			return false
		}
		permitted = permitted || r.tier != TierRepo
	}
	return permitted
}

// readable reports whether a command may read from a place without a question
// as far as the roots go.
func (p *Policy) readable(s *subject, o *sayso.PathFact) bool {
	for _, r := range p.rootsHold(s) {
		if !s.known(r.roots) {
			return false
		}
		root, ok := s.rootOf(o.Resolved, r.roots)
		if !ok || root.Read != sayso.Allow || !suffixed(o, root.Suffixes) {
			return false
		}
	}
	return true
}
