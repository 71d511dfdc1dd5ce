package present

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/inspect/shell"
)

// maxWords bounds what is said of one part of a command, in characters.
const maxWords = 160

// Understood are the marks of a line of bash: which programs it starts, what
// they do beyond their names, what is known only when it runs, and what was not
// understood. A line of one plain command needs no words: it says it all itself.
func Understood(command string) []sayso.Mark {
	line := shell.Inspect(command)
	r := reading{line: line, plain: len(line.Commands) == 1 && len(line.Problems) == 0}
	for i := range line.Problems {
		p := &line.Problems[i]
		r.mark(sayso.MarkProblem, p.Span, p.What)
	}
	for i := range line.Commands {
		r.command(&line.Commands[i])
	}
	for i := range line.Redirects {
		r.redirect(&line.Redirects[i])
	}
	for _, a := range line.Assignments {
		if !a.Harmless {
			r.mark(sayso.MarkAssignment, a.Span, "sets "+a.Name)
		}
	}
	slices.SortStableFunc(r.marks, func(a, b sayso.Mark) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To))
	})
	if left := len(r.marks) - (MaxMarks - 1); left > 0 {
		r.marks = append(r.marks[:MaxMarks-1], sayso.Mark{Kind: sayso.MarkProblem, Text: strconv.Itoa(left) + " more parts are not listed"})
	}
	return r.marks
}

// reading makes the marks of one line.
type reading struct {
	line  *shell.Line
	plain bool // one command, and all of it understood
	marks []sayso.Mark
}

func (r *reading) mark(kind sayso.MarkKind, at shell.Span, text string) {
	if runes := []rune(text); len(runes) > maxWords {
		text = string(runes[:maxWords]) + " … [" + strconv.Itoa(len(runes)-maxWords) + " more characters]"
	}
	m := sayso.Mark{From: at.From, To: at.To, Kind: kind, Text: text}
	if !slices.ContainsFunc(r.marks[max(0, len(r.marks)-20):], func(before sayso.Mark) bool { // what a wrapper and its command share, and an option and its value
		return before == m || text != "" && before.Kind == kind && before.Text == text && before.From <= m.From && m.To <= before.To
	}) {
		r.marks = append(r.marks, m)
	}
}

// unknown says why a word is not known before it runs.
func (r *reading) unknown(w shell.Word) {
	r.mark(sayso.MarkDynamic, w.Span, r.line.Text[w.Span.From:w.Span.To]+" is known only when it runs: "+w.Dynamic.String())
}

// command marks a simple command: its program, the words that nobody knows yet,
// and what it does because of its words.
func (r *reading) command(c *shell.Command) {
	kind, text := sayso.MarkProgram, ""
	if !r.plain {
		text = words(c)
		if c.By >= 0 && c.By < len(r.line.Commands) {
			text += ", run by " + name(&r.line.Commands[c.By])
		}
	}
	switch {
	case c.Program.Unknown():
		kind, text = sayso.MarkDynamic, "which program this is, is known only when it runs: "+c.Program.Dynamic.String()
	case c.Has(shell.Wraps):
		kind = sayso.MarkWrapper
	}
	r.mark(kind, c.Program.Span, text)
	for _, w := range c.Args {
		if w.Unknown() {
			r.unknown(w)
		}
	}
	for i := range c.Traits {
		r.trait(c, &c.Traits[i])
	}
}

// traitKinds are the marks of what commands do because of their words.
var traitKinds = map[shell.Kind]struct {
	kind sayso.MarkKind
	verb string
}{
	shell.Inline:      {sayso.MarkInline, "runs a text as a program"},
	shell.Runs:        {sayso.MarkOption, "makes it run another program"},
	shell.Writes:      {sayso.MarkWrite, "writes"},
	shell.Deletes:     {sayso.MarkDelete, "deletes"},
	shell.Discards:    {sayso.MarkDelete, "throws work away"},
	shell.Privilege:   {sayso.MarkPrivilege, "becomes another user"},
	shell.Connects:    {sayso.MarkNetwork, "talks to another machine"},
	shell.Sends:       {sayso.MarkNetwork, "sends to another machine"},
	shell.Interpreter: {sayso.MarkInline, "runs a program from a file"},
	shell.State:       {sayso.MarkOption, "changes what later words mean"},
	shell.Moves:       {sayso.MarkOption, "works in another folder"},
}

func (r *reading) trait(c *shell.Command, t *shell.Trait) {
	as, ok := traitKinds[t.Kind]
	if !ok {
		return
	}
	text := name(c) + " " + as.verb
	if t.What == shell.Installs {
		text = name(c) + " " + t.What
	}
	switch {
	case t.Target != nil && t.Target.Unknown():
		text += ": known only when it runs"
	case t.Target != nil && t.Target.Text != "":
		text += ": " + t.Target.Text
	}
	r.mark(as.kind, t.Span, text)
}

func (r *reading) redirect(t *shell.Redirect) {
	target := t.Target.Text
	if t.Target.Unknown() {
		target = "a file that is known only when it runs"
	}
	switch t.Kind {
	case shell.Write:
		r.mark(sayso.MarkWrite, t.Span, "writes "+target)
	case shell.Read:
		r.mark(sayso.MarkRead, t.Span, "reads "+target)
	case shell.Network:
		r.mark(sayso.MarkNetwork, t.Span, "talks to another machine: "+target)
	}
}

// name is how a command is called.
func name(c *shell.Command) string {
	if c.Program.Unknown() || c.Program.Text == "" {
		return "a program"
	}
	return c.Program.Text
}

// words are those of a command as it is run, each quoted where it is more than
// a plain word.
func words(c *shell.Command) string {
	var b strings.Builder
	for i, w := range c.Words() {
		if b.Len() > 4*maxWords {
			b.WriteString(" …")
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		switch {
		case w.Unknown():
			b.WriteString("(" + w.Dynamic.String() + ")")
		case w.Text == "" || strings.ContainsAny(w.Text, " \t\n\"'\\"):
			b.WriteString(strconv.Quote(w.Text))
		default:
			b.WriteString(w.Text)
		}
	}
	if c.Open {
		b.WriteString(" …")
	}
	return b.String()
}
