package shell

import "strings"

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
