package redact

import "strings"

// held is a value that is hidden unless a command of the call uses the variable of
// its name for something else than a secret: {"command": "ssh $TOKEN", "env":
// {"TOKEN": "…"}}. It is all of a node, or a part of its text.
type held struct {
	n    *node
	key  string
	part bool
	span
}

// envNames are names of members that hold the environment of a command.
var envNames = set(`env envs environment environ variables vars envvars env_vars environment_variables`)

// setsVariables reports whether a list holds variables, each as NAME=value.
func (n *node) setsVariables(name string) bool {
	return envNames[strings.ToLower(name)] && n.allStrings() && strings.Contains(n.items[0].text, "=")
}

// runs searches a command of the call that stands in these nodes, now and once more
// when all of its secrets are known. A text in a text is searched once.
func (f *finder) runs(depth int, nodes []*node, search func(*finder)) {
	search(f)
	if depth > 0 {
		return
	}
	for _, n := range nodes {
		n.command = true
	}
	f.again = append(f.again, search)
}

// judged searches a line, or a part of the one that is read already.
func (f *finder) judged(l *line, h hide, search func(hide)) {
	if f.line != nil {
		search(h)
		return
	}
	f.commandLine(l, h, search)
	if f.known == nil {
		f.lines = append(f.lines, l)
	}
}

// hold hides a value, or keeps it until all commands are known.
func (f *finder) hold(n *node, key string, depth int) {
	if n.kind != '"' {
		f.hideIn(n, key, depth)
		return
	}
	f.held = append(f.held, held{n: n, key: key})
}

// settings searches a text that sets variables. What is found is hidden once all
// commands are known.
func (f *finder) settings(n *node, depth int) {
	learn := f.learn
	f.learn = func(string, string) {}
	f.text(n.text, func(from, to, size int, key string) {
		f.held = append(f.held, held{n: n, key: key, part: true, span: span{from, to, size, key}})
	}, depth)
	f.learn = learn
}

// settle hides what was held, less what a command uses.
func (f *finder) settle() {
	var uses map[string]use
	if len(f.held) > 0 {
		uses = f.usesOf()
	}
	for _, h := range f.held {
		v := h.n.text
		if h.part {
			v = v[h.from:h.to]
		}
		switch u := max(uses[h.key], uses[""]); {
		case u.shows(v):
			if !h.part {
				f.shapes(v, h.n.hide)
			}
		case h.part:
			f.found(h.n.text, h.from, h.to, h.key, h.n.hide)
		default:
			f.hideAll(h.n, h.key)
		}
	}
	f.held = nil
}

// usesOf is what the commands of the call do with their variables. Under no name
// stands what they may do with any.
func (f *finder) usesOf() map[string]use {
	uses := map[string]use{}
	for _, l := range f.lines {
		l.inspect()
		if l.opaque {
			uses[""] = handed
		}
		for name := range l.names {
			if u := l.use(name); u != spared {
				uses[name] = max(uses[name], u)
			}
		}
	}
	return uses
}
