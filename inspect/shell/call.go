package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call is one command being studied: what its words make it do.
type call struct {
	*reading
	at    int    // index of the command in the line
	words []word // the program or subcommand first
	scope scope
	dirs  dirs
	prog  *program // nil if no table has it
	name  string   // by which the table knows it
	// classed is what the tables say of the program, or of its subcommand.
	classed Class
}

// call follows a simple command.
func (r *reading) call(c *syntax.CallExpr, redirs []*syntax.Redirect, s scope, in dirs) (ok, fail dirs) {
	defer r.room.words.back(r.room.words.mark())
	words := r.words(c.Args)
	if len(words) == 0 {
		r.assigns(c.Assigns, len(c.Args) == 0, -1, s, in)
		r.redirects(redirs, -1, s, in)
		return in, in
	}
	if n := len(c.Assigns); n > 0 && c.Assigns[n-1].Pos().After(c.Args[0].Pos()) { // of a coprocess
		r.problem(r.span(c.Assigns[n-1]), Unparsed, "a word behind the program that the grammar takes for an assignment")
	}
	at := r.open(words, s, in)
	r.assigns(c.Assigns, false, at, s, in)
	s.input = r.redirects(redirs, at, s, in)
	for _, w := range c.Args {
		r.wordParts(w, s, in)
	}
	return r.study(at, words, s, in)
}

// open lists a command, so that what it runs stands behind it.
func (r *reading) open(words []word, s scope, in dirs) int {
	at := len(r.line.Commands)
	if at >= MaxCommands {
		r.full = true
		r.problem(words[0].Span, TooMany, "there are too many commands in it")
		return at - 1
	}
	r.spend(len(words), words[0].Span)
	c := Command{Program: words[0].Word, By: s.by, Place: s.place, Dirs: in, Open: s.open}
	c.Span = Span{words[0].Span.From, words[0].Span.To}
	if len(words) > 1 {
		args := r.room.args.spare(len(words) - 1)
		for i := range words[1:] {
			w := &words[1+i]
			args = append(args, w.Word)
			c.Span.From, c.Span.To = min(c.Span.From, w.Span.From), max(c.Span.To, w.Span.To)
		}
		c.Args = r.room.args.take(args)
	}
	r.line.Commands = append(r.line.Commands, c)
	return at
}

// study finds out what a command does, and follows what it runs. It returns
// the folders that the shell is in afterwards.
func (r *reading) study(at int, words []word, s scope, in dirs) (ok, fail dirs) {
	if r.full {
		return in, in
	}
	c := r.room.call()
	*c = call{reading: r, at: at, words: words, scope: s, dirs: in}
	defer r.room.done(c, r.room.options.mark(), r.room.operands.mark())
	c.vanishing()
	if moved, function := r.names[words[0].Text]; function && moved {
		return unknownDirs, unknownDirs
	}
	if words[0].Unknown() {
		return in, in
	}
	called := base(words[0].Text)
	c.name = r.nameOf(called)
	if c.prog = r.programs(c.name); c.prog == nil {
		return in, in
	}
	if c.classed = c.prog.class; !isName(called, c.name) {
		c.classed = Powerful // it looks like the program, and may be another
	}
	ok, fail = c.effects()
	if ordinaryPlace(words[0].Text) {
		r.line.Commands[at].Class = c.class()
	}
	return ok, fail
}

// ordinaryPlace reports whether a program is found by its name, or in a folder
// that only the system writes to.
func ordinaryPlace(program string) bool {
	switch program[:len(program)-len(base(program))] {
	case "", "/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/":
		return true
	}
	return false
}

// vanishing lists what is run if the first word turns out to be none.
func (c *call) vanishing() {
	if c.words[0].vanishes && len(c.words) > 1 {
		c.run(c.words[1:], c.scope)
	}
}

// run follows a command that this one runs.
func (c *call) run(words []word, s scope) (ok, fail dirs) {
	if len(words) > 1 && words[0].Text == "--" && words[0].Literal() {
		words = words[1:] // ends the options of whoever runs the rest
	}
	if len(words) == 0 || c.full {
		return c.dirs, c.dirs
	}
	if c.depth++; c.depth > MaxDepth {
		c.depth--
		c.full = true
		c.problem(words[0].Span, TooDeep, "commands stand too deep inside each other")
		return c.dirs, c.dirs
	}
	defer func() { c.depth-- }()
	s.by = c.at
	at := c.open(words, s, c.dirs)
	if c.full {
		return c.dirs, c.dirs
	}
	return c.study(at, words, s, c.dirs)
}

// text follows a word that is run as a line of shell.
func (c *call) text(w word, s scope) dirs {
	s.open = false
	return c.joinedText(w, s)
}

// joinedText is text for words that a program joins, to which others may be
// added.
func (c *call) joinedText(w word, s scope) dirs {
	s.by, s.place = c.at, s.place|InText
	s.input = input{kind: s.input.kind}
	text, o := w.runnable()
	from := len(c.line.Commands)
	out := c.inside(text, o, s, c.dirs)
	if len(w.holes) > 0 {
		c.uncertain(from, o.span(min(w.holes[0], len(text)), len(text)).From)
	}
	return out
}

// uncertain marks the words of commands that stand behind a place where
// anything may stand: it may quote them, or join them.
func (c *call) uncertain(from, at int) {
	mark := func(w *Word) {
		if w.Span.To > at {
			w.Dynamic |= Variable
			w.Fixed = 0
		}
	}
	for i := from; i < len(c.line.Commands); i++ {
		cmd := &c.line.Commands[i]
		mark(&cmd.Program)
		for k := range cmd.Args {
			mark(&cmd.Args[k])
		}
	}
}

// runnable is the text of a word as a line of shell, in which variables stand
// for what is not known, and where its bytes stand.
func (w *word) runnable() (string, origin) {
	o := w.origin()
	if len(w.holes) == 0 {
		return w.Text, o
	}
	const unknown = "${_}"
	var b strings.Builder
	var at []int32
	from := 0
	for _, h := range append(w.holes, len(w.Text)) {
		b.WriteString(w.Text[from:h])
		for i := from; i < h; i++ {
			at = append(at, o.place(i))
		}
		if from = h; h < len(w.Text) || b.Len() < len(w.Text)+len(unknown)*len(w.holes) {
			b.WriteString(unknown)
			for range len(unknown) {
				at = append(at, min(o.place(h), int32(max(w.Span.To-1, 0))))
			}
		}
	}
	return b.String(), origin{at: at, to: w.Span.To}
}

// joinWords is words as one, with blanks between them, as eval and ssh see
// them.
func joinWords(words []word) word {
	out := word{Word: Word{Span: words[0].Span}}
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
			out.at = append(out.at, int32(w.Span.From))
		}
		for _, h := range w.holes {
			out.holes = append(out.holes, b.Len()+h)
		}
		o := w.origin()
		for k := range len(w.Text) {
			out.at = append(out.at, o.place(k))
		}
		b.WriteString(w.Text)
		out.Dynamic |= w.Dynamic
		out.Span.To = max(out.Span.To, w.Span.To)
	}
	out.Text = b.String()
	if out.Fixed = len(out.Text); len(out.holes) > 0 {
		out.Fixed = out.holes[0]
	}
	return out
}

// trait adds a trait to the command.
func (c *call) trait(kind Kind, at Span, beyond bool, what string, target *word) {
	t := Trait{Kind: kind, Span: at, What: what, Beyond: beyond}
	if target != nil {
		w := target.Word
		t.Target = &w
	}
	cmd := &c.line.Commands[c.at]
	cmd.Traits = append(cmd.Traits, t)
}

// class is what is known of the command after its words were read.
func (c *call) class() Class {
	class := c.classed
	for _, t := range c.line.Commands[c.at].Traits {
		switch {
		case t.Kind == LooksUp || t.Kind == Wraps || t.Kind == Moves && !t.Beyond:
		case t.Kind == Writes && !t.Beyond && class != ReadOnly:
		default:
			return Powerful
		}
	}
	return class
}
