package policy

import (
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/policy/internal/condition"
)

// entry is a pattern of a rule, ready to speak.
type entry struct {
	order  int // position among all patterns
	rule   int // position among all rules; a rule speaks once
	m      *matcher
	effect sayso.Effect
	says   sayso.Match
	title  string
	danger bool
	when   *condition.Condition
	whenAt position // of a condition
	// whenInLine says that the condition stands in one line.
	whenInLine bool
	tier       Tier
	scope      *scope // nil for everywhere
}

// index finds the patterns that may speak of a tool without looking at the
// others.
type index struct {
	rules    int
	entries  int
	named    map[string][]*entry     // tools of no server, by name
	served   map[serverTool][]*entry // tools of servers, by both names
	rest     []*entry                // everything with a star, and selectors
	commands commandIndex            // what is said of commands
}

type serverTool struct{ server, tool string }

func (x *index) add(e *entry) {
	e.order, e.rule = x.entries, x.rules
	x.entries++
	x.commands.add(e)
	switch m := e.m; {
	case m.name != "":
		if x.named == nil {
			x.named = make(map[string][]*entry)
		}
		x.named[m.name] = append(x.named[m.name], e)
	case m.server != "" && !strings.Contains(m.server+m.tool, "*") && !strings.Contains(m.tool, "__"):
		if x.served == nil {
			x.served = make(map[serverTool][]*entry)
		}
		at := serverTool{m.server, m.tool}
		x.served[at] = append(x.served[at], e)
	default:
		x.rest = append(x.rest, e)
	}
}

// match returns what the rules say of a call that is no command line, in the
// order of the files.
func (x *index) match(s *subject) []matched {
	lists := x.lists(s)
	var out []matched
	spoken, neared := -1, -1
	for e := next(&lists); e != nil; e = next(&lists) {
		if e.rule == spoken || !e.scope.holds(s, e.effect) {
			continue
		}
		span, sure := e.matches(s)
		m := e.says
		if !sure {
			why := ""
			if e.rule != neared {
				why = e.near(s)
			}
			if why == "" {
				continue
			}
			span, m = [2]int{0, len(s.arg)}, nearly(m, why)
			if why != nearSearch {
				m.Cause = sayso.CauseNotUnderstood
			}
		}
		if m, ok := e.applyCondition(s, m); ok {
			if sure {
				spoken = e.rule
			} else {
				neared = e.rule
			}
			m.Span = span
			out = append(out, matched{e: e, m: m, near: !sure})
		}
	}
	return out
}

// lists are the patterns that may speak of a call that is no command line.
func (x *index) lists(s *subject) [3][]*entry {
	lists := [3][]*entry{x.rest}
	if s.server != "" {
		lists[1] = x.served[serverTool{s.server, s.canonical}]
		return lists
	}
	lists[1] = x.against(s, x.named[s.canonical])
	if s.call.Tool != s.canonical {
		lists[2] = x.named[s.call.Tool]
	}
	return lists
}

// matched is what a pattern says of a call, or of a command of it.
type matched struct {
	e    *entry
	m    sayso.Match
	near bool // the pattern does not fit, but what it speaks of may be meant
}

// next takes the first entry off the lists.
func next(lists *[3][]*entry) *entry {
	first := -1
	for i, l := range lists {
		if len(l) > 0 && (first < 0 || l[0].order < lists[first][0].order) {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	e := lists[first][0]
	lists[first] = lists[first][1:]
	return e
}

// matches reports whether the pattern speaks of the call, and which bytes of
// its argument decided.
func (e *entry) matches(s *subject) (span [2]int, ok bool) {
	allow := e.effect == sayso.Allow
	if !e.m.matchTool(s, allow) || allow && e.m.guesses(s) {
		return span, false
	}
	if allow && s.kind == sayso.KindShell && e.m.operand != sayso.OperandCommand {
		return span, false // no allow covers commands that nobody has read
	}
	if e.m.operand == sayso.OperandNone {
		return [2]int{0, len(s.arg)}, !allow || e.namesAddress(s)
	}
	if e.unread(s) {
		if s.tool.Patch && !allow && e.m.operand == sayso.OperandPath && e.m.matchPath(s, false) {
			return span, true // of what the patch may name
		}
		return [2]int{0, len(s.arg)}, !allow && e.m.every()
	}
	return e.m.matchArg(s, allow)
}

// unread reports whether the pattern speaks of an argument that the call does
// not have, or not in a form that is understood.
func (e *entry) unread(s *subject) bool {
	return e.m.operand != sayso.OperandNone && (s.operand != e.m.operand || !s.state.understood() || s.state == argNone)
}

// every reports whether the pattern speaks of every argument, whatever it is.
func (m *matcher) every() bool {
	switch m.operand {
	case sayso.OperandCommand:
		return m.command != nil && len(m.command.words) == 0
	case sayso.OperandPath:
		return len(m.path.names) == 1 && m.path.names[0] == "**" && m.path.anchor != atHome
	case sayso.OperandURL:
		return m.url.scheme == "" && m.url.wide() && m.url.under == "" && m.url.port == 0 && m.url.anyPath
	}
	return m.glob == "*"
}

// Why a rule that does not fit a call may speak of it all the same.
const (
	nearArgument = "the argument that this rule speaks of cannot be read: "
	nearAddress  = "servers may read this path as one that this rule speaks of: "
	nearSearch   = "the search would go through what this rule denies: "
)

// near says why a pattern that does not fit a call may speak of it all the same,
// so that a person looks at it; empty if it does not.
func (e *entry) near(s *subject) string {
	why := ""
	switch {
	case e.effect == sayso.Allow:
	case e.unread(s):
		why = nearArgument
	case s.operand == sayso.OperandURL && e.m.url != nil && e.m.url.mayLead(s.address()):
		why = nearAddress
	case s.searches() && e.reaches(s):
		why = nearSearch
	}
	if why == "" || !e.m.matchTool(s, false) {
		return ""
	}
	return why
}

// reaches reports whether a pattern that does not fit a list or a search fits
// something that it may come upon.
func (e *entry) reaches(s *subject) bool {
	return s.operand == sayso.OperandPath && s.state.understood() && e.m.reaches(s)
}

// nearly is what a rule says of a call that may do what it speaks of: a deny asks
// a person, for nobody wanted to deny the rest.
func nearly(m sayso.Match, why string) sayso.Match {
	if m.Effect == sayso.Deny {
		m.Effect, m.Person, m.Reason = sayso.Ask, true, why+m.Reason
	}
	return m
}

// guesses reports whether the pattern speaks of a server where it is not certain
// which one the tool belongs to. The tool's whole name, written out, is no guess.
func (m *matcher) guesses(s *subject) bool {
	if !s.guessed || m.selector != nil && len(m.selector.servers) == 0 || m.selector == nil && m.server == "" {
		return false
	}
	return m.selector != nil || "mcp__"+m.server+"__"+m.tool != s.call.Tool
}

// matchTool compares names. A pattern without a server speaks of the tools of
// no server; if it has a star, all but an allow look at the whole name.
func (m *matcher) matchTool(s *subject, allow bool) bool {
	switch {
	case m.name != "":
		return true // found by name
	case m.selector != nil:
		return m.selector.matches(s, allow)
	case m.wild == "*":
		return true
	case m.wild != "":
		if s.server == "" {
			return glob(m.wild, s.canonical) || glob(m.wild, s.call.Tool)
		}
		return !allow && (glob(m.wild, s.canonical) || glob(m.wild, "mcp__"+s.server+"__"+s.canonical))
	case s.server == "":
		return false
	}
	if glob(m.server, s.server) && glob(m.tool, s.canonical) {
		return true
	}
	// Two servers and tools may spell the same name.
	return !allow && glob(m.server+"__"+m.tool, s.server+"__"+s.canonical)
}

// matchArg compares the argument.
func (m *matcher) matchArg(s *subject, allow bool) (span [2]int, ok bool) {
	span = [2]int{0, len(s.arg)}
	switch m.operand {
	case sayso.OperandCommand:
		return span, false // heard command by command
	case sayso.OperandPath:
		return span, m.matchPath(s, allow)
	case sayso.OperandURL:
		return span, m.matchURL(s, allow)
	}
	if allow {
		return span, glob(m.glob, s.arg)
	}
	return span, glob(m.glob, strings.ToLower(s.arg))
}
