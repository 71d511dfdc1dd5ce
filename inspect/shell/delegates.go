package shell

import "slices"

// Programs that hand their words on to others, which read them as options.

// underPython follows what coverage and the profilers run: a module or a script, as
// python would with the same words.
func (c *call) underPython(use usage) (ok, fail dirs) {
	words, module := c.operandsOf(use), false
	for _, f := range use.options {
		if f.name != "-m" && f.name != "--module" {
			continue
		}
		if module = true; f.has {
			words = append([]word{f.value}, words...)
		}
	}
	if len(words) == 0 || c.prog.wraps && !module {
		return c.stay()
	}
	lead := []word{c.spelled("python")}
	if module {
		lead = append(lead, c.spelled("-m"))
	}
	c.trait(Wraps, words[0].Span, false, "python runs it", nil)
	c.run(append(lead, words...), c.scope)
	return c.stay()
}

// spelled is a word that a command has in mind where it stands.
func (c *call) spelled(text string) word {
	return word{Word: Word{Text: text, Fixed: len(text), Span: c.words[0].Span}}
}

// byName follows a program that is run by its name where no script goes by it.
func (c *call) byName(use usage) (ok, fail dirs) {
	if words := c.operandsOf(use); len(words) > 1 && c.programs(base(words[0].Text)) != nil {
		c.trait(Wraps, words[0].Span, false, "runs the program that goes by this name", nil)
		c.run(c.words[slices.IndexFunc(c.words, func(w word) bool { return w.Span == words[0].Span }):], c.scope)
	}
	return c.stay()
}

// gotestsum gives the words behind its own to go test.
func (c *call) gotestsum(use usage) (ok, fail dirs) {
	if use.rest >= len(c.words) {
		return c.stay()
	}
	return c.handedOn("go test", c.words[use.rest-1:])
}

// behind reads the words behind a -- as those of the compiler that gets them.
func (c *call) behind(use usage) (ok, fail dirs) {
	if at := slices.IndexFunc(c.words, func(w word) bool { return w.Text == "--" }); at > 0 {
		return c.handedOn("rustc", c.words[at:])
	}
	return c.stay()
}

// module reads the words behind python -m as those of the program that goes by
// that name, where the tables have it.
func (c *call) module(use usage) (ok, fail dirs) {
	for _, f := range use.options {
		if f.name == "-m" && f.has && f.value.Literal() {
			name := "python -m " + f.value.Text
			if c.programs(name) == nil {
				name = f.value.Text
			}
			return c.handedOn(name, c.words[f.at:])
		}
	}
	return c.stay()
}

// handedOn adds what another program makes of the command, which gives it these
// words behind the first.
func (c *call) handedOn(name string, words []word) (ok, fail dirs) {
	p := c.programs(name)
	if p == nil || p.wraps || p.stdin || wholly[p.code] != nil {
		return c.stay()
	}
	own := *c
	defer func() { c.prog, c.words, c.name, c.classed = own.prog, own.words, own.name, own.classed }()
	c.prog, c.words, c.name = p, words, name
	c.effects()
	return c.stay()
}
