package redact

import (
	"slices"
	"strings"
)

// list is a command that is given as a list of its words, or as a line and such a
// list, while it is searched as the line of shell that does the same.
type list struct {
	text  strings.Builder
	words []listed
}

// listed is a word of a list, or a line before it, and where it stands in the text.
type listed struct {
	n      *node
	from   int
	to     int
	places []int // for each byte of a word in quotes the one that it spells
}

// programNames are names of the member that says which program is started, and
// argumentNames of the one that lists its arguments.
var (
	programNames  = set(`command cmd program executable binary bin exe file entrypoint`)
	argumentNames = set(`args argv arguments params parameters command_args extra_args options flags`)
)

func argvName(name string) bool { return argumentNames[strings.ToLower(name)] }

// listed are the values of the members that are one command together: a program,
// or a line, and the list of its arguments.
func (n *node) listed() []*node {
	var program, arguments *node
	for _, m := range n.members {
		name := strings.ToLower(m.name.text)
		switch {
		case program == nil && programNames[name] && (m.value.kind == '"' && !looksJSON(m.value.text) || m.value.kind == '[' && m.value.allStrings()):
			program = m.value
		case arguments == nil && argumentNames[name] && m.value.kind == '[' && m.value.allScalars():
			arguments = m.value
		}
	}
	if program == nil || arguments == nil {
		return nil
	}
	return []*node{program, arguments}
}

func (n *node) allScalars() bool {
	return !slices.ContainsFunc(n.items, func(item *node) bool { return item.kind == '{' || item.kind == '[' })
}

// isArgv reports whether an array holds the words of one command.
func (n *node) isArgv(name string) bool {
	if len(n.items) < 2 || !n.allScalars() || n.items[0].kind != '"' || strings.ContainsAny(n.items[0].text, " \t\n") {
		return false
	}
	if argvName(name) || isCommandName(name) || knownPrograms[base(n.items[0].text)] {
		return true
	}
	for _, item := range n.items {
		if len(item.text) > 1 && item.text[0] == '-' && item.kind == '"' && !strings.ContainsAny(item.text, " \n") {
			return true
		}
	}
	return false
}

// list searches a command that is given by these values, one behind the other.
func (f *finder) list(values []*node, depth int) {
	if len(values) == 0 {
		return
	}
	l := &list{}
	var nodes []*node
	for _, n := range values {
		switch {
		case n.kind == '[':
			for _, item := range n.items {
				l.word(item)
			}
			nodes = append(nodes, n.items...)
		case strings.ContainsAny(n.text, " \t\n"):
			l.line(n)
			nodes = append(nodes, n)
		default:
			l.word(n)
			nodes = append(nodes, n)
		}
	}
	text := l.text.String()
	f.runs(depth, nodes, func(f *finder) {
		f.judged(&line{text: text, list: true}, l.hide, func(h hide) { f.shell(text, h, depth) })
	})
}

// line adds a line of shell.
func (l *list) line(n *node) {
	at := l.text.Len()
	l.text.WriteString(n.text)
	l.words = append(l.words, listed{n: n, from: at, to: l.text.Len()})
	l.text.WriteByte(' ')
}

// word adds a word, in quotes.
func (l *list) word(n *node) {
	at := l.text.Len()
	l.text.WriteByte('\'')
	l.text.WriteString(strings.ReplaceAll(n.text, "'", `'\''`))
	l.text.WriteByte('\'')
	l.words = append(l.words, listed{n: n, from: at, to: l.text.Len()})
	l.words[len(l.words)-1].places = []int{}
	l.text.WriteByte(' ')
}

// hide hides a part of the text in the values where it stands.
func (l *list) hide(from, to, size int, key string) {
	i, _ := slices.BinarySearchFunc(l.words, from, func(w listed, at int) int { return w.to - 1 - at })
	for ; i < len(l.words) && l.words[i].from < to; i++ {
		l.words[i].hide(max(from, l.words[i].from), min(to, l.words[i].to), size, key)
	}
}

func (w *listed) hide(from, to, size int, key string) {
	switch from, to = w.place(from), w.place(to-1)+1; {
	case size == taken || from >= min(to, len(w.n.text)):
	case w.n.kind != '"':
		w.n.hidden, w.n.key = true, key
	default:
		w.n.hide(from, min(to, len(w.n.text)), size, key)
	}
}

// place is which byte of the word stands at a place of the text.
func (w *listed) place(at int) int {
	at -= w.from
	if w.places == nil {
		return at
	}
	if len(w.places) == 0 {
		w.places = append(w.places, 0)
		for i := range len(w.n.text) {
			w.places = append(w.places, i)
			if w.n.text[i] == '\'' {
				w.places = append(w.places, i, i, i)
			}
		}
		w.places = append(w.places, len(w.n.text))
	}
	return w.places[at]
}
