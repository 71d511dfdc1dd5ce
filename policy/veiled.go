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
	words := shellWords(s.arg, s.home, s.facts.Cwd)
	if found, _ := s.namesState(words); found {
		out = append(out, ownNamed)
	}
	if slices.ContainsFunc(words, namesAgent) && s.changes() {
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
	for i := range s.programs() {
		p := &s.progs[i]
		if mayBeUs(p) || named && runsUs(p) {
			return true
		}
	}
	return false
}

// mayBeUs reports whether what names a program may become our name: by a glob,
// by braces, by a variable.
func mayBeUs(p *program) bool {
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
	return strings.Trim(name, "*") != "" || answers(p.words[1:])
}

// runsUs reports whether one of the arguments of a program makes it run ours.
func runsUs(p *program) bool {
	for i, w := range p.words {
		if i > 0 && isUs(strings.ToLower(base(w.text))) && (handsOn[p.name] || !looking[p.name] && answers(p.words[i+1:])) {
			return true
		}
		if _, value, ok := strings.Cut(w.text, "="); ok && mentions(value) {
			return true // a setting that is a command
		}
	}
	return false
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

// namesState reports whether a word may name one of our folders or something in
// it, and whether one does so plainly.
func (s *subject) namesState(words []shellWord) (found, plainly bool) {
	bases := []string{s.facts.Cwd}
	if s.facts.Cwd == "" {
		bases[0] = s.call.Cwd
	}
	for i, w := range words {
		if i > 0 && entersNext[words[i-1].text] {
			bases = append(bases, absolute(bases[0], w.text))
		}
	}
	places := s.ourPlaces()
	for _, w := range words {
		for _, b := range bases {
			if namesAny(absolute(b, w.text), places) {
				found, plainly = true, plainly || w.plain
			}
			if strings.HasPrefix(w.text, "/") {
				break
			}
		}
		if plainly {
			break
		}
	}
	return found, plainly
}

// entersNext are the words behind which a folder stands that others are
// relative to.
var entersNext = set("cd", "pushd", "-c", "--directory", "--work-tree")

// ourPlaces are our folders and what is in them, name by name.
func (s *subject) ourPlaces() [][]string {
	var places [][]string
	for _, dir := range s.facts.State {
		names := strings.Split(strings.ToLower(dir), "/")
		places = append(places, names)
		for _, file := range ourFiles {
			places = append(places, append(slices.Clip(names), file))
		}
	}
	return places
}

// namesAny reports whether a pattern, or the beginning of one, fits a place.
// One that may stand anywhere must at least end in a name.
func namesAny(pattern string, places [][]string) bool {
	names := strings.Split(pattern, "/")
	anywhere := slices.Index(names, "**")
	for _, place := range places {
		if anywhere < 0 {
			if len(names) >= len(place) && slices.EqualFunc(names[:len(place)], place, fitsOne) {
				return true
			}
			continue
		}
		for n := anywhere + 2; n <= len(names); n++ {
			if strings.Trim(names[n-1], "*") != "" && fits(names[:n], strings.Join(place, "/")) {
				return true
			}
		}
	}
	return false
}

func fitsOne(pattern, name string) bool { return pattern == name || glob(pattern, name) }
