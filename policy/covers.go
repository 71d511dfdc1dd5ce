package policy

import (
	stdpath "path"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// covers checks an example of a rule: a call that it must match, on a machine
// where every file is what its name says.
func (r *reader) covers(f *File, ru *rule, n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		r.fail(n, CodeCovers, `put quotes around the call, as in '{"tool":"bash","args":{"command":"ls"}}'`, "an example must be a call as JSON, in quotes, not %s", kindOf(n))
		return
	}
	c, err := sayso.ParseCall([]byte(n.Value))
	if err != nil {
		r.fail(n, CodeCovers, `write for example '{"tool":"bash","args":{"command":"ls"},"cwd":"/srv"}'`, "the example is no call: %v", err)
		return
	}
	if !ru.fits(f, c) {
		r.fail(n, CodeCovers, "change the rule or the example", "the rule does not match its example")
	}
	ru.examples = append(ru.examples, example{at(n), n.Value, c})
}

// example is a call that a rule must match.
type example struct {
	position
	text string // as written
	call sayso.Call
}

// fits reports whether a rule matches an example.
func (ru *rule) fits(f *File, c sayso.Call) bool {
	p := &Policy{home: exampleHome}
	for _, m := range ru.matchers {
		p.index.add(&entry{m: m, effect: ru.effect, says: ru.match(f, m, TierUser), when: ru.when, tier: TierUser})
	}
	facts := exampleFacts(c)
	var s subject
	s.of(&c, &facts, p.home)
	spoken, _ := p.said(&s)
	return slices.ContainsFunc(spoken, func(h matched) bool { return h.m.Effect == ru.effect })
}

// exampleHome is where the person of an example is at home.
const exampleHome = "/home/you"

// exampleFacts are the facts about an example: no links anywhere, and a workspace
// that is the directory of the call.
func exampleFacts(c sayso.Call) sayso.Facts {
	cwd := c.Cwd
	if cwd == "" {
		cwd = exampleHome + "/project"
	}
	c.Cwd = stdpath.Clean(cwd)
	return sampleMachine{home: exampleHome, workspace: c.Cwd}.facts(c, sayso.PathFile)
}

// eachWord yields the words of a line that may name files.
func eachWord(l *shell.Line, yield func(w shell.Word, dirs []shell.Dir)) {
	for i := range l.Commands {
		for _, w := range l.Commands[i].Operands() {
			yield(w, l.Commands[i].Dirs)
		}
	}
}
