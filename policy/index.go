package policy

import (
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
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
}

// index finds the patterns that may speak of a tool without looking at the
// others.
type index struct {
	rules   int
	entries int
	named   map[string][]*entry     // tools of no server, by name
	served  map[serverTool][]*entry // tools of servers, by both names
	rest    []*entry                // everything with a star, and selectors
}

type serverTool struct{ server, tool string }

func (x *index) add(ru *rule, m *matcher, says sayso.Match) {
	e := &entry{order: x.entries, rule: x.rules, m: m, effect: ru.effect, says: says, title: ru.title, danger: ru.danger}
	x.entries++
	switch {
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

// finish frees what only loading needed.
func (x *index) finish() { x.rest = slices.Clip(x.rest) }

// speak adds what the rules say to the verdict, in the order of the files.
func (x *index) speak(s *subject, v *sayso.Verdict) {
	lists := [3][]*entry{x.rest}
	if s.server != "" {
		lists[1] = x.served[serverTool{s.server, s.canonical}]
	} else {
		lists[1] = x.against(s, x.named[s.canonical])
		if s.call.Tool != s.canonical {
			lists[2] = x.named[s.call.Tool]
		}
	}
	spoken := -1
	var strictest sayso.Effect = sayso.Allow + 1
	for {
		e := next(&lists)
		if e == nil {
			return
		}
		if e.rule == spoken {
			continue
		}
		span, ok := e.matches(s)
		m := e.says
		if !ok {
			if !e.reaches(s) {
				continue
			}
			span, m = [2]int{0, len(s.arg)}, nearly(m)
		}
		spoken = e.rule
		m.Span = span
		v.Matches = append(v.Matches, m)
		if e.danger && !slices.Contains(v.Danger, sayso.DangerRule) {
			v.Danger = append(v.Danger, sayso.DangerRule)
		}
		if e.title != "" && e.effect < strictest {
			strictest, v.Title = e.effect, e.title
		}
	}
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
		return [2]int{0, len(s.arg)}, true
	}
	if s.operand != e.m.operand || !s.state.understood() || s.state == argNone {
		return [2]int{0, len(s.arg)}, !allow
	}
	return e.m.matchArg(s, allow)
}

// reaches reports whether a pattern that does not fit a list or a search fits
// something that it may come upon.
func (e *entry) reaches(s *subject) bool {
	return e.effect != sayso.Allow && s.operand == sayso.OperandPath && s.state.understood() && e.m.matchTool(s, false) && e.m.reaches(s)
}

// nearly is what a rule says of a search that may come upon what it speaks of:
// a deny asks a person, for nobody wanted to deny the rest.
func nearly(m sayso.Match) sayso.Match {
	if m.Effect == sayso.Deny {
		m.Effect, m.Person, m.Reason = sayso.Ask, true, nearReason+m.Reason
	}
	return m
}

// guesses reports whether the pattern speaks of a server where it is not certain
// which one the tool belongs to. The tool's whole name, written out, is no guess.
func (m *matcher) guesses(s *subject) bool {
	if !s.guessed || m.selector != nil && m.selector.server == "" || m.selector == nil && m.server == "" {
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
		return m.selector.matches(s)
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
		if !allow {
			return m.matchCommand(s)
		}
		if m.exact != s.arg {
			return span, false
		}
		s.strayed = !s.atHome()
		return span, !s.strayed
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
