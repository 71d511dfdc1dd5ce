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
func (l *line) findSources() (sources ranges) {
	for i := range l.read.Commands {
		c := &l.read.Commands[i]
		if c.Program.Dynamic&shell.Unknowable != 0 {
			if at, ok := l.runningText(c); ok {
				sources = append(sources, l.substitutions(at)...)
			}
		}
		for _, t := range c.Traits {
			switch {
			case t.Kind != shell.Inline:
			case t.Span != c.Program.Span:
				sources = append(sources, l.substitutions(t.Span)...)
			case c.Place&shell.InPipe != 0:
				sources = append(sources, shell.Span{From: l.pipeStart(i), To: c.Span.From})
			}
		}
	}
	return sources.merged()
}

// substitutions are the commands in a part of the line whose output is put in their
// place.
func (l *line) substitutions(at shell.Span) (in ranges) {
	if text := l.text[at.From:at.To]; !stream.MatchString(text) {
		return nil
	}
	for i := range l.read.Commands {
		if c := &l.read.Commands[i]; c.Place&shell.InSubstitution != 0 && at.From <= c.Span.From && c.Span.To <= at.To {
			in = append(in, c.Span)
		}
	}
	return in
}

// stream is a word that is the output of a command, and nothing else.
var stream = regexp.MustCompile("^[\"']?([<$][(]|`)")

// pipeStart is where the pipe begins that the command at i reads from.
func (l *line) pipeStart(i int) int {
	at := l.read.Commands[i].Span.From
	for i--; i >= 0; i-- {
		c := &l.read.Commands[i]
		if c.Span.To > at {
			continue // it holds the pipe
		}
		at = c.Span.From
		if c.Place&shell.InPipe == 0 && c.By < 0 {
			break
		}
	}
	return at
}

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
