package redact

import (
	"regexp"
	"strings"

	"github.com/sayso-dev/sayso/inspect/shell"
)

// runsSecret reports whether a name would tell a secret, were it not that its value
// runs.
func runsSecret(name string) bool {
	ws := words(name)
	return len(ws) > 1 && runWords[ws[len(ws)-1]] && names{}.anyTelling(ws[:len(ws)-1])
}

// findSources finds what makes a program that is known only as it runs: the commands
// of a pipe into a shell, and those whose output a shell is given as its text. What
// they print is not to be hidden, nor the address of what they fetch.
func (l *line) findSources() ranges {
	var sources, texts ranges
	text := func(at shell.Span) {
		if stream.MatchString(l.text[at.From:at.To]) {
			texts = append(texts, at)
		}
	}
	start, end := 0, 0 // of the pipe, and of the commands so far
	for i := range l.read.Commands {
		c := &l.read.Commands[i]
		if c.Place&shell.InPipe == 0 && c.By < 0 && c.Span.To > end {
			start = c.Span.From
		}
		end = max(end, c.Span.To)
		if c.Program.Dynamic&shell.Unknowable != 0 {
			if at, ok := l.runningText(c); ok {
				text(at)
			}
		}
		for _, t := range c.Traits {
			switch {
			case t.Kind != shell.Inline:
			case t.Span != c.Program.Span:
				text(t.Span)
			case c.Place&shell.InPipe != 0:
				sources = append(sources, shell.Span{From: min(start, c.Span.From), To: c.Span.From})
			}
		}
	}
	texts = texts.merged()
	for i := range l.read.Commands {
		if c := &l.read.Commands[i]; c.Place&shell.InSubstitution != 0 && texts.has(c.Span.From) {
			sources = append(sources, c.Span)
		}
	}
	return sources.merged()
}

// stream is a word that is the output of a command, and nothing else.
var stream = regexp.MustCompile("^[\"']?([<$][(]|`)")

// addSources adds what says which program it is that the line makes or fetches.
func (l *line) addSources() {
	sources := l.findSources()
	if len(sources) == 0 {
		return
	}
	for i := range l.read.Commands {
		c := &l.read.Commands[i]
		if !sources.has(c.Span.From) {
			continue
		}
		if !c.Has(shell.Connects) && !c.Has(shell.Sends) {
			l.steered = append(l.steered, c.Span)
			continue
		}
		for _, w := range c.Args {
			text := l.text[w.Span.From:w.Span.To]
			if from, to := authority(text); from >= 0 {
				path, _, _ := strings.Cut(text[to:], "?")
				l.fetched = append(l.fetched, shell.Span{From: w.Span.From + to, To: w.Span.From + to + len(path)})
			}
		}
	}
	for _, r := range l.read.Redirects {
		if strings.HasPrefix(r.Op, "<<") && sources.has(r.Span.From) {
			l.fetched = append(l.fetched, r.Target.Span)
		}
	}
	l.fetched = l.fetched.merged()
	l.steered = l.steered.merged()
}
