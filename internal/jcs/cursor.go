package jcs

import "github.com/go-json-experiment/json/jsontext"

// Valid reports whether src is one JSON value that any strict reader takes: no
// member name twice, no text that is not UTF-8. It does not allocate. [Check]
// looks at the depth and at the numbers as well, and tells what is wrong.
func Valid(src []byte) bool { return jsontext.Value(src).IsValid() }

// Cursor walks over the text of JSON that is known to be valid, one bracket or
// plain value at a time. Commas and colons it passes over: what is a name
// follows from where it stands. The zero Cursor is at the end of nothing.
type Cursor struct {
	src string
	at  int
}

// Walk returns a cursor before the value in src.
func Walk(src string) Cursor { return Cursor{src: src} }

// Peek returns the first byte of what comes next: a bracket, or the first byte
// of a string, number or literal; 0 at the end.
func (c *Cursor) Peek() byte {
	for ; c.at < len(c.src); c.at++ {
		switch b := c.src[c.at]; b {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return b
		}
	}
	return 0
}

// Offset is where in the text the cursor is; after Peek, where what comes next
// begins.
func (c *Cursor) Offset() int { return c.at }

// Step passes one bracket.
func (c *Cursor) Step() {
	c.Peek()
	c.at++
}

// Plain passes a string, number or literal and returns it as it is spelled.
func (c *Cursor) Plain() string {
	first, from := c.Peek(), c.at
	if first == '"' {
		c.at = endOfString(c.src, from)
		return c.src[from:c.at]
	}
	for c.at < len(c.src) && !endsPlain(c.src[c.at]) {
		c.at++
	}
	return c.src[from:c.at]
}

// endsPlain reports whether a byte can stand behind a number or literal, but
// not in it.
func endsPlain(b byte) bool {
	switch b {
	case ' ', '\t', '\r', '\n', ',', ':', ']', '}':
		return true
	}
	return false
}

// Unquote returns the text of a string in valid JSON, quotes and all.
func Unquote(spelled string) string {
	inside := spelled[1 : len(spelled)-1]
	for i := range len(inside) {
		if inside[i] == '\\' {
			text, _ := jsontext.AppendUnquote(nil, spelled) // fails on invalid strings alone
			return string(text)
		}
	}
	return inside
}
