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

// line is a command line while it is searched, and what it would run.
type line struct {
	text    string
	read    *shell.Line // nil until it is asked for, as is what follows
	unread  bool        // it is not understood as bash reads it
	scripts []script
	options map[shell.Span]bool
	running map[string]int // the names in texts that run
	names   map[string]int // all names, and how often they stand in the line
}

// script is where the text of a program stands that is no line of shell, and
// whether it runs what it is handed.
type script struct {
	at   shell.Span
	runs bool
}

// inspect reads the line, once.
func (l *line) inspect() {
	if l.read != nil {
		return
	}
	l.read = shell.Inspect(l.text)
	l.unread = len(l.text) > shell.MaxBytes || slices.ContainsFunc(l.read.Problems, func(p shell.Problem) bool { return p.Kind == shell.Unparsed })
	l.options = map[shell.Span]bool{}
	for i := range l.read.Commands {
		for _, w := range l.read.Commands[i].Args {
			if strings.HasPrefix(w.Text, "-") {
				l.options[w.Span] = true
			}
		}
	}
	l.findScripts()
	l.running, l.names = map[string]int{}, map[string]int{}
	countNames(l.names, l.text)
	for i := range l.read.Commands {
		if c := &l.read.Commands[i]; c.Program.Dynamic&shell.Unknowable != 0 {
			countNames(l.running, l.runningText(c))
		}
	}
	for _, s := range l.scripts {
		if s.runs {
			countNames(l.running, l.text[s.at.From:s.at.To])
		}
	}
}

// commandLine searches a line that a shell reads, and drops what was found where
// it decides what runs. What is executable is never hidden: with other bytes in
// the place of what is hidden, the line has the same programs, options, files
// and redirections.
func (f *finder) commandLine(s string, h hide, search func(hide)) {
	var spans []span
	learned := map[string]string{}
	learn := f.learn
	f.learn = func(value, key string) { learned[value] = key }
	f.line, f.vars = &line{text: s}, &variables{}
	search(func(from, to, size int, key string) { spans = append(spans, span{from, to, size, key}) })
	f.vars.settle(f)
	kept, shown := f.line.harmless(spans, f.known != nil)
	f.learn, f.line, f.vars = learn, nil, nil
	for _, sp := range kept {
		h(sp.from, sp.to, sp.size, sp.key)
	}
	for value, key := range learned {
		if !slices.ContainsFunc(shown, func(sp span) bool { return strings.Contains(s[sp.from:sp.to], value) }) {
			f.learn(value, key)
		}
	}
}

// harmless tells the spans that may be hidden from those that must be shown. A
// value known from elsewhere that nobody would call a program may be hidden
// anywhere.
func (l *line) harmless(spans []span, known bool) (kept, shown []span) {
	if len(spans) == 0 || l.same(spans) {
		return spans, nil
	}
	for i, sp := range spans {
		if known && looksRandom(l.text[sp.from:sp.to]) || i < maxDoubts && l.same(spans[i:i+1]) {
			kept = append(kept, sp)
		} else {
			shown = append(shown, sp)
		}
	}
	if !known && !l.same(kept) {
		return nil, spans
	}
	return kept, shown
}

// same reports whether the line does the same with other bytes in these places.
func (l *line) same(spans []span) bool {
	other := []byte(l.text)
	for _, sp := range spans {
		for i := sp.from; i < sp.to; i++ {
			other[i] = 'x'
		}
	}
	l.inspect()
	if slices.ContainsFunc(spans, func(sp span) bool { return !l.mayHide(sp) }) {
		return false
	}
	return slices.Equal(l.facts(l.read, spans), l.facts(shell.Inspect(string(other)), spans))
}

// mayHide reports whether a range is one that a program given to an interpreter,
// or a line that cannot be read, may do without.
func (l *line) mayHide(sp span) bool {
	v := l.text[sp.from:sp.to]
	if l.unread {
		return plain(v)
	}
	if before, ok := strings.CutSuffix(strings.TrimRight(l.text[:sp.from], `"'`), "="); ok && len(l.running) > 0 {
		name := len(before)
		for name > 0 && isVarName(before[name-1]) {
			name--
		}
		if l.running[before[name:]] > 0 {
			return false
		}
	}
	for _, s := range l.scripts {
		if s.at.From < sp.to && sp.from < s.at.To && (!plain(v) || s.runs && !looksRandom(v)) {
			return false
		}
	}
	return true
}

// findScripts finds the programs that are not lines of shell: python -c, awk, sed
// with a command that runs another. What a letter of -pSecret would mean if it
// stood alone is none.
func (l *line) findScripts() {
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

// runners are words of programs in any language that run what they are handed.
var runners = [...]string{"system", "exec", "popen", "spawn", "eval", "subprocess", "compile", "__import__", "import_module", "getattr",
	"child_process", "function(", "getline", "|", "`", `\!`, "shell"}

var (
	perlRuns = regexp.MustCompile(`\bqx\b`) // two letters stand inside many a word
	longWord = regexp.MustCompile(`[A-Za-z0-9]{16,}`)
)

// runsThings reports whether a program may run what it is handed. Letters inside a
// word that looks random are no word of a program.
func runsThings(program string) bool {
	program = strings.ToLower(longWord.ReplaceAllStringFunc(program, func(word string) string {
		if looksRandom(word) {
			return ""
		}
		return word
	}))
	return perlRuns.MatchString(program) || slices.ContainsFunc(runners[:], func(r string) bool { return strings.Contains(program, r) })
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
		note("assignment %v %s %v %v %v", a.Span, a.Name, a.Lasting, a.Harmless, a.Value.Dynamic)
	}
	for _, p := range read.Problems {
		note("problem %v %v %s", p.Span, p.Kind, p.What)
	}
	return out
}

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

// runs reports whether a variable may name or hold what runs: it stands where a
// program does, or in a text that is run.
func (l *line) runs(name string) bool {
	if l == nil {
		return false
	}
	l.inspect()
	return l.running[name] > 0
}

// uses reports whether a variable is named in more places than where it is set.
func (l *line) uses(name string) bool {
	l.inspect()
	return l.names[name] > 1
}

// onlySpent reports whether a variable is set once and then stands so many times
// where programs take secrets, and is named nowhere else.
func (l *line) onlySpent(name string, times int) bool {
	l.inspect()
	return l.names[name] == times+1 && l.running[name] == 0
}

// runningText is the text that a program comes from which is known only when it
// runs: the word itself, or the one that holds the line in which it stands.
func (l *line) runningText(c *shell.Command) string {
	at := c.Program.Span
	text := l.text[at.From:at.To]
	if strings.ContainsAny(text, "$`") {
		return text
	}
	for i := range l.read.Commands {
		for _, w := range l.read.Commands[i].Args {
			if w.Span.From <= at.From && at.To <= w.Span.To && w.Span != at {
				return l.text[w.Span.From:w.Span.To]
			}
		}
	}
	return l.text
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
