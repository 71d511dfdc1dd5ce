package redact

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// use is what a line does with a variable.
type use byte

const (
	spared  use = iota // nothing, save that programs take it as a secret
	operand            // of a program that is not known to take a secret there
	handed             // it may be what runs
	decides            // it is what runs, or where something goes
)

// shows reports whether a value is shown that is used so.
func (u use) shows(v string) bool {
	switch u {
	case decides:
		return true
	case handed:
		return !looksRandom(v)
	case operand:
		return !looksRandom(v) && !likeSecret(v)
	}
	return false
}

// uses are what a line does with its variables.
type uses struct {
	running map[string]bool    // those in texts that run
	handed  map[string]bool    // those that stand in programs that may run them
	opaque  bool               // which ones run cannot be told
	refs    map[string][]int   // where each is looked up
	names   map[string]int     // what may be a name, and how often it stands in the line
	places  ranges             // what says where something is or goes
	set     []shell.Assignment // in the order of the text
	known   map[string]use
}

// findUses looks for the variables of a line that was read.
func (l *line) findUses() {
	l.uses = uses{running: map[string]bool{}, handed: map[string]bool{}, refs: map[string][]int{}, names: map[string]int{}, known: map[string]use{}}
	countNames(l.names, l.text)
	findReferences(l.refs, l.text)
	l.set = slices.SortedStableFunc(slices.Values(l.read.Assignments), func(a, b shell.Assignment) int { return cmp.Compare(a.Span.From, b.Span.From) })
	l.opaque = strings.Contains(l.text, "${!")
	for i := range l.read.Commands {
		c := &l.read.Commands[i]
		if c.Program.Dynamic&shell.Unknowable != 0 {
			l.runsText(l.runningText(c))
		}
		l.opaque = l.opaque || listsVariables(c)
	}
	l.runsSettings()
	for _, s := range l.scripts {
		if s.runs {
			addNames(l.handed, l.text[s.at.From:s.at.To])
		}
	}
	l.findPlaces()
}

// runningText is where the text of a program stands which is known only when it
// runs: the word itself, or the one that holds the line in which it stands. ok is
// false if that cannot be told.
func (l *line) runningText(c *shell.Command) (at shell.Span, ok bool) {
	at = c.Program.Span
	if strings.ContainsAny(l.text[at.From:at.To], "$`") {
		return at, true
	}
	for i := range l.read.Commands {
		for _, w := range l.read.Commands[i].Args {
			if w.Span.From <= at.From && at.To <= w.Span.To && w.Span != at {
				return w.Span, true
			}
		}
	}
	return at, false
}

// runsText notes the variables in a text that becomes a program, or part of one.
// Which ones they are cannot be told of one that is spelled in escapes, or made by
// another command.
func (l *line) runsText(at shell.Span, ok bool) {
	if !ok {
		l.opaque = true
		return
	}
	text := l.untaken(at)
	made := strings.Contains(text, "$(") || strings.Contains(text, "`")
	l.opaque = l.opaque || made || strings.Contains(text, `\`)
	for _, text := range [...]string{text, unquote.Replace(text)} {
		addNames(l.handed, text)
		if made {
			continue
		}
		refs := map[string][]int{}
		findReferences(refs, text)
		for name := range refs {
			l.running[name] = true
		}
	}
}

var unquote = strings.NewReplacer(`"`, "", `'`, "", `\`, "")

// untaken is a part of the line, with blanks where a program takes a secret.
func (l *line) untaken(at shell.Span) string {
	text := []byte(l.text[at.From:at.To])
	for i := range text {
		if l.taken.has(at.From + i) {
			text[i] = ' '
		}
	}
	return string(text)
}

// runsSettings follows what runs to the variables that it was made of.
func (l *line) runsSettings() {
	const passes = 4 // a text that is handed on more often is not followed
	done := make([]bool, len(l.read.Assignments))
	for pass, more := 0, true; more; pass++ {
		more = false
		for i, a := range l.read.Assignments {
			if done[i] || !l.running[a.Name] {
				continue
			}
			done[i], more = true, true
			if text := l.text[a.Span.From:a.Span.To]; a.Value.Span == (shell.Span{}) {
				l.opaque = true
			} else if strings.ContainsAny(text, "$`\\") {
				l.runsText(a.Span, true)
			}
		}
		if pass == passes {
			l.opaque = true
			return
		}
	}
}

// listsVariables reports whether a command says what variables hold, or gives them
// other names, without a reference that could be seen.
func listsVariables(c *shell.Command) bool {
	dashed := 0
	for _, w := range c.Args {
		if strings.HasPrefix(w.Text, "-") {
			dashed++
		}
	}
	switch c.Base() {
	case "printenv":
		return true
	case "env", "set":
		return len(c.Args) == 0
	case "declare", "typeset", "local", "readonly", "export", "compgen":
		return dashed > 0
	}
	return false
}

// use says what the line does with a variable.
func (l *line) use(name string) use {
	l.inspect()
	u, ok := l.known[name]
	if ok {
		return u
	}
	switch {
	case l.running[name]:
		u = decides
	case l.handed[name] || l.opaque:
		u = handed
	}
	for _, at := range l.refs[name] {
		if l.taken.has(at) {
			continue
		}
		u = max(u, l.handedTo(at))
		if l.places.has(at) {
			u = decides
		}
	}
	l.known[name] = u
	return u
}

// handedTo is what becomes of a variable that is looked up there: what programs
// of their own do with an operand nobody knows but those who wrote them.
func (l *line) handedTo(at int) use {
	u := handed
	for i := range l.read.Commands {
		c := &l.read.Commands[i]
		if at < c.Span.From || at >= c.Span.To {
			continue
		}
		if p := c.Base(); p == "" || knownPrograms[p] || sources[p] {
			return handed
		}
		u = operand
	}
	return u
}

// sources are what reads a line from a file.
var sources = set(`source .`)

// assigned is what the line does with the variable that is set to a part of it.
func (l *line) assigned(sp span) use {
	u := spared
	v := l.text[sp.from:sp.to]
	for _, name := range l.namesSet(sp) {
		u = max(u, l.use(name))
		if l.names[name] > 1 && (strings.HasPrefix(v, "-") && !strings.HasPrefix(v, "-----") || pathLike(v)) {
			return decides
		}
	}
	return u
}

// namesSet are the variables that are set to a part of the line: the one before the
// equals sign, and the one that the shell sets to a word that holds the part.
func (l *line) namesSet(sp span) (names []string) {
	if before, ok := strings.CutSuffix(strings.TrimRight(l.text[:sp.from], `"'`), "="); ok {
		before = strings.TrimSuffix(before, "+")
		at := len(before)
		for at > 0 && isVarName(before[at-1]) {
			at--
		}
		if at < len(before) && (at == 0 || strings.IndexByte(" \t\n\r;|(){}'\"`:", before[at-1]) >= 0) {
			names = append(names, before[at:])
		}
	}
	for _, a := range l.settings(sp) {
		names = append(names, a.Name)
	}
	if len(l.refs[sp.key]) > 0 {
		names = append(names, sp.key) // read NAME <<< value, set NAME value
	}
	return names
}

// settings are the assignments that a part of the line stands in.
func (l *line) settings(sp span) (in []shell.Assignment) {
	const near = 8 // more of them do not stand in one another
	n := sort.Search(len(l.set), func(i int) bool { return l.set[i].Span.From > sp.from })
	for i := n - 1; i >= max(0, n-near); i-- {
		if sp.to <= l.set[i].Span.To {
			in = append(in, l.set[i])
		}
	}
	return in
}

// onlyTaken reports whether a variable is set once and then taken as a secret, and
// is named nowhere else.
func (l *line) onlyTaken(name string) bool {
	l.inspect()
	refs := l.refs[name]
	if len(refs) == 0 || l.names[name] != len(refs)+1 {
		return false
	}
	return l.use(name) == spared
}

// addNames adds what may be names of variables in a text.
func addNames(names map[string]bool, text string) {
	count := map[string]int{}
	countNames(count, text)
	for name := range count {
		names[name] = true
	}
}

// countNames counts what may be names of variables in a text: not the X of
// X-Api-Key, nor that of curl -X.
func countNames(count map[string]int, text string) {
	for i := 0; i < len(text); {
		n := span0(text[i:], isVarName)
		end := i + n
		header := end+1 < len(text) && text[end] == '-' && isAlpha(text[end+1]) && (i == 0 || strings.IndexByte("$!{", text[i-1]) < 0)
		option := n == 1 && i > 1 && text[i-1] == '-' && isBlank(text[i-2])
		if n > 0 && !header && !option {
			count[text[i:end]]++
		}
		i += max(1, n)
	}
}

// findReferences finds where variables are looked up: $NAME, ${NAME, ${#NAME,
// $env:NAME and %NAME%.
func findReferences(refs map[string][]int, text string) {
	for at := 0; ; at++ {
		n := strings.IndexAny(text[at:], "$%")
		if n < 0 {
			return
		}
		at += n
		if text[at] == '%' {
			if n := reference(text[at:min(len(text), at+maxName)]); n > 2 {
				refs[text[at+1:at+n-1]] = append(refs[text[at+1:at+n-1]], at)
			}
			continue
		}
		rest := strings.TrimLeft(strings.TrimPrefix(text[at+1:min(len(text), at+maxName)], "{"), "!#")
		rest, foreign := strings.CutPrefix(rest, "env:")
		name := rest[:span0(rest, isVarName)]
		if set := foreign && strings.HasPrefix(rest[len(name):], "="); name != "" && !set {
			refs[name] = append(refs[name], at)
		}
	}
}

// maxName bounds the names of variables that are told apart.
const maxName = 256
