package shell

import (
	"slices"
	"strings"
)

// effects reads the words of a command as its table says, and those of its
// subcommand as the table of that says.
func (c *call) effects() (ok, fail dirs) {
	for {
		if h := wholly[c.prog.code]; h != nil {
			return h(c)
		}
		c.splitWords()
		use := scanWords(c.prog, c.words, &c.room)
		for _, e := range c.prog.always {
			c.apply(e, c.words[0].Span, word{}, false)
		}
		c.optionEffects(use)
		c.elsewhere()
		if moved := c.movedBy(use); !c.prog.wraps && !moved.same(c.dirs) {
			// Some of its words are meant for the one folder, some for the other.
			c.line.Commands[c.at].Dirs = dirs(c.line.Commands[c.at].Dirs).or(moved)
		}
		if c.prog.subcommands {
			if c.subcommand(use) {
				continue
			}
			c.otherOptions(use)
		}
		c.operandEffects(use)
		if descend := descents[c.name]; descend != nil {
			c.line.Commands[c.at].Trees = descend(c, use)
		}
		return c.finish(use)
	}
}

// finish follows what the command runs.
func (c *call) finish(use usage) (ok, fail dirs) {
	ok, fail = c.dirs, c.dirs
	if words := c.picked(use); words != nil {
		c.run(words, c.scope)
	} else if c.prog.wraps {
		ok, fail = c.wrapped(use)
	}
	if c.prog.stdin {
		c.program(use)
	}
	if h := handlers[c.prog.code]; h != nil {
		return h(c, use)
	}
	return ok, fail
}

// subcommand turns to the section of the subcommand, if the tables have one.
func (c *call) subcommand(use usage) bool {
	if use.rest >= len(c.words) || c.words[use.rest].Unknown() {
		return false
	}
	at := use.rest
	name := c.name + " " + c.words[at].Text
	sub := c.programs(name)
	if next := at + 1; sub == nil && use.unsure && next < len(c.words) && !c.words[next].Unknown() {
		if behind := c.programs(c.name + " " + c.words[next].Text); behind != nil { // the first was the value of an option
			at, name, sub = next, c.name+" "+c.words[next].Text, behind
		}
	}
	if sub == nil {
		sub = c.programs(c.name + " *")
	}
	if sub == nil {
		return false
	}
	c.name, c.prog, c.words = name, sub, c.words[at:]
	if sub.class != Foreign {
		c.classed = sub.class
	}
	return true
}

// otherOptions applies the options behind a subcommand that no table has, as
// those of the program.
func (c *call) otherOptions(use usage) {
	p := *c.prog
	p.posix = false
	all := scanWords(&p, c.words, &c.room)
	for i, f := range all.options {
		if f.word >= use.rest {
			c.optionEffects(usage{options: all.options[i:]})
			return
		}
	}
}

func (c *call) optionEffects(use usage) {
	for _, f := range use.options {
		switch {
		case f.option != unknownOption:
		case c.prog.wraps:
			c.trait(Wraps, c.words[f.word].Span, true, unknownWhat, nil)
		case c.prog.listed && !use.isValue(f.word):
			c.trait(Runs, c.words[f.word].Span, true, unknownWhat, nil)
		}
		if f.has && f.harmless(f.value) {
			continue
		}
		for _, e := range f.effects {
			if e.what == "" {
				e.what = f.name
			}
			if e.kind == Writes && f.has && f.value.Literal() && (nowhere(f.value.Text) || f.dash && f.value.Text == "-") {
				continue
			}
			c.apply(e, c.words[f.word].Span, f.value, f.has)
			if e.kind == command || e.kind == joins {
				c.commandBehind(f, e.kind == joins)
			}
		}
	}
}

// isValue reports whether a word is the value of the option in front of it.
func (u usage) isValue(word int) bool {
	return slices.ContainsFunc(u.options, func(f found) bool { return f.has && f.at == word && f.word < word })
}

// harmless reports whether an option has no effect with a value.
func (o *option) harmless(value word) bool {
	return value.Literal() && slices.ContainsFunc(o.plain, func(plain string) bool {
		start, open := strings.CutSuffix(plain, "*")
		return value.Text == plain || open && strings.HasPrefix(value.Text, start)
	})
}

// elsewhere reads the words that name a file of options, or an address that the
// program fetches.
func (c *call) elsewhere() {
	if !c.prog.responses && !c.prog.fetches {
		return
	}
	for i, w := range c.words[1:] {
		switch {
		case c.prog.responses && len(w.Text) > 1 && w.Text[0] == '@':
			c.trait(Runs, w.Span, true, "takes options from a file", nil)
		case c.prog.fetches && isAddress(w.Text):
			c.trait(Connects, w.Span, true, "fetches an address", &c.words[1+i])
		}
	}
}

// isAddress reports whether a word is an address, or an option with one.
func isAddress(text string) bool {
	if name, value, ok := strings.Cut(text, "="); ok && dashed(name) {
		text = value
	}
	scheme, _, ok := strings.Cut(text, "://")
	return ok && scheme != "" && letters(strings.NewReplacer("+", "", "-", "", ".", "").Replace(scheme))
}

// nowhere reports whether a file keeps nothing of what is written to it.
func nowhere(name string) bool {
	return name == "/dev/null" || name == "/dev/stdout" || name == "/dev/stderr"
}

const unknownWhat = "an option that is not known"

// apply adds what an option or operand makes of the command. An option with an
// effect is not covered by an allow rule for the program.
func (c *call) apply(e effect, at Span, value word, has bool) {
	what := e.what
	if what == "" {
		what = string(e.kind) + " by its name"
	}
	var target *word
	if has {
		target = &value
		at = Span{min(at.From, value.Span.From), max(at.To, value.Span.To)}
	}
	switch e.kind {
	case shellLine:
		c.trait(Inline, at, true, what, nil)
		if has {
			c.text(value, c.scope)
		}
	case command, joins:
		c.trait(Wraps, at, e.beyond, what, nil)
	case picks:
		c.trait(Runs, at, e.beyond, what, target)
	case sets:
		if has {
			c.setsName(value)
		}
	case evaluates:
		if has {
			c.evaluates(value)
		}
	case filters:
		if has {
			c.filter(value)
		}
	case splits:
		c.trait(Wraps, at, true, what, nil)
	default:
		c.trait(e.kind, at, e.beyond, what, target)
	}
}

// commandBehind follows the command that stands behind an option, up to a word
// that ends it.
func (c *call) commandBehind(f found, joined bool) {
	behind := f.word + 1
	if f.has && f.takes == takesOne {
		behind = f.at + 1
	}
	words := c.words[min(behind, len(c.words)):]
	if f.has && f.takes == takesNone { // attached: --exec=prog
		words = append([]word{f.value}, words...)
	}
	for len(words) > 0 && dashed(words[0].Text) {
		words = words[1:]
	}
	if joined {
		c.asLine(words, false)
		return
	}
	for i, w := range words {
		if w.Text == ";" || w.Text == "+" {
			words = words[:i]
			break
		}
	}
	c.run(words, c.scope.adding())
}

// operandEffects applies what the table says of the operands: of all of them,
// of the last, or of those from some number on.
func (c *call) operandEffects(use usage) {
	n := len(use.operands)
	for _, o := range c.prog.operands {
		e, from, to := o.effect, 0, n
		if n == 0 && c.scope.open {
			e.what = "the words that are added"
			c.apply(e, c.words[0].Span, word{}, false)
		}
		switch o.which {
		case "first":
			to = min(1, n)
		case "second":
			from, to = min(1, n), min(2, n)
		case "last":
			from = max(n-1, 0)
			if n == 1 {
				from = n
			}
		}
		for _, i := range use.operands[from:to] {
			w := c.words[i]
			if e.what = o.which + " operand"; o.which == "operands" {
				e.what = "operand"
			}
			c.apply(e, w.Span, w, true)
		}
	}
}

// earlier are the words of a command that may begin before it is said to: in
// front of the dashes, or in place of an operand that was left out.
func (c *call) earlier(use usage) []word {
	at := c.prog.skip
	if c.prog.optional {
		at--
	} else if !c.prog.dashes {
		return nil
	}
	if at < 0 || at >= len(use.operands) {
		return nil
	}
	return c.words[use.operands[at]:]
}

// picked are the words of the program that an option names: its value, and the
// operands.
func (c *call) picked(use usage) []word {
	for _, f := range use.options {
		for _, e := range f.effects {
			if e.kind == picks && f.has {
				return append([]word{f.value}, c.words[min(use.rest, len(c.words)):]...)
			}
		}
	}
	return nil
}

// asLine follows words that a shell reads as a line. What looks like an option
// in front of them is none of them, and may have a value.
func (c *call) asLine(words []word, unsure bool) {
	for len(words) > 1 && dashed(words[0].Text) {
		words, unsure = words[1:], true
	}
	if len(words) == 0 {
		return
	}
	c.trait(Inline, words[0].Span, true, "a shell reads its words as a line", nil)
	c.joinedText(joinWords(words), c.scope)
	if unsure && len(words) > 1 {
		c.joinedText(joinWords(words[1:]), c.scope)
	}
}

// wrapped follows the command in the words of a wrapper.
func (c *call) wrapped(use usage) (ok, fail dirs) {
	if c.line.Commands[c.at].Has(LooksUp) {
		return c.dirs, c.dirs
	}
	c.trait(Wraps, c.words[0].Span, false, "runs the command in its words", nil)
	for _, i := range use.operands {
		if c.prog.assigns && isAssignment(c.words[i].Text) {
			c.assignsWord(c.words[i])
		}
	}
	rest := c.words[use.rest:]
	if early := c.earlier(use); len(rest) == 0 && early != nil {
		rest, use.operands = early, nil
	}
	if len(rest) == 0 {
		if c.prog.starts || c.line.Commands[c.at].Has(Inline) {
			c.readsLine()
		}
		return c.dirs, c.dirs
	}
	dirs := c.dirs
	c.dirs = c.movedBy(use)
	if c.prog.joined {
		c.asLine(rest, use.unsure)
		if early := c.earlier(use); early != nil {
			c.asLine(early, false)
		}
		c.dirs = dirs
		return c.stay()
	}
	inner := c.scope
	inner.open = inner.open || c.prog.adds
	ok, fail = c.run(rest, inner)
	if use.unsure {
		c.run(rest[1:], inner)
	}
	if early := c.earlier(use); early != nil {
		c.run(early, inner)
	}
	c.dirs = dirs
	if c.name != "command" && c.name != "builtin" {
		return c.stay() // another process
	}
	return ok, fail
}

// movedBy is the folders that the words of the command are meant for, after the
// options that move it.
func (c *call) movedBy(use usage) dirs {
	dirs := c.dirs
	for _, f := range use.options {
		for _, e := range f.effects {
			switch {
			case e.kind != Moves:
			case f.has && f.value.Literal():
				dirs = dirs.into(f.value.Text)
			default:
				dirs = unknownDirs
			}
		}
	}
	for _, e := range c.prog.always {
		if e.kind == Moves {
			dirs = unknownDirs
		}
	}
	return dirs
}

// assignsWord records a variable that a wrapper puts into the environment.
func (c *call) assignsWord(w word) {
	name, _, _ := strings.Cut(w.Text, "=")
	name = strings.TrimSuffix(name, "+")
	value, _ := w.after(len(name) + 1)
	c.assignment(Assignment{
		Span: w.Span, Name: name, Value: value.Word, Harmless: !w.Unknown() && harmlessName(name), Command: c.at,
	})
}

// program follows an interpreter: the program that it runs is in a file, or it
// is what the standard input says.
func (c *call) program(use usage) {
	for _, f := range use.options {
		for _, e := range f.effects {
			if e.kind == Inline || e.kind == shellLine || e.kind == LooksUp || e.kind == Interpreter {
				return
			}
		}
	}
	if use.rest < len(c.words) {
		use.operands = append(use.operands, use.rest)
	}
	if len(use.operands) == 0 {
		if c.scope.open {
			c.trait(Inline, c.words[0].Span, true, "the words that are added may be a program", nil)
		}
		c.trait(Inline, c.words[0].Span, true, "reads its program from the standard input", nil)
		return
	}
	w := c.words[use.operands[0]]
	switch {
	case streams(w.Text) || w.Dynamic&Process != 0:
		c.trait(Inline, w.Span, true, "reads its program from a stream", nil)
	default:
		c.trait(Interpreter, w.Span, false, "runs a program from a file", &w)
		c.handedOn(c.name+" "+base(w.Text), c.words[use.operands[0]:])
	}
}

// streams reports whether a name is that of a stream rather than a file.
func streams(name string) bool {
	return name == "-" || name == "/dev/stdin" || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/self/fd/")
}
