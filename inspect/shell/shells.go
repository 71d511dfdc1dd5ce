package shell

import (
	"slices"
	"strings"
)

// Shells, and what gives its words to one.

// shell follows a shell: its text is the first operand if -c is among its
// options, in whatever cluster; else a file; else what it reads.
func (c *call) shell() (ok, fail dirs) {
	if len(c.words) == 2 && (c.words[1].Text == "--version" || c.words[1].Text == "--help") {
		return c.stay()
	}
	var inline, reads bool
	i := 1
options:
	for ; i < len(c.words); i++ {
		w := c.words[i]
		switch text := w.Text; {
		case text == "--" || text == "-":
			i++
			break options
		case strings.HasPrefix(text, "--"):
			i += c.shellOption(i)
		case len(text) > 1 && (text[0] == '-' || text[0] == '+'):
			inline = inline || text[0] == '-' && strings.Contains(text, "c")
			reads = reads || text[0] == '-' && strings.Contains(text, "s")
			i += strings.Count(text, "o") + strings.Count(text, "O") // each takes a word
		default:
			break options
		}
	}
	for _, w := range c.words[1:min(i, len(c.words))] {
		if name, _, ok := strings.Cut(w.Text, "="); ok && (name == "--command" || name == "--init-command") {
			v, _ := w.after(len(name) + 1)
			c.trait(Inline, w.Span, true, "runs a text as a line of shell", nil)
			c.text(v, c.scope)
		}
	}
	if c.name == "fish" {
		inline = inline || slices.ContainsFunc(c.words, func(w word) bool { return strings.HasPrefix(w.Text, "-C") || strings.HasPrefix(w.Text, "--init") })
	}
	rest := c.words[min(i, len(c.words)):]
	switch {
	case inline:
		c.inlineText(rest)
	case len(rest) == 0 || reads:
		c.readsLine()
	case streams(rest[0].Text) || rest[0].Dynamic&Process != 0:
		c.trait(Inline, rest[0].Span, true, "reads its program from a stream", nil)
		c.readsLine()
	default:
		c.trait(Interpreter, rest[0].Span, false, "runs a program from a file", &rest[0])
	}
	return c.stay()
}

// shellOption reads a long option of a shell, and returns how many words its
// value takes.
func (c *call) shellOption(i int) int {
	name, _, attached := strings.Cut(c.words[i].Text, "=")
	switch {
	case strings.HasPrefix("--rcfile", name), strings.HasPrefix("--init-file", name):
		c.trait(Runs, c.words[i].Span, true, "runs a file first", nil)
	case name == "--features" || name == "--profile" || name == "--debug-output":
	default:
		return 0
	}
	if attached {
		return 0
	}
	return 1
}

// inlineText follows the text of sh -c. Some shells take several.
func (c *call) inlineText(rest []word) {
	c.trait(Inline, c.line.Commands[c.at].Span, true, "runs a text as a line of shell", nil)
	if len(rest) == 0 {
		return
	}
	c.text(rest[0], c.scope)
	if c.name == "fish" || c.name == "nu" {
		for _, w := range rest[1:] {
			c.text(w, c.scope)
		}
	}
}

// readsLine follows a shell that reads its program from its standard input.
func (c *call) readsLine() {
	c.trait(Inline, c.words[0].Span, true, "a shell reads its program from its standard input", nil)
	if in := c.scope.input; in.known {
		c.text(in.text, c.scope)
	}
}

// su runs a shell, for the words behind the user as well.
func (c *call) su(use usage) (ok, fail dirs) {
	for _, f := range use.options {
		if f.name == "--user" || f.name == "-u" { // of runuser: then its words are a command
			c.trait(Wraps, c.words[f.word].Span, false, "runs the command in its words", nil)
			c.run(c.operandsOf(use), c.scope)
			return c.stay()
		}
	}
	for i, w := range c.words[1:] { // behind the user its options go to the shell
		if w.Text == "-c" || strings.HasPrefix(w.Text, "-") && strings.HasSuffix(w.Text, "c") && !strings.HasPrefix(w.Text, "--") {
			if i+2 < len(c.words) && !c.studied(c.words[i+2].Span) {
				c.text(c.words[i+2], c.scope)
			}
		}
	}
	if !c.line.Commands[c.at].Has(Inline) {
		c.trait(Inline, c.words[0].Span, true, "starts a shell", nil)
	}
	if operands := c.operandsOf(use); c.name == "sg" && len(operands) > 1 {
		c.text(operands[len(operands)-1], c.scope)
	}
	return c.stay()
}

// studied reports whether a command in a range was listed.
func (c *call) studied(at Span) bool {
	for i := c.at + 1; i < len(c.line.Commands); i++ {
		if s := c.line.Commands[i].Span; s.From >= at.From && s.To <= at.To {
			return true
		}
	}
	return false
}

// parallel gives its words to a shell, with others that it reads.
func (c *call) parallel(use usage) (ok, fail dirs) {
	c.trait(Inline, c.words[0].Span, true, "a shell reads its words as lines", nil)
	rest := c.words[min(use.rest, len(c.words)):]
	for i, w := range rest {
		if strings.HasPrefix(w.Text, ":::") {
			for _, line := range rest[i+1:] {
				if i == 0 {
					c.text(line, c.scope)
				}
			}
			rest = rest[:i]
			break
		}
	}
	if len(rest) > 0 {
		c.joinedText(joinWords(rest), c.scope.adding())
	} else if c.scope.input.known {
		c.text(c.scope.input.text, c.scope)
	}
	return c.stay()
}

// flock and script have an operand before their command, or a text for a shell
// behind -c.
func (c *call) flock(use usage) (ok, fail dirs) {
	rest := c.words[min(use.rest, len(c.words)):]
	if len(rest) == 0 {
		if c.name == "script" && !c.line.Commands[c.at].Has(Inline) {
			c.trait(Inline, c.words[0].Span, true, "starts a shell", nil)
		}
		return c.stay()
	}
	c.trait(Writes, rest[0].Span, c.name == "script", "operand", &rest[0])
	rest = rest[1:]
	if len(rest) > 0 && rest[0].Text == "--" {
		rest = rest[1:]
	}
	for i, w := range rest {
		if (w.Text == "-c" || strings.HasPrefix("--command", w.Text) && len(w.Text) > 2) && i+1 < len(rest) {
			c.trait(Inline, w.Span, true, "runs a text as a line of shell", nil)
			c.text(rest[i+1], c.scope)
			return c.stay()
		}
		if !dashed(w.Text) {
			c.trait(Wraps, w.Span, false, "runs the command in its words", nil)
			c.run(rest[i:], c.scope)
			return c.stay()
		}
	}
	return c.stay()
}
