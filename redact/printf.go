package redact

import "strings"

// printed hides what printf puts behind a telling name of its format:
// printf 'password=%s\n' x.
func (c *command) printed() {
	at := 0
	for at < len(c.ws) && base(c.ws[at].text) != "printf" {
		at++
	}
	if at++; at >= len(c.ws) {
		return
	}
	format := c.ws[at].text
	for arg := at + 1; arg < len(c.ws); arg++ {
		n := strings.Index(format, "%s")
		if n < 0 {
			return
		}
		if name := lastName(format[:n]); c.f.telling(name) {
			w := &c.ws[arg]
			w.secret(c.f, 0, len(w.text), name)
		}
		format = format[n+len("%s"):]
	}
}

// lastName is the name at the end of a text, before signs and blanks that may
// stand between it and its value.
func lastName(s string) string {
	s = strings.TrimRight(s, ` "'=:\`)
	from := len(s)
	for from > 0 && isName(s[from-1]) {
		from--
	}
	return s[from:]
}
