package policy

import (
	"iter"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// A command can name a thing in more ways than can be listed. What is here
// finds the simple ones, so that a mode that answers by itself does not answer
// them. It is no proof against somebody who hides what they do.

// ownNamed asks about a command that may name our folders.
var ownNamed = sayso.Match{
	Effect: sayso.Ask, Cause: sayso.CauseNotUnderstood, Rule: "the state of sayso is its own", Person: true,
	Reason: "the command may name the folder where sayso keeps its log, its tokens and its configuration",
}

// floorSettings asks about a command that names the settings of an agent and is
// more than a look at them.
var floorSettings = sayso.Match{
	Effect: sayso.Ask, Cause: sayso.CauseBuiltin, Rule: "control files", Person: true,
	Reason: "the command may change the settings of an agent, and with them what asks sayso",
}

// agentFiles are the settings of agents, by the name of the file or its folder.
var agentFiles = set(".claude", ".claude.json", ".mcp.json", ".cursor", ".codex", ".gemini", ".opencode", "opencode.json", "opencode.jsonc",
	".copilot", "claude_desktop_config.json")

// readOnlyPrograms are programs that change nothing in the files that they are given.
var readOnlyPrograms = set("cat", "ls", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "rg", "ag", "wc", "stat", "file", "echo", "printf",
	"test", "[", "cd", "pwd", "jq", "tree", "du", "which", "type", "man", "true", "false")

// commandRunners are programs that run others, put together from what they are given.
var commandRunners = set("xargs", "parallel", "alias", "hash", "complete", "enable")

// ourFiles are what our folders hold.
var ourFiles = []string{"tokens", "tokens.json", "trusted.json", "policy.yaml", "sayso.db", "sayso.sock", "leases", "codes", "segments", "off.json", "locked"}

// obfuscated returns what a command asks for that names us, our folders or the
// settings of an agent otherwise than plainly.
func (s *subject) obfuscated() []sayso.Match {
	var out []sayso.Match
	if s.kind != sayso.KindShell {
		return nil
	}
	if s.hiddenOwn() || s.obfuscatedProgram() {
		out = append(out, ownHidden)
	}
	if s.names().state {
		out = append(out, ownNamed)
	}
	if s.names().agent() && s.changesAgent() {
		out = append(out, floorSettings)
	}
	return out
}

// obfuscatedProgram reports whether a program of the line may be ours, or may be
// made to run ours.
func (s *subject) obfuscatedProgram() bool {
	if s.plain() {
		return false // hiddenOwn has looked at its commands
	}
	named := s.namedUs()
	if named && (strings.ContainsAny(s.arg, "*?[{`$\\") || strings.Contains(s.arg, "-exec") || strings.Contains(s.arg, "-ok") || strings.Contains(s.arg, "!sayso")) {
		return true
	}
	if _, value, ok := strings.Cut(s.arg, "="); named && ok && mentions(value) {
		return true // a setting that is a command
	}
	if !named && !strings.ContainsAny(s.arg, "*?[{`$\\") {
		return false // nothing in it becomes our name
	}
	budget := maxSearch
	return anyProgram(s.arg, func(p *program) bool {
		return mayBeOurProgram(p, &budget) && !s.isText(p) || named && mayRunOurProgram(p, &budget) || budget < 0
	})
}

// isText reports whether what looks like a program stands in a here-document
// in which nothing expands, and whose reader runs nothing of it.
func (s *subject) isText(p *program) bool {
	if !s.readsCommands() || !s.line().Understood() || p.to != 0 || len(p.words) == 0 {
		return false
	}
	l, at := s.line(), p.words[0].Span.From
	for i := range l.Redirects {
		r := &l.Redirects[i]
		if r.Kind != shell.Body || !r.Target.Literal() || r.Command < 0 || at < r.Target.Span.From || at >= r.Target.Span.To {
			continue
		}
		class := l.Commands[r.Command].Class
		return class == shell.ReadOnly || class == shell.Ordinary
	}
	return false
}

// mayBeOurProgram and mayRunOurProgram take what they look at off a budget; a search that is
// given up counts as found.

// mayBeOurProgram reports whether what names a program may become our name: by a glob,
// by braces, by a variable.
func mayBeOurProgram(p *program, budget *int) bool {
	text := strings.ToLower(p.words[0].Text)
	if p.dynamic && (strings.Contains(text, `\`) || isUs(base(text))) {
		return true // the escapes of $'…'
	}
	name, wild := loosen(base(text))
	if !wild {
		return false
	}
	if !path.GlobsMeet(name, "sayso*") {
		return false
	}
	*budget -= len(p.words)
	return strings.Trim(name, "*") != "" || answers(p.words[1:])
}

// mayRunOurProgram reports whether a program of a line that names us may run us.
func mayRunOurProgram(p *program, budget *int) bool {
	if commandRunners[p.name] {
		return true
	}
	if readOnlyPrograms[p.name] {
		return false
	}
	*budget -= len(p.words)
	at := slices.IndexFunc(p.words[1:], func(w shell.Word) bool { return isUs(strings.ToLower(base(w.Text))) })
	return at >= 0 && answers(p.words[at+2:])
}

// changesAgent reports whether a command that names the settings of an agent may
// change them. Where all of the line is known, only what does more than look
// counts, with its own words.
func (s *subject) changesAgent() bool {
	if !s.readsCommands() || len(s.line().Problems) > 0 || !s.line().Understood() {
		return s.changes()
	}
	l := s.line()
	for i := range l.Redirects {
		if r := &l.Redirects[i]; r.Kind == shell.Write && (!r.Target.Literal() || namesAgent(shellWord{text: strings.ToLower(r.Target.Text)})) {
			return s.changes()
		}
	}
	for i := range l.Commands {
		c := &l.Commands[i]
		if c.Open || c.Has(shell.Inline) || slices.ContainsFunc(c.Words(), shell.Word.Unknown) {
			return s.changes() // what it does is not in its words
		}
		if changesFiles(c) && actsOnAgent(c) {
			return true
		}
	}
	return false
}

// changesFiles reports whether a command is more than a look at what it names.
func changesFiles(c *shell.Command) bool {
	return c.Class != shell.ReadOnly || c.Beyond() != nil || c.Has(shell.Writes) || c.Has(shell.Deletes)
}

// actsOnAgent reports whether a word of a command, or a folder that it may run
// in, names the settings of an agent. A glob of the shell fits no name that
// begins with a dot unless it does too.
func actsOnAgent(c *shell.Command) bool {
	for _, w := range c.Words() {
		glob := w.Dynamic&shell.Glob != 0
		if glob && globsAgent(w.Text) || !glob && quotedAgent(w.Text) {
			return true
		}
	}
	return slices.ContainsFunc(c.Dirs, func(d shell.Dir) bool {
		return d.Unknown || slices.ContainsFunc(d.Steps, func(step string) bool { return namesAgent(shellWord{text: strings.ToLower(step)}) })
	})
}

// quotedAgent is namesAgent for a word of which no star is the shell's: a name
// of nothing but dots and stars is a regular expression there.
func quotedAgent(text string) bool {
	for name := range strings.SplitSeq(strings.ToLower(text), "/") {
		if strings.Trim(name, ".*") != "" && namesAgent(shellWord{text: name}) {
			return true
		}
	}
	return false
}

// globsAgent reports whether a glob of the shell may stand for the settings of
// an agent.
func globsAgent(text string) bool {
	for name := range strings.SplitSeq(strings.ToLower(text), "/") {
		loose, _ := loosen(name)
		for file := range agentFiles {
			if name != "" && (file[0] != '.' || name[0] == '.') && path.GlobsMeet(loose, file) {
				return true
			}
		}
	}
	return false
}

// changes reports whether a command is more than a look at files.
func (s *subject) changes() bool {
	if s.onlyLooks() {
		return false
	}
	text := strings.NewReplacer("2>&1", "", ">/dev/null", "", "> /dev/null", "").Replace(s.arg)
	if s.broken || strings.Contains(text, ">") {
		return true
	}
	return slices.ContainsFunc(s.programs(), func(p program) bool { return p.dynamic || !readOnlyPrograms[p.name] })
}

// onlyLooks reports whether a line was read to its end, and all that is in it
// is known to change nothing.
func (s *subject) onlyLooks() bool {
	if !s.readsCommands() || !s.line().Understood() {
		return false
	}
	l := s.line()
	return !slices.ContainsFunc(l.Redirects, func(r shell.Redirect) bool { return r.Kind == shell.Write || r.Kind == shell.Network }) &&
		!slices.ContainsFunc(l.Commands, func(c shell.Command) bool {
			return !c.Program.Literal() || c.Beyond() != nil || c.Class != shell.ReadOnly && !readOnlyPrograms[c.Program.Text]
		})
}

// namesAgent reports whether a word may name the settings of an agent.
func namesAgent(w shellWord) bool {
	for name := range strings.SplitSeq(w.text, "/") {
		if name == "" || name[0] != '.' && name[0] != 'o' && name[0] != '*' && strings.IndexByte(name, '*') < 0 {
			continue // none of them begins otherwise
		}
		if agentFiles[name] {
			return true
		}
		if !strings.Contains(name, "*") || name[0] != '.' && len(strings.Trim(name, "*")) < 2 {
			continue
		}
		for file := range agentFiles {
			if path.GlobsMeet(name, file) {
				return true
			}
		}
	}
	return false
}

// named is what the words of a command name, found out once.
type named struct {
	text      string // the command without quotes
	home, cwd string
	state     bool // one of our folders or something in it, perhaps
	plainly   bool // and without a doubt
}

// words yields the words.
func (n *named) words() iter.Seq[shellWord] { return shellWords(n.text, n.home, n.cwd) }

// agent reports whether a word may name the settings of an agent.
func (n *named) agent() bool {
	for w := range n.words() {
		if namesAgent(w) {
			return true
		}
	}
	return false
}

// names takes the words of the command of a call apart, once.
func (s *subject) names() *named {
	if s.named == nil {
		s.named = &named{text: unquoted(s.arg), home: s.home, cwd: s.facts.Cwd}
		s.nameState(s.named)
	}
	return s.named
}

// bases are the folders that words may be relative to: the working directory
// and those that the command enters.
func (n *named) bases(cwd string) []string {
	bases := []string{cwd}
	enters := false
	for w := range n.words() {
		if enters {
			if base := absolute(cwd, w.text); !slices.Contains(bases, base) {
				bases = append(bases, base)
			}
			if len(bases) == maxBases {
				break
			}
		}
		enters = entersNext[w.text]
	}
	return bases
}

// nameState looks for words that name one of our folders, from the working
// directory or from a folder that the command enters.
func (s *subject) nameState(n *named) {
	bases := n.bases(s.cwdFound())
	anyWord := slices.ContainsFunc(s.ourFolders(), func(dir string) bool { return sayso.Beneath(strings.ToLower(bases[0]), dir) })
	near := make([]bool, len(bases)) // a word that does not climb may name us from there
	for i, b := range bases {
		near[i] = s.nearOurs(b)
	}
	looked := make(map[shellWord]bool) // words that came before
	for w := range n.words() {
		if !anyWord && len(bases) == 1 && !strings.ContainsAny(w.text, "/*") || looked[w] {
			continue
		}
		looked[w] = true
		n.state = n.state || w.below != "" && s.namesUsThere("/**"+w.below)
		rooted := strings.HasPrefix(w.text, "/")
		for i, b := range bases {
			if !rooted && !near[i] && !strings.Contains(w.text, "..") {
				continue
			}
			if s.namesUsThere(absolute(b, w.text)) {
				n.state, n.plainly = true, n.plainly || w.plain
			}
			if n.plainly {
				return
			}
			if rooted {
				break
			}
		}
	}
}

// cwdFound is the directory of the call as it was found, or as it was given.
func (s *subject) cwdFound() string {
	if s.facts.Cwd != "" {
		return s.facts.Cwd
	}
	return s.call.Cwd
}

// nearOurs reports whether what lies in a folder may be ours: it holds one of
// our folders, lies in one, or stands for several.
func (s *subject) nearOurs(folder string) bool {
	folder = strings.ToLower(folder)
	return strings.Contains(folder, "*") || folder == "" || slices.ContainsFunc(s.ourFolders(), func(dir string) bool {
		return sayso.Beneath(folder, dir) || sayso.Beneath(dir, folder)
	})
}

// ourFolders are our folders in lower case, worked out once.
func (s *subject) ourFolders() []string {
	if s.ours == nil {
		s.ours = make([]string, len(s.facts.State))
		for i, dir := range s.facts.State {
			s.ours[i] = strings.ToLower(dir)
		}
	}
	return s.ours
}

// maxBases is how many folders words are taken to be relative to.
const maxBases = 8

// entersNext are the words behind which a folder stands that others are
// relative to.
var entersNext = set("cd", "pushd", "-c", "--directory", "--work-tree")

// namesUsThere reports whether an absolute pattern may name one of our folders
// or something in it. One that may stand anywhere must end in a name of ours.
func (s *subject) namesUsThere(pattern string) bool {
	if strings.Contains(pattern, "/**/") {
		return s.namesUsAnywhere(strings.Split(pattern, "/"))
	}
	return slices.ContainsFunc(s.ourFolders(), func(dir string) bool { return fitsBeneath(dir, pattern) })
}

// fitsBeneath compares the names of a folder with the first ones of a pattern.
func fitsBeneath(dir, pattern string) bool {
	for dir != "" {
		var name, wanted string
		name, dir, _ = strings.Cut(dir, "/")
		if pattern == "" && name != "" {
			return false
		}
		wanted, pattern, _ = strings.Cut(pattern, "/")
		if name != wanted && !glob(wanted, name) {
			return false
		}
	}
	return true
}

// maxNames is how many names of a word are compared; our folders lie nearer.
const maxNames = 40

func (s *subject) namesUsAnywhere(names []string) bool {
	from := slices.Index(names, "**") + 2
	for n := from; n <= min(len(names), maxNames); n++ {
		last := names[n-1]
		if strings.Trim(last, "*") == "" || !strings.Contains(last, "*") && !s.lastOfOurs(last) {
			continue
		}
		for _, place := range s.ourPlaces() {
			if fits(names[1:n], place) {
				return true
			}
		}
	}
	return false
}

// lastOfOurs reports whether one of our places ends in a name.
func (s *subject) lastOfOurs(name string) bool {
	return slices.Contains(ourFiles, name) || slices.ContainsFunc(s.ourFolders(), func(dir string) bool { return base(dir) == name })
}

// ourPlaces are our folders and what is in them, without the slash in front,
// worked out once.
func (s *subject) ourPlaces() []string {
	if s.hold != nil {
		return s.hold
	}
	places := make([]string, 0, len(s.facts.State)*(1+len(ourFiles)))
	for _, dir := range s.facts.State {
		dir = strings.Trim(strings.ToLower(dir), "/")
		places = append(places, dir)
		for _, file := range ourFiles {
			places = append(places, dir+"/"+file)
		}
	}
	s.hold = places
	return places
}
