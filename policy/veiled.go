package policy

import (
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/path"
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
var agentFiles = set(".claude", ".claude.json", ".mcp.json", ".cursor", ".codex", ".gemini", ".opencode", "opencode.json", "opencode.jsonc")

// looking are programs that change nothing in the files that they are given.
var looking = set("cat", "ls", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "rg", "ag", "wc", "stat", "file", "echo", "printf",
	"test", "[", "cd", "pwd", "jq", "tree", "du", "which", "type", "man", "true", "false")

// handsOn are programs that run others, put together from what they are given.
var handsOn = set("xargs", "parallel", "alias", "hash", "complete", "enable")

// ourFiles are what our folders hold.
var ourFiles = []string{"tokens", "tokens.json", "policy.yaml", "sayso.db", "sayso.sock", "leases", "codes", "segments", "off.json", "locked"}

// veiled returns what a command asks for that names us, our folders or the
// settings of an agent otherwise than plainly.
func (s *subject) veiled() []sayso.Match {
	var out []sayso.Match
	if s.kind != sayso.KindShell {
		return nil
	}
	if s.hiddenOwn() || s.veiledProgram() {
		out = append(out, ownHidden)
	}
	if s.names().state {
		out = append(out, ownNamed)
	}
	if slices.ContainsFunc(s.names().words, namesAgent) && s.changes() {
		out = append(out, floorSettings)
	}
	return out
}

// veiledProgram reports whether a program of the line may be ours, or may be
// made to run ours.
func (s *subject) veiledProgram() bool {
	named := s.namesUs(s.arg)
	if named && (strings.ContainsAny(s.arg, "*?[{`$\\") || strings.Contains(s.arg, "-exec") || strings.Contains(s.arg, "-ok") || strings.Contains(s.arg, "!sayso")) {
		return true
	}
	if _, value, ok := strings.Cut(s.arg, "="); named && ok && mentions(value) {
		return true // a setting that is a command
	}
	budget := maxSearch
	for i := range s.programs() {
		p := &s.progs[i]
		if mayBeUs(p, &budget) || named && runsUs(p, &budget) || budget < 0 {
			return true
		}
	}
	return false
}

// mayBeUs and runsUs take what they look at off a budget; a search that is
// given up counts as found.

// mayBeUs reports whether what names a program may become our name: by a glob,
// by braces, by a variable.
func mayBeUs(p *program, budget *int) bool {
	text := strings.ToLower(p.words[0].text)
	if p.dynamic && strings.Contains(text, `\`) {
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

// runsUs reports whether a program of a line that names us may run us.
func runsUs(p *program, budget *int) bool {
	if handsOn[p.name] {
		return true
	}
	if looking[p.name] {
		return false
	}
	*budget -= len(p.words)
	at := slices.IndexFunc(p.words[1:], func(w word) bool { return isUs(strings.ToLower(base(w.text))) })
	return at >= 0 && answers(p.words[at+2:])
}

// changes reports whether a command is more than a look at files.
func (s *subject) changes() bool {
	text := strings.NewReplacer("2>&1", "", ">/dev/null", "", "> /dev/null", "").Replace(s.arg)
	if s.broken || strings.Contains(text, ">") {
		return true
	}
	return slices.ContainsFunc(s.programs(), func(p program) bool { return p.dynamic || !looking[p.name] })
}

// namesAgent reports whether a word may name the settings of an agent.
func namesAgent(w shellWord) bool {
	for name := range strings.SplitSeq(w.text, "/") {
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
	words   []shellWord
	state   bool // one of our folders or something in it, perhaps
	plainly bool // and without a doubt
}

// names takes the words of the command of a call apart, once.
func (s *subject) names() *named {
	if s.named == nil {
		s.named = &named{words: shellWords(s.arg, s.home, s.facts.Cwd)}
		s.nameState(s.named)
	}
	return s.named
}

// nameState looks for words that name one of our folders, from the working
// directory or from a folder that the command enters.
func (s *subject) nameState(n *named) {
	cwd := s.facts.Cwd
	if cwd == "" {
		cwd = s.call.Cwd
	}
	bases := []string{cwd}
	for i, w := range n.words {
		if i > 0 && len(bases) < maxBases && entersNext[n.words[i-1].text] {
			bases = append(bases, absolute(cwd, w.text))
		}
	}
	anyWord := slices.ContainsFunc(s.facts.State, func(dir string) bool { return sayso.Beneath(strings.ToLower(cwd), strings.ToLower(dir)) })
	for _, w := range n.words {
		if !anyWord && len(bases) == 1 && !strings.ContainsAny(w.text, "/*") {
			continue
		}
		n.state = n.state || w.below != "" && s.namesUsThere("/**"+w.below)
		for _, b := range bases {
			if s.namesUsThere(absolute(b, w.text)) {
				n.state, n.plainly = true, n.plainly || w.plain
			}
			if n.plainly {
				return
			}
			if strings.HasPrefix(w.text, "/") {
				break
			}
		}
	}
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
	return slices.ContainsFunc(s.facts.State, func(dir string) bool { return fitsBeneath(strings.ToLower(dir), pattern) })
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
	for _, place := range s.ourPlaces() {
		for n := from; n <= min(len(names), maxNames); n++ {
			if strings.Trim(names[n-1], "*") != "" && fits(names[1:n], place) {
				return true
			}
		}
	}
	return false
}

// ourPlaces are our folders and what is in them, without the slash in front.
func (s *subject) ourPlaces() []string {
	var places []string
	for _, dir := range s.facts.State {
		dir = strings.Trim(strings.ToLower(dir), "/")
		places = append(places, dir)
		for _, file := range ourFiles {
			places = append(places, dir+"/"+file)
		}
	}
	return places
}
