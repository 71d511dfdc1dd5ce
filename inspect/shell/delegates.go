package shell

import "strings"

// Programs that hand their words on to others, which read them as options.

// compiler hands words on to a linker that loads plugins, and takes options from
// files.
func (c *call) compiler(usage) (ok, fail dirs) {
	for _, w := range c.words[1:] {
		_, behind, list := strings.Cut(w.Text, ",")
		switch {
		case strings.HasPrefix(w.Text, "-Xplugin"), strings.HasPrefix(w.Text, "-W") && list && (strings.Contains(behind, "plugin") || strings.Contains(behind, "@")):
			c.trait(Runs, w.Span, true, "loads a plugin", nil)
		}
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
	if p == nil || p.wraps {
		return c.stay()
	}
	own, all := c.prog, c.words
	defer func() { c.prog, c.words = own, all }()
	c.prog, c.words = p, words
	use := scanWords(p, words, &c.room)
	for _, e := range p.always {
		c.apply(e, words[0].Span, word{}, false)
	}
	c.optionEffects(use)
	c.operandEffects(use)
	c.elsewhere()
	if p.code == "go" {
		return c.goTool(use)
	}
	return c.stay()
}
