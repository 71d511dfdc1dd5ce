package redact

import (
	"slices"
	"strings"
)

// runWords end the names of what runs: command, args, credential_process.
var runWords = set(`command commands cmd cmdline commandline program executable exec execute run runs script scripts
	args argv arguments entrypoint helper helpers process eval programs`)

// hookWords do so too where they stand alone: a web hook is an address that may be a secret.
var hookWords = set(`hook hooks shell bash sh`)

// runsName reports whether a member of this name says what runs.
func runsName(name string) bool {
	ws := words(name)
	return len(ws) > 0 && (runWords[ws[len(ws)-1]] || len(ws) == 1 && hookWords[ws[0]])
}

// besideProgram are members beside a program that say when, where and how it runs.
var besideProgram = set(`type matcher event when if on cwd dir directory workdir working_directory path file
	url uri host server port name timeout async enabled env environment`)

// sessionEvents are what happens to a session. The name of such an event, as
// SessionStart, tells nothing.
var sessionEvents = set(`start started starts starting begin begins end ended ends ending stop stopped close closed open opened
	resume resumed idle error created updated deleted compacted expired status`)

// isSession reports whether a name says session and nothing else. What it holds
// are settings and facts, most of them no secrets.
func isSession(name string) bool {
	ws := words(name)
	return len(ws) == 1 && ws[0] == "session"
}

// sessionSecrets end the names under a session that tell secrets there.
var sessionSecrets = set(`id ids sid key keys value values hash uuid guid`)

// spares reports whether what stands under a telling name, maybe beside a program,
// is searched, and not hidden, because of its own name: it says what runs and how,
// or what a session is like.
func spares(telling, name string, program bool) bool {
	if runsName(name) || program && besideProgram[strings.ToLower(name)] {
		return true
	}
	ws := words(name)
	return isSession(telling) && len(ws) > 0 && !sessionSecrets[ws[len(ws)-1]]
}

func (n *node) container() bool { return n.kind == '{' || n.kind == '[' }

// isProgram reports whether a list is a command whose program is known.
func (n *node) isProgram() bool {
	return n.kind == '[' && n.isArgv("") && knownPrograms[base(n.items[0].text)]
}

// startsProgram reports whether a member of n itself says what runs.
func (n *node) startsProgram() bool {
	return slices.ContainsFunc(n.members, func(m member) bool {
		return runsName(m.name.text) && (m.value.kind == '"' || m.value.container())
	})
}

// holdsProgram reports whether something in n says what runs.
func (n *node) holdsProgram() bool {
	return n.startsProgram() || n.isProgram() ||
		slices.ContainsFunc(n.members, func(m member) bool { return m.value.holdsProgram() }) ||
		slices.ContainsFunc(n.items, (*node).holdsProgram)
}

// hideIn hides what stands in an object or a list under a telling name. Where that
// says what runs, a reader sees what runs, and all else is hidden value by value.
func (f *finder) hideIn(n *node, key string, depth int) {
	if !n.container() || !isSession(key) && !n.holdsProgram() {
		f.hideAll(n, key)
		return
	}
	f.hideLeaves(n, key, depth)
}

func (f *finder) hideLeaves(n *node, key string, depth int) {
	if n.isProgram() {
		f.list([]*node{n}, depth)
		return
	}
	command, settings := n.listed(), n.startsProgram()
	for _, m := range n.members {
		name := m.name.text
		f.text(name, m.name.hide, depth+1)
		switch {
		case slices.Contains(command, m.value):
		case spares(key, name, settings):
			f.member(name, m.value, depth)
		default:
			f.hideLeaf(m.value, key, depth)
		}
	}
	f.list(command, depth)
	for _, item := range n.items {
		if isSession(key) && item.kind == '"' && commands(item.text) {
			f.str(item, "command", depth)
			continue
		}
		f.hideLeaf(item, key, depth)
	}
}

func (f *finder) hideLeaf(n *node, key string, depth int) {
	switch {
	case n.container():
		f.hideLeaves(n, key, depth)
	case f.hides(key, n):
		f.hold(n, key, depth)
	}
}

// searched searches a value that is shown though it stands under a telling name.
func (v *value) searched(at span) {
	text, h := v.s[at.from:at.to], shift(v.h, at.from)
	switch {
	case v.depth >= maxDepth:
		v.f.shapes(text, h)
	case runsName(at.key) && strings.ContainsAny(text, " \t"):
		v.f.shell(text, h, v.depth+1)
	default:
		v.f.text(text, h, v.depth+1)
	}
}
