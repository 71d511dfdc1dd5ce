package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// maxDoubts bounds how many findings are weighed one by one in a line where all
// of them together would hide something that runs.
const maxDoubts = 16

// line is a command line, or a program, while it is searched, and what it would run.
type line struct {
	text string
	code bool // it may be a program in any language
	list bool // it was written from a list of words, none of which is read twice

	taken   ranges      // where programs take secrets
	read    *shell.Line // nil until it is asked for, as is what follows
	unread  bool        // it is not understood as bash reads it
	foreign bool        // it may be code and is no shell
	scripts []script
	options map[shell.Span]bool
	steered ranges // commands of which every word says what is deleted
	fetched ranges // addresses and texts of which programs are made
	uses
}

// script is where the text of a program stands that is no line of shell, and
// whether it runs what it is handed.
type script struct {
	at   shell.Span
	runs bool
}

// finding is a part of a line that is to be hidden.
type finding struct {
	span
	loose bool // in a word of a program that is not known to take a secret there
}

// inspect reads the line, once.
func (l *line) inspect() {
	if l.read != nil {
		return
	}
	l.read = shell.Inspect(l.text)
	l.unread = len(l.text) > shell.MaxBytes || slices.ContainsFunc(l.read.Problems, func(p shell.Problem) bool { return p.Kind == shell.Unparsed })
	l.foreign = l.code && !slices.ContainsFunc(l.read.Commands, startable)
	l.options = map[shell.Span]bool{}
	for i := range l.read.Commands {
		c := &l.read.Commands[i]
		for _, w := range c.Args {
			if strings.HasPrefix(w.Text, "-") {
				l.options[w.Span] = true
			}
		}
		if c.Has(shell.Deletes) || c.Has(shell.Discards) {
			l.steered = append(l.steered, c.Span)
		}
		if c.Open && c.By >= 0 {
			l.steered = append(l.steered, l.read.Commands[c.By].Span)
		}
	}
	l.steered = l.steered.merged()
	l.findScripts()
	l.findUses()
	l.addSources()
}

// commandLine searches a line that a shell reads, and drops what was found where
// it decides what is done. With other bytes in the place of what is hidden, the
// line has the same programs, options, files, places and redirections.
func (f *finder) commandLine(l *line, h hide, search func(hide)) {
	var found []finding
	learned := map[string]string{}
	learn := f.learn
	f.learn = func(value, key string) { learned[value] = key }
	f.line, f.vars = l, &variables{}
	search(func(from, to, size int, key string) {
		if size == taken {
			l.taken = append(l.taken, shell.Span{From: from, To: to})
			return
		}
		found = append(found, finding{span{from, to, size, key}, f.loose})
	})
	l.taken = l.taken.merged()
	f.vars.settle(f)
	kept, shown := l.harmless(found, f.known != nil)
	f.learn, f.line, f.vars = learn, nil, nil
	for _, sp := range kept {
		h(sp.from, sp.to, sp.size, sp.key)
	}
	for value, key := range learned {
		if !slices.ContainsFunc(shown, func(sp span) bool { return strings.Contains(l.text[sp.from:sp.to], value) }) {
			f.learn(value, key)
		}
	}
}

// harmless tells what may be hidden from what must be shown. What looks random and is
// known from elsewhere, or stands in a program, may be hidden anywhere: nobody
// would call something so.
func (l *line) harmless(found []finding, known bool) (kept, shown []span) {
	var sure []span
	for _, at := range found {
		switch {
		case l.free(at.span, known) && l.random(at.span):
			sure = append(sure, at.span)
		case l.mayHide(at):
			kept = append(kept, at.span)
		default:
			shown = append(shown, at.span)
		}
	}
	kept, more := l.alike(kept)
	shown = append(shown, more...)
	for _, sp := range shown {
		if l.free(sp, known) {
			sure = l.randomWords(sure, sp)
		}
	}
	return append(sure, kept...), shown
}

// free reports whether what looks random in a part of the line may be hidden
// without a second look.
func (l *line) free(sp span, known bool) bool {
	return known || l.code && l.assigned(sp) != decides
}

// randomWords adds the words of a part of the line that look random.
func (l *line) randomWords(spans []span, sp span) []span {
	for i := sp.from; i < sp.to; {
		n := span0(l.text[i:sp.to], func(c byte) bool { return !isSpace(c) && !isQuote(c) && strings.IndexByte(";|&<>()", c) < 0 })
		if looksRandom(l.text[i : i+n]) {
			spans = append(spans, span{i, i + n, n, sp.key})
		}
		i += max(1, n)
	}
	return spans
}

// alike tells the spans in whose place anything may stand from the others.
func (l *line) alike(spans []span) (kept, shown []span) {
	if len(spans) == 0 || l.same(spans) {
		return spans, nil
	}
	for i, sp := range spans {
		if i < maxDoubts && l.same(spans[i:i+1]) {
			kept = append(kept, sp)
		} else {
			shown = append(shown, sp)
		}
	}
	if !l.same(kept) {
		return nil, spans
	}
	return kept, shown
}

// same reports whether the line does the same with other bytes in these places.
func (l *line) same(spans []span) bool {
	if len(spans) == 0 {
		return true
	}
	if l.inspect(); l.foreign {
		return true
	}
	other := []byte(l.text)
	for _, sp := range spans {
		for i := sp.from; i < sp.to; i++ {
			other[i] = 'x'
		}
	}
	return slices.Equal(l.facts(l.read, spans), l.facts(shell.Inspect(string(other)), spans))
}

// mayHide reports whether nothing speaks against hiding a part of the line, as far
// as can be told without reading it again.
func (l *line) mayHide(at finding) bool {
	l.inspect()
	v := l.text[at.from:at.to]
	random := l.random(at.span)
	if u := l.assigned(at.span); u == decides || u.shows(v) && !random {
		return false
	}
	if !random && (at.loose && l.steered.has(at.from) || l.fetched.has(at.from) || l.places.has(at.from) && !l.taken.has(at.from)) {
		return false
	}
	if l.unread && !l.code {
		return plain(v) || random
	}
	for _, s := range l.scripts {
		if s.at.From < at.to && at.from < s.at.To && !random && (s.runs || !plain(v) && !(l.code && l.literal(at.span))) {
			return false
		}
	}
	return true
}

// random reports whether a part of the line looks random, as the body of a private
// key does over several lines.
func (l *line) random(sp span) bool {
	v := l.text[sp.from:sp.to]
	if sp.key == keyBlock {
		v = strings.NewReplacer("\r", "", "\n", "").Replace(v)
		return looksRandom(v) || likeSecret(v)
	}
	return looksRandom(v)
}

// startable reports whether a command may start a program: its first word is no
// sign of another language.
func startable(c shell.Command) bool {
	name := c.Program.Text
	return c.Program.Unknown() || name != "" && isAlnum(name[len(name)-1]) && name[0] != '-' && !strings.ContainsAny(name, ":=<>{}[]\"'")
}

// literal reports whether a part of the line is a text in quotes.
func (l *line) literal(sp span) bool {
	return sp.from > 0 && sp.to < len(l.text) && isQuote(l.text[sp.from-1]) && l.text[sp.to] == l.text[sp.from-1]
}

// findScripts finds the programs that are not lines of shell: python -c, awk, sed
// with a command that runs another. What a letter of -pSecret would mean if it
// stood alone is none.
func (l *line) findScripts() {
	if l.code && (l.unread || calls.MatchString(l.text)) {
		l.scripts = append(l.scripts, script{shell.Span{To: len(l.text)}, runsCode(l.text)})
	}
	lines := map[int]bool{} // those who run lines of shell
	for i := range l.read.Commands {
		lines[l.read.Commands[i].By] = true
	}
	for i := range l.read.Commands {
		c := &l.read.Commands[i]
		for _, t := range c.Traits {
			if !lines[i] && (t.Kind == shell.Inline || t.Kind == shell.Runs) && t.Span != c.Program.Span && !l.options[t.Span] {
				l.scripts = append(l.scripts, script{t.Span, strings.HasSuffix(c.Base(), "sed") || runsThings(l.text[t.Span.From:t.Span.To])})
			}
		}
	}
}

// plain reports whether a value is one word that means nothing to a shell, nor
// names a place or an option.
func plain(v string) bool {
	return !strings.ContainsAny(v, " \t\r\n;|&<>()$`\\*?[]{}~\"'!") && !strings.HasPrefix(v, "-") &&
		(!strings.Contains(v, "/") || looksRandom(v))
}

// facts are what a line does, less the bytes that are to be hidden.
func (l *line) facts(read *shell.Line, hidden []span) (out []string) {
	note := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	for i := range read.Commands {
		c := &read.Commands[i]
		note("command %v %q %v %v %v %v", c.Span, c.Program.Text, c.Program.Dynamic, c.By, c.Open, c.Place)
		for _, w := range c.Args {
			note("word %v %v %v", w.Span, w.Dynamic, w.Text[:min(len(w.Text), leads(w.Text))])
		}
		for _, t := range c.Traits {
			if t.Kind == shell.Connects && t.Target != nil {
				if from, to := authority(t.Target.Text); from >= 0 {
					note("place %v %q", t.Span, t.Target.Text[from:to])
				}
			}
			if l.spelled(t.Span, hidden) {
				continue
			}
			target := ""
			if t.Target != nil && t.Kind != shell.Inline && t.Kind != shell.Connects && t.Kind != shell.Sends {
				target = t.Target.Text
			}
			note("trait %v %v %q %v %q", t.Kind, t.Span, t.What, t.Beyond, target)
		}
	}
	for _, r := range read.Redirects {
		target := ""
		if !strings.HasPrefix(r.Op, "<<") {
			target = r.Target.Text
		}
		note("redirect %v %s %q %v", r.Span, r.Op, target, r.Command)
	}
	for _, a := range read.Assignments {
		value := ""
		if steeringName.MatchString(a.Name) {
			value = a.Value.Text
		}
		note("assignment %v %s %v %v %v %q", a.Span, a.Name, a.Lasting, a.Harmless, a.Value.Dynamic, value)
	}
	for _, p := range read.Problems {
		note("problem %v %v %s", p.Span, p.Kind, p.What)
	}
	return out
}

// steeringName is how variables are called that say what other programs run.
var steeringName = regexp.MustCompile(`(PATH|PRELOAD|COMMAND|EDITOR|PAGER|SHELL|OPTIONS|OPTS)$|^(LD_.*|BASH_ENV|ENV|IFS)$`)

// gitSecret is how a setting of git begins that runs nothing, although git's
// settings in general may.
var gitSecret = regexp.MustCompile(`(?i)\bgit\b.*\.(password|token|extraheader)["' =]+([\w-]+: ?(\w+ )?)?$`)

// spelled reports whether what a program does because of the words at hand is
// there only because a secret happens to read like it.
func (l *line) spelled(at shell.Span, hidden []span) bool {
	for _, sp := range hidden {
		if at.From < sp.to && sp.from < at.To && (l.options[at] || gitSecret.MatchString(l.text[max(0, sp.from-200):sp.from])) {
			return true
		}
	}
	return false
}

// leads is 1 if a word begins as an option or the name of a file in place of a
// value does.
func leads(word string) int {
	if word != "" && (word[0] == '-' || word[0] == '@') {
		return 1
	}
	return 0
}
