package policy

import (
	stdpath "path"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// approverVerbs are the verbs of our own program with which a person answers,
// administers or takes the gate away. An agent that may use them could approve
// itself.
var approverVerbs = set(
	"approve", "deny", "prompt", "watch", "mode", "off", "lock", "token", "open", "login", "service", "uninstall", "init",
	"restore", "backup", "serve",
)

// approverVerbPairs are such verbs of two words. The second word alone means
// nothing.
var approverVerbPairs = map[string]map[string]bool{
	"session": set("policy"),
	"grants":  set("revoke"),
	"grant":   set("revoke"),
	"policy":  set("trust", "init"),
	"log":     set("erase", "archive", "export"),
	"notices": set("retry", "test", "carry"),
	"tools":   set("accept", "keep"),
	"mcp":     set("login", "logout"),
}

// ownCommand is the final denial of a command with which an agent would answer
// its own requests.
var ownCommand = sayso.Match{
	Effect: sayso.Deny, Cause: sayso.CauseBuiltin, Rule: "agents do not answer for themselves",
	Reason: "the command runs sayso to answer or to administer, which only a person may",
}

// ownHidden asks about a command that names our program in a way that cannot
// be read to its end.
var ownHidden = sayso.Match{
	Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood, Rule: "agents do not answer for themselves", Person: true,
	Reason: "the command names sayso together with text that is only known when it runs",
}

// ownState is the final denial of a path into our own state.
var ownState = sayso.Match{
	Effect: sayso.Deny, Cause: sayso.CauseBuiltin, Rule: "the state of sayso is its own",
	Reason: "the path lies where sayso keeps its log, its tokens and its configuration",
}

// ownAround is the final denial of a call that would go through our state.
var ownAround = sayso.Match{
	Effect: sayso.Deny, Cause: sayso.CauseBuiltin, Rule: "the state of sayso is its own",
	Reason: "the folder holds the one where sayso keeps its log, its tokens and its configuration; name a folder beside it",
}

// final returns the built-in denial that nothing can lift.
func (s *subject) final() (sayso.Match, bool) {
	if s.kind == sayso.KindShell {
		if m, ok := s.finalCommand(); ok {
			return m, true
		}
	}
	if s.operand != sayso.OperandPath {
		return sayso.Match{}, false
	}
	ours := false
	for written := range s.eachWritten {
		ours = ours || s.inState(written)
	}
	for _, o := range s.facts.Operands {
		ours = ours || s.inState(o.Resolved)
	}
	if !ours && s.aroundState() {
		return spanned(ownAround, 0, len(s.arg)), true
	}
	return spanned(ownState, 0, len(s.arg)), ours
}

// aroundState reports whether a search, a list or a deletion would go through
// one of our folders.
func (s *subject) aroundState() bool {
	if !s.searches() && s.kind != sayso.KindDelete {
		return false
	}
	for _, o := range s.facts.Operands {
		for _, dir := range s.facts.State {
			if o.State != sayso.PathFile && sayso.Beneath(strings.ToLower(o.Resolved), strings.ToLower(dir)) {
				return true
			}
		}
	}
	return false
}

// inState reports whether a path lies in one of our folders, on a file system
// that may not tell cases apart.
func (s *subject) inState(p string) bool {
	for _, dir := range s.facts.State {
		if sayso.Beneath(dir, p) || len(p) >= len(dir) && strings.EqualFold(p[:len(dir)], dir) && sayso.Beneath(p[:len(dir)], p) {
			return true
		}
	}
	return false
}

func spanned(m sayso.Match, from, to int) sayso.Match {
	m.Span = [2]int{from, to}
	return m
}

// finalCommand looks for our program, and for our folders, in a command.
func (s *subject) finalCommand() (sayso.Match, bool) {
	text := s.arg
	if s.operand != sayso.OperandCommand {
		text = string(s.call.Args) // a shell of an unknown shape
	}
	for _, dir := range s.facts.State {
		if at := indexFolder(text, dir); at >= 0 {
			return spanned(ownState, at, at+len(dir)), true
		}
	}
	if s.operand == sayso.OperandCommand && (s.names().plainly || s.names().state && s.leadsToState()) {
		return spanned(ownState, 0, len(text)), true
	}
	if span, ok := s.ownPlain(); ok {
		return within(ownCommand, span), true
	}
	if s.operand != sayso.OperandCommand {
		return spanned(ownCommand, 0, len(text)), namesUs(text) && mentions(text)
	}
	if !s.namedUs() {
		return sayso.Match{}, false
	}
	return s.ownPrograms(text)
}

// leadsToState reports whether a word of a command, or the target of a
// redirection, leads into one of our folders from where the command runs.
func (s *subject) leadsToState() bool {
	if !s.readsCommands() {
		return false
	}
	l := s.line()
	leads := func(w shell.Word, dirs []shell.Dir) bool {
		names, _ := s.wordNames(w, dirs)
		return slices.ContainsFunc(names, func(name string) bool { return s.inState(stdpath.Clean(name)) })
	}
	for i := range l.Commands {
		c := &l.Commands[i]
		if slices.ContainsFunc(c.Operands(), func(w shell.Word) bool { return leads(w, c.Dirs) }) {
			return true
		}
	}
	return slices.ContainsFunc(l.Redirects, func(r shell.Redirect) bool { return r.Kind != shell.Body && leads(r.Target, r.Dirs) })
}

// indexFolder returns where a text names a folder or something in it, or -1.
func indexFolder(text, dir string) int {
	for from := 0; len(dir) > 1; {
		at := strings.Index(text[from:], dir)
		if at < 0 {
			break
		}
		at += from
		if end := at + len(dir); end == len(text) || text[end] != '.' && notName(rune(text[end])) {
			return at
		}
		from = at + 1
	}
	return -1
}

// namesUs reports whether the name of our program is in the text, as it is or
// once quotes, backslashes and the line ends that they take away are gone. It is
// cheap, for nearly every command does not.
func namesUs(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i]|0x20 == 's' && goesOn(text[i+1:], "ayso") {
			return true
		}
	}
	return false
}

// goesOn reports whether a text begins with the rest of a name, in any case,
// past quotes and backslashes.
func goesOn(text, name string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\'' || c == '"' || c == '\\':
		case c == '\n' && i > 0 && text[i-1] == '\\':
		case c|0x20 != name[0]:
			return false
		case len(name) == 1:
			return true
		default:
			name = name[1:]
		}
	}
	return false
}

// namedUs reports whether the name of our program is in the command, found out
// once.
func (s *subject) namedUs() bool {
	if s.us == 0 {
		s.us = -1
		if namesUs(s.arg) {
			s.us = 1
		}
	}
	return s.us > 0
}

// ownPrograms looks at every place where a program may stand.
func (s *subject) ownPrograms(text string) (sayso.Match, bool) {
	runsText := false
	for i := range s.programs() {
		p := &s.progs[i]
		if isUs(p.name) && answers(p.words[1:]) && !s.isText(p) {
			span := p.span(len(p.words))
			return spanned(ownCommand, span[0], span[1]), true
		}
		runsText = runsText || interpreters[versionless(p.name)] || shells[p.name] || p.name == "alias"
	}
	if s.plain() {
		return spanned(ownCommand, 0, len(text)), s.handsOver()
	}
	// A text that is handed to a shell or an interpreter, by pipe, file or
	// argument, is judged by its words alone.
	if (runsText || s.broken) && mentions(text) {
		return spanned(ownCommand, 0, len(text)), true
	}
	return sayso.Match{}, false
}

// isUs reports whether a program is ours, as it is called in archives too.
func isUs(name string) bool {
	return strings.HasPrefix(name, "sayso") && !strings.HasPrefix(name, "sayso-hook")
}

// versionless takes the version off the name of an interpreter.
func versionless(name string) string { return strings.TrimRight(name, "0123456789.") }

// answers reports whether the arguments of our program hold one of the verbs.
// Options may stand before it, and their values look like verbs, so every word
// counts.
func answers(args []shell.Word) bool {
	verb := ""
	for _, a := range args {
		if strings.HasPrefix(a.Text, "-") && a.Text != "--undo" {
			continue
		}
		text := strings.ToLower(a.Text)
		if approverVerbs[text] || text == "--undo" || approverVerbPairs[verb][text] {
			return true
		}
		if approverVerbPairs[text] != nil {
			verb = text
		} else if verb == "" {
			verb = text
		}
	}
	return false
}

// mentions reports whether a text has the word sayso with one of the verbs
// after it.
func mentions(text string) bool {
	us, verb := false, ""
	for w := range strings.FieldsFuncSeq(text, notName) {
		w = strings.ToLower(w)
		switch {
		case w == "sayso":
			us = true
		case us && (approverVerbs[w] || approverVerbPairs[verb][w]):
			return true
		case us && approverVerbPairs[w] != nil:
			verb = w
		}
	}
	return false
}

func notName(r rune) bool {
	return r != '-' && r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
}

// hiddenOwn reports whether a command names us, or where we keep our state,
// beside something that is only known when it runs.
func (s *subject) hiddenOwn() bool {
	if s.kind != sayso.KindShell || s.operand != sayso.OperandCommand {
		return false
	}
	if indexFolder(s.arg, ".local/state/sayso") >= 0 || indexFolder(s.arg, ".config/sayso") >= 0 || strings.Contains(s.arg, "SAYSO_HOME") && !s.plain() {
		return true
	}
	if s.plain() {
		return (s.namedUs() || strings.Contains(s.arg, "$'")) && s.runsUsPlainly()
	}
	if !s.namedUs() {
		return false
	}
	for i := range s.programs() {
		p := &s.progs[i]
		if p.dynamic || isUs(p.name) && slices.ContainsFunc(p.words, func(w shell.Word) bool { return !w.Literal() }) {
			return true
		}
	}
	return s.broken
}

// control reports whether the operand of a call steers other programs, where
// it leads or as it is written.
func (s *subject) control() bool {
	for _, o := range s.facts.Operands {
		if o.Arg == s.tool.Primary && path.Control(o.Resolved) {
			return true
		}
	}
	return path.Control(s.arg) || slices.ContainsFunc(s.more, path.Control)
}

// credential reports whether the operand of a call is known to hold secrets.
func (s *subject) credential() bool {
	for _, o := range s.facts.Operands {
		if o.Arg == s.tool.Primary && o.Resolved != "" && path.Credential(o.Resolved) {
			return true
		}
	}
	return s.arg != "" && path.Credential(s.arg) || slices.ContainsFunc(s.more, path.Credential)
}
