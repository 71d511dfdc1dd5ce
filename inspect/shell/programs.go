package shell

import (
	"strings"
	"unicode"
)

// vim takes commands behind a plus.
func (c *call) vim(use usage) (ok, fail dirs) {
	for _, w := range c.words[1:] {
		if strings.HasPrefix(w.Text, "+") && len(w.Text) > 1 && strings.Trim(w.Text[1:], "0123456789") != "" {
			c.trait(Inline, w.Span, true, "runs a command of the editor", nil)
		}
	}
	for i := range c.words[1:] {
		c.trait(Writes, c.words[i+1].Span, false, "operand", &c.words[i+1])
	}
	return c.stay()
}

// pager takes keys behind a plus, which can run programs and open files. Those
// that only go somewhere are a line, a place and what to look for.
func (c *call) pager(use usage) (ok, fail dirs) {
	for _, w := range c.words[1:] {
		keys := strings.TrimLeft(w.Text, "+")
		if keys == w.Text || strings.Trim(keys, "0123456789gGF%") == "" {
			continue
		}
		if keys[0] != '/' && keys[0] != '?' || strings.ContainsFunc(keys, unicode.IsControl) {
			c.trait(Inline, w.Span, true, "presses keys in the pager", nil)
		}
	}
	return c.stay()
}

// date sets the clock to what stands there without an option and is no format.
func (c *call) date(use usage) (ok, fail dirs) {
	for _, w := range c.operandsOf(use) {
		if !strings.HasPrefix(w.Text, "+") {
			c.trait(State, w.Span, true, "sets the clock", nil)
		}
	}
	return c.stay()
}

// dd writes to of=.
func (c *call) dd(use usage) (ok, fail dirs) {
	for _, w := range c.words[1:] {
		if strings.HasPrefix(w.Text, "of=") {
			v, _ := w.after(len("of="))
			c.trait(Writes, w.Span, false, "of=", &v)
		}
	}
	return c.stay()
}

// tar writes to its archive when it creates one.
func (c *call) tar(use usage) (ok, fail dirs) {
	creates, unpacks := false, false
	for _, f := range use.options {
		creates = creates || f.name == "-c" || f.name == "--create"
		unpacks = unpacks || f.name == "-x" || f.name == "--extract" || f.name == "--get"
	}
	for i, f := range use.options {
		if unpacks && (f.name == "-C" || f.name == "--directory") {
			c.trait(Writes, f.value.Span, true, "where it unpacks", &use.options[i].value)
		}
		if creates && (f.name == "-f" || f.name == "--file") && f.has && f.value.Text != "-" {
			c.trait(Writes, f.value.Span, false, "the archive", &use.options[i].value)
		}
		if (f.name == "-f" || f.name == "--file") && strings.Contains(f.value.Text, ":") {
			c.trait(Runs, f.value.Span, true, "an archive on another machine", nil)
		}
	}
	return c.stay()
}
