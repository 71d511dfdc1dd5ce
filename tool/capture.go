package tool

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// capture keeps the beginning and the end of what is written to it, and counts
// what lies between.
type capture struct {
	head, tail int

	mu    sync.Mutex // guards what follows
	first []byte
	last  []byte
	size  int64
}

// Write implements io.Writer. It never fails: a command is not stopped by what
// nobody is going to read.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.size += int64(n)
	if room := c.head - len(c.first); room > 0 {
		take := min(room, len(p))
		c.first = append(c.first, p[:take]...)
		p = p[take:]
	}
	c.last = append(c.last, p...)
	if len(c.last) > 2*c.tail+4096 { // now and then, not at each write
		c.last = append(c.last[:0], c.last[len(c.last)-c.tail:]...)
	}
	return n, nil
}

// String is what was kept, with the number of bytes left out where they were.
func (c *capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.last
	if len(last) > c.tail {
		last = last[len(last)-c.tail:]
	}
	first := c.first
	left := c.size - int64(len(first)) - int64(len(last))
	if left > 0 {
		first, last = wholeEnd(first), wholeStart(last)
		left = c.size - int64(len(first)) - int64(len(last))
		return strings.ToValidUTF8(fmt.Sprintf("%s\n[%d bytes left out]\n%s", first, left, last), "\uFFFD")
	}
	return strings.ToValidUTF8(string(first)+string(last), "\uFFFD")
}

// wholeEnd takes a character that was cut off the end.
func wholeEnd(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// wholeStart takes the rest of a character that was cut off the beginning.
func wholeStart(b []byte) []byte {
	for i := range min(utf8.UTFMax, len(b)) {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}
