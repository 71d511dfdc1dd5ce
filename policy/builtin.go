package policy

import (
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
)

// builtinDefault holds where no file sets a default.
var builtinDefault = sayso.Match{
	Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "default: ask",
	Reason: "no rule speaks about this call, so a person is asked",
}

// The floors: what no rule is looser than.
var (
	floorArgs = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood, Rule: "arguments must be readable", Person: true,
		Reason: "the arguments are not a JSON object that every reader reads alike",
	}
	floorMissing = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood, Rule: "arguments must be readable", Person: true,
		Reason: "the argument that this tool works on is missing",
	}
	floorBad = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood, Rule: "arguments must be readable", Person: true,
		Reason: "the argument that this tool works on is no text, or its name is there in another spelling",
	}
	floorNoFacts = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood, Rule: "paths must be known", Person: true,
		Reason: "where the path leads was not found out",
	}
	floorPath = sayso.Match{
		Effect: sayso.Deny, Cause: sayso.CauseBuiltin, Rule: "paths must lead somewhere",
		Reason: "the path is empty, too long, or leads nowhere that can be named",
	}
	floorControl = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseBuiltin, Rule: "control files", Person: true,
		Reason: "the file steers other programs: version control, an agent, an editor or a shell",
	}
	floorNames = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseBuiltin, Rule: "files with more than one name", Person: true,
		Reason: "the file has another name as well, and would change there too",
	}
	floorRoot = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseBuiltin, Rule: "the workspace itself", Person: true,
		Reason: "the call would delete the workspace, or a folder that it is in",
	}
	floorElsewhere = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "commands are allowed in the workspace alone",
		Reason: "the command would run outside the workspace, or it is not known where",
	}
	floorURL = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood, Rule: "addresses must be plain", Person: true,
		Reason: "programs may read this address differently",
	}
)

// The defaults that are stricter than that of a file.
var (
	defaultShell = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "commands are asked about",
		Reason: "nobody here can read the lines of this shell, and no rule has the exact text of this one",
	}
	defaultWrite = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "writes are asked about",
		Reason: "no rule allows this file to be changed",
	}
	defaultOutside = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "paths outside the workspace are asked about",
		Reason: "the path leads out of the workspace, and no rule speaks about it",
	}
	defaultLocal = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "local addresses are asked about",
		Reason: "the address is, or may be, on this machine or network, and no rule names it",
	}
	defaultDestructive = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseDefault, Rule: "destructive tools are asked about",
		Reason: "its server says that the tool is destructive",
	}
)

// The built-ins that speak where no rule does.
var (
	builtinRead = sayso.Match{
		Effect: sayso.Allow, Cause: sayso.CauseBuiltin, Rule: "reading inside the workspace",
		Reason: "reading inside the workspace needs no question",
	}
	builtinNotes = sayso.Match{
		Effect: sayso.Allow, Cause: sayso.CauseBuiltin, Rule: "bookkeeping",
		Reason: "the tool keeps the agent's own notes and touches nothing else",
	}
	builtinSecret = sayso.Match{
		Effect: sayso.Ask, Cause: sayso.CauseBuiltin, Rule: "credential files",
		Reason: "the file is known to hold keys, passwords or tokens",
	}
)

// builtinSearch asks about a search that shows lines of such files.
var builtinSearch = sayso.Match{
	Effect: sayso.Ask, Cause: sayso.CauseBuiltin, Rule: "credential files",
	Reason: "the folder holds files known to hold keys, passwords or tokens, and the search would show what is in them; a glob or a type for source files keeps it away from them",
}

// floors returns what holds whatever the rules say.
func (p *Policy) floors(s *subject) []sayso.Match {
	var out floorList
	add := func(m sayso.Match) {
		if out.has(&m) {
			return // once is enough, where it holds first
		}
		if m.Span == [2]int{} {
			m.Span = [2]int{0, len(s.arg)}
		}
		out = append(out, m)
	}
	if s.unlisted() {
		add(floorUnlisted)
	}
	if at := s.attachmentAt(); at >= 0 {
		add(spanned(floorAttached, at, at+1))
	}
	switch s.state {
	case argsBad:
		add(floorArgs)
	case argMissing:
		add(floorMissing)
	case argBad:
		add(floorBad)
		if s.tool.Patch {
			s.pathFloors(add) // of what it may name
		}
	case argGiven, argLeftOut:
		switch s.operand {
		case sayso.OperandCommand:
			p.commandFloors(s, &out, add)
		case sayso.OperandPath:
			s.pathFloors(add)
		case sayso.OperandURL:
			if why := s.address().Odd; why != "" {
				m := floorURL
				m.Reason += ": " + why
				add(m)
			}
		}
	}
	return out
}

// floorList are floors that hold.
type floorList []sayso.Match

// has reports whether a floor is among them, wherever it holds.
func (l floorList) has(m *sayso.Match) bool {
	for i := range l {
		if l[i].Rule == m.Rule && l[i].Cause == m.Cause {
			return true
		}
	}
	return false
}

// commandFloors looks at a command line; of a shell that is not bash, at what
// holds of any text.
func (p *Policy) commandFloors(s *subject, said *floorList, add func(sayso.Match)) {
	if s.readsCommands() {
		p.lineFloors(s, said, add)
	} else if at := strings.IndexFunc(s.arg, isInvisibleInCommand); at >= 0 {
		m := floorLine
		m.Reason = "the text holds a control character, or one that cannot be seen"
		add(spanned(m, at, at+1))
	}
	for _, m := range s.obfuscated() {
		add(m)
	}
	if s.isOutsideWorkspace() {
		add(floorElsewhere)
	}
}

// pathFloors looks at everything that the path may lead to.
func (s *subject) pathFloors(add func(sayso.Match)) {
	if s.state == argGiven {
		if bad, odd := s.spelled(); bad {
			add(floorPath)
			return
		} else if odd != "" {
			m := floorSpelling
			m.Reason += ": " + odd
			add(m)
		}
	}
	if s.removes {
		add(floorRemoves)
	}
	if s.leavesFolder() {
		add(floorStrays)
	}
	var known, lost, named, root bool
	for _, o := range s.facts.Operands {
		if o.Arg != s.tool.Primary {
			continue
		}
		known = true
		lost = lost || o.Resolved == "" || o.State == sayso.PathUnknown || o.Resolved[0] != '/'
		named = named || o.Links > 1 && o.State != sayso.PathDir
		root = root || sayso.Beneath(o.Resolved, s.facts.Workspace)
	}
	switch {
	case lost:
		add(floorPath)
	case !known || s.tool.Patch && s.facts.Truncated:
		add(floorNoFacts)
	}
	if s.kind.ReadOnly() {
		return
	}
	if s.control() {
		add(floorControl)
	}
	if named {
		add(floorNames)
	}
	if root && s.kind == sayso.KindDelete {
		add(floorRoot)
	}
}

// badPath reports whether no system call would take the path.
func badPath(p string) bool {
	if p == "" || len(p) > path.MaxPath || strings.IndexByte(p, 0) >= 0 {
		return true
	}
	for name := range strings.SplitSeq(p, "/") {
		if len(name) > path.MaxName {
			return true
		}
	}
	return false
}

func isTrue(b *bool) bool { return b != nil && *b }

// inside reports whether everything that the path may lead to is in the
// workspace.
func (s *subject) inside() bool {
	found := false
	for _, o := range s.facts.Operands {
		if o.Arg != s.tool.Primary {
			continue
		}
		if !sayso.Beneath(s.facts.Workspace, o.Resolved) || o.State == sayso.PathSpecial || o.State == sayso.PathUnknown {
			return false
		}
		found = true
	}
	return found
}

// builtin is what we say where no rule speaks.
func (s *subject) builtin() (sayso.Match, bool) {
	if !s.state.understood() || s.kind != s.tool.Kind {
		return sayso.Match{}, false
	}
	if s.tool.Bookkeeping {
		return builtinNotes, true
	}
	if s.operand != sayso.OperandPath {
		return sayso.Match{}, false
	}
	if s.credential() {
		return spanned(builtinSecret, 0, len(s.arg)), true
	}
	if s.showsSecrets() {
		return spanned(builtinSearch, 0, len(s.arg)), true
	}
	if s.kind.ReadOnly() && s.inside() && s.harmless() {
		return spanned(builtinRead, 0, len(s.arg)), true
	}
	return sayso.Match{}, false
}
