package shell

import (
	"slices"
	"strings"
)

// getting are the methods of HTTP with which nothing is sent.
var getting = set("get", "head", "options")

// method looks at the option that names the method of a request.
func (c *call) method(use usage) (ok, fail dirs) {
	for i, f := range use.options {
		switch f.name {
		case "-X", "--request", "--method":
			if f.has && !getting[strings.ToLower(f.value.Text)] {
				c.trait(Sends, f.value.Span, false, "a request that changes something", &use.options[i].value)
			}
		}
	}
	return c.stay()
}

// curl sends what its words say, or files that they name. A rule that names one
// address covers no other.
func (c *call) curl(use usage) (ok, fail dirs) {
	addresses := len(use.operands)
	for _, f := range use.options {
		if f.name == "--url" {
			addresses++
		}
	}
	if addresses > 1 {
		c.trait(Connects, c.words[0].Span, true, "several addresses", nil)
	}
	for i, f := range use.options {
		if f.has && slices.ContainsFunc(f.effects, func(e effect) bool { return e.kind == Sends }) && sendsFile(f.name, f.value.Text) {
			c.trait(Sends, f.value.Span, true, "a file", &use.options[i].value)
		}
	}
	return c.method(use)
}

// sendsFile reports whether the value of an option of curl names a file to send.
func sendsFile(option, value string) bool {
	switch option {
	case "-T", "--upload-file":
		return true
	case "-F", "--form":
		return strings.Contains(value, "=@") || strings.Contains(value, "=<")
	case "--data-raw", "--form-string":
		return false
	case "--data-urlencode", "--url-query":
		return strings.Contains(value, "@")
	}
	return strings.HasPrefix(value, "@")
}

// wget writes what it gets, unless it is told where to.
func (c *call) wget(use usage) (ok, fail dirs) {
	c.method(use)
	for _, f := range use.options {
		if f.name == "-O" || f.name == "--output-document" || f.name == "--spider" {
			return c.stay()
		}
	}
	c.trait(Writes, c.words[0].Span, true, "a file named by the address", nil)
	return c.stay()
}

// ssh gives its words to a shell of another machine.
func (c *call) ssh(use usage) (ok, fail dirs) {
	rest := c.words[min(use.rest, len(c.words)):]
	for len(rest) > 1 && dashed(rest[1].Text) { // options may stand behind the host
		rest = rest[1:]
	}
	if len(rest) > 1 {
		c.trait(Inline, rest[1].Span, true, "runs a line on another machine", nil)
		c.dirs = unknownDirs
		c.text(joinWords(rest[1:]), c.scope)
	}
	return c.stay()
}

// remote names the machines that files are sent to.
func (c *call) remote(use usage) (ok, fail dirs) {
	for _, w := range c.operandsOf(use) {
		if strings.Contains(w.Text, ":") {
			c.trait(Sends, w.Span, false, "another machine", nil)
		}
	}
	return c.stay()
}
