package shell

import (
	"slices"
	"strings"
)

// sed looks at its script for commands that run programs or name files.
func (c *call) sed(use usage) (ok, fail dirs) {
	var script []word
	given, edits := false, false
	for _, f := range use.options {
		switch f.name {
		case "-e", "--expression":
			if f.has {
				script = append(script, f.value)
			}
			given = true
		case "-f", "--file":
			given = true
		case "-i", "-I", "--in-place":
			edits = true
		}
	}
	operands := c.operandsOf(use)
	if !given && len(operands) > 0 {
		script, operands = append(script, operands[0]), operands[1:]
	}
	if len(script) > 0 {
		c.sedScript(script)
	}
	for i := range operands {
		if edits {
			c.trait(Writes, operands[i].Span, true, "edited in place", &operands[i])
		}
	}
	return c.stay()
}

// sedScript reads a script. Whether a delimiter between brackets ends an
// expression differs, so it is read in both ways.
func (c *call) sedScript(parts []word) {
	w := joinWords(parts)
	var text strings.Builder
	for i, p := range parts {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(p.Text)
	}
	if w.Unknown() {
		c.trait(Inline, w.Span, true, "a script that is known only when it runs", nil)
	}
	brackets := sedReader{text: text.String(), brackets: true}
	brackets.read()
	plain := sedReader{text: text.String()}
	plain.read()
	for _, r := range [...]*sedReader{&brackets, &plain} {
		for _, t := range r.found {
			if r == &plain && slices.Contains(brackets.found, t) {
				continue
			}
			c.trait(t.kind, w.Span, t.kind != Reads, t.what, &word{Word: Word{Span: w.Span, Text: t.file, Fixed: len(t.file)}})
		}
	}
	if brackets.broken && plain.broken && len(brackets.found)+len(plain.found) == 0 {
		c.trait(Inline, w.Span, true, "a script that is not understood", nil)
	}
}

// sedTrait is what a command of a script does.
type sedTrait struct {
	kind       Kind
	what, file string
}

// sedReader reads a script of sed.
type sedReader struct {
	text     string
	i        int
	brackets bool // a delimiter between brackets does not end an expression
	found    []sedTrait
	broken   bool
}

func (r *sedReader) read() {
	for !r.broken && r.skip(" \t\n;{}") {
		r.addresses()
		if r.broken || !r.skip(" \t!") {
			return
		}
		r.command()
	}
}

// skip passes bytes of a set, and reports whether there is anything behind
// them.
func (r *sedReader) skip(set string) bool {
	for r.i < len(r.text) && strings.IndexByte(set, r.text[r.i]) >= 0 {
		r.i++
	}
	return r.i < len(r.text)
}

// next returns the byte at hand and passes it; 0 at the end.
func (r *sedReader) next() byte {
	if r.i >= len(r.text) {
		r.broken = true
		return 0
	}
	r.i++
	return r.text[r.i-1]
}

// addresses passes the addresses in front of a command.
func (r *sedReader) addresses() {
	for r.i < len(r.text) {
		switch b := r.text[r.i]; {
		case b >= '0' && b <= '9', strings.IndexByte("$,~+ \t", b) >= 0:
			r.i++
		case b == '/':
			r.i++
			r.until('/')
			r.skip("IM")
		case b == '\\':
			r.i++
			r.until(r.next())
			r.skip("IM")
		default:
			return
		}
	}
}

// until passes a part that a delimiter ends.
func (r *sedReader) until(end byte) {
	for r.i < len(r.text) {
		switch b := r.text[r.i]; {
		case b == end:
			r.i++
			return
		case b == '\\':
			r.i += 2
		case b == '[' && r.brackets:
			r.bracket()
		default:
			r.i++
		}
	}
	r.broken = true
}

// bracket passes a set in brackets.
func (r *sedReader) bracket() {
	r.i++
	r.pass('^')
	r.pass(']')
	for r.i < len(r.text) && r.text[r.i] != ']' {
		if strings.HasPrefix(r.text[r.i:], "[:") {
			if n := strings.Index(r.text[r.i:], ":]"); n > 0 {
				r.i += n + 1
			}
		}
		r.i++
	}
	r.i++
}

func (r *sedReader) pass(b byte) {
	if r.i < len(r.text) && r.text[r.i] == b {
		r.i++
	}
}

// command reads one command.
func (r *sedReader) command() {
	switch b := r.next(); b {
	case '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
		r.end()
	case 'l', 'L', 'q', 'Q':
		r.skip(" \t0123456789")
		r.end()
	case ':', 'b', 't', 'T', 'v':
		r.skip(" \t")
		r.label()
	case '{':
	case '#':
		r.line()
	case 'a', 'i', 'c':
		r.addText()
	case 'r', 'R':
		r.file(Reads, "reads a file")
	case 'w', 'W':
		r.file(Writes, "writes a file")
	case 'e':
		r.add(Runs, "runs a command", r.line())
	case 's':
		r.substitute()
	case 'y':
		delimiter := r.next()
		r.until(delimiter)
		r.until(delimiter)
		r.end()
	default:
		r.broken = true
	}
}

// end wants the end of a command.
func (r *sedReader) end() {
	if r.skip(" \t") && strings.IndexByte(";}\n#", r.text[r.i]) < 0 {
		r.broken = true
	}
}

func (r *sedReader) label() {
	for r.i < len(r.text) && strings.IndexByte(";}\n \t", r.text[r.i]) < 0 {
		r.i++
	}
}

// line passes what is left of the line, and returns it.
func (r *sedReader) line() string {
	from := r.i
	for r.i < len(r.text) && r.text[r.i] != '\n' {
		r.i++
	}
	return strings.TrimSpace(r.text[from:r.i])
}

// addText passes the text of a, i and c, whose lines go on behind backslashes.
func (r *sedReader) addText() {
	for r.i < len(r.text) && r.text[r.i] != '\n' {
		if r.text[r.i] == '\\' {
			r.i++
		}
		r.i++
	}
	r.i = min(r.i, len(r.text))
}

func (r *sedReader) file(kind Kind, what string) {
	name := r.line()
	if kind == Writes && (name == "/dev/stdout" || name == "/dev/stderr") {
		return
	}
	r.add(kind, what, name)
}

func (r *sedReader) add(kind Kind, what, file string) {
	r.found = append(r.found, sedTrait{kind, what, file})
}

// substitute reads s and its flags.
func (r *sedReader) substitute() {
	delimiter := r.next()
	if delimiter == '\n' || delimiter == '\\' {
		r.broken = true
	}
	r.until(delimiter)
	was := r.brackets
	r.brackets = false // the replacement has none
	r.until(delimiter)
	r.brackets = was
	for !r.broken && r.i < len(r.text) {
		switch b := r.next(); {
		case b >= '0' && b <= '9', strings.IndexByte("gpiImM", b) >= 0:
		case b == 'e':
			r.add(Runs, "runs what it made as a command", "")
		case b == 'w':
			r.file(Writes, "writes a file")
			return
		case b == ' ' || b == '\t':
			r.end()
			return
		case strings.IndexByte(";}\n#", b) >= 0:
			r.i--
			return
		default:
			r.broken = true
		}
	}
}
