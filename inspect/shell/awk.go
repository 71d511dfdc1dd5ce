package shell

import "strings"

// awk looks at its program for what runs programs or names files.
func (c *call) awk(use usage) (ok, fail dirs) {
	given := false
	for _, f := range use.options {
		switch f.name {
		case "-f", "--file", "-E", "--exec":
			given = true
		case "-e", "--source":
			given = true
			c.awkProgram(f.value)
		}
	}
	if rest := c.words[min(use.rest, len(c.words)):]; !given && len(rest) > 0 {
		c.awkProgram(rest[0])
	}
	return c.stay()
}

func (c *call) awkProgram(w word) {
	if w.Unknown() {
		c.trait(Inline, w.Span, true, "a program that is known only when it runs", nil)
	}
	r := awkReader{text: w.Text}
	r.read()
	for _, what := range r.found {
		c.trait(Runs, w.Span, true, what, nil)
	}
}

// awkReader reads a program of awk, as far as needed to tell its strings and
// expressions from what does something.
type awkReader struct {
	text   string
	i      int
	found  []string
	prints int  // how deep in brackets a print statement is, plus one; 0 outside of one
	depth  int  // brackets that are open
	value  bool // what stands before is a value, so that a slash divides
	unsure bool // it may be none: the slash is read in both ways
	forks  int  // how often that was done
}

func (r *awkReader) add(what string) {
	for _, f := range r.found {
		if f == what {
			return
		}
	}
	r.found = append(r.found, what)
}

func (r *awkReader) read() {
	for r.i < len(r.text) {
		b := r.text[r.i]
		if b == '/' && r.unsure {
			r.either()
		}
		switch {
		case b == '\\' && strings.HasPrefix(r.text[r.i+1:], "\n"): // the line goes on
			r.i += 2
			continue
		case b == ' ' || b == '\t':
			r.i++
			continue
		}
		r.unsure = false
		switch {
		case b == '"':
			r.quoted('"')
			r.value = true
		case b == '#':
			r.i += lineLength(r.text[r.i:])
		case b == '/' && !r.value:
			r.quoted('/')
			r.value = true
		case letter(b) || b == '_':
			r.word()
		default:
			r.sign(b)
			r.i++
		}
	}
}

// maxForks is how many slashes are read in both ways.
const maxForks = 6

// either reads what follows as if the slash began an expression, too.
func (r *awkReader) either() {
	if r.forks++; r.forks > maxForks {
		r.add("a program that is not understood")
		return
	}
	other := *r
	other.value, other.unsure = false, false
	other.read()
	for _, what := range other.found {
		r.add(what)
	}
	r.value, r.forks = true, other.forks
}

func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// quoted passes a string or an expression. One that does not end on its line
// is none.
func (r *awkReader) quoted(end byte) {
	for i := r.i + 1; i < len(r.text) && r.text[i] != '\n'; i++ {
		if r.text[i] == '\\' {
			i++
		} else if r.text[i] == end {
			if end == '/' && opensBracket(r.text[r.i+1:i]) {
				r.add("a program that is not understood: a slash between brackets")
			}
			r.i = i + 1
			return
		}
	}
	r.i++
}

// opensBracket reports whether an expression ends between brackets: some read on
// until they are closed.
func opensBracket(text string) bool {
	for r := (sedReader{text: text}); r.i < len(text); {
		switch text[r.i] {
		case '\\':
			r.i += 2
		case '[':
			if r.bracket(); r.i > len(text) {
				return true
			}
		default:
			r.i++
		}
	}
	return false
}

// word reads a name.
func (r *awkReader) word() {
	from := r.i
	for r.i < len(r.text) && (letter(r.text[r.i]) || r.text[r.i] == '_' || r.text[r.i] >= '0' && r.text[r.i] <= '9') {
		r.i++
	}
	r.value = true
	switch r.text[from:r.i] {
	case "system":
		r.add("system runs a command")
	case "print", "printf":
		r.prints, r.value = r.depth+1, false
	case "getline":
		r.unsure = true
		if strings.Contains(r.text[r.i:], "<") {
			r.add("getline reads a file")
		}
	case "ENVIRON", "SYMTAB":
		r.add(r.text[from:r.i] + " shows the environment")
	case "ARGV", "ARGC":
		r.add(r.text[from:r.i] + " says which files are read")
	case "else", "do", "return", "in", "exit", "delete", "length", "case":
		r.unsure = true
	}
}

// sign reads a byte that is no name, string or expression.
func (r *awkReader) sign(b byte) {
	next := byte(0)
	if r.i+1 < len(r.text) {
		next = r.text[r.i+1]
	}
	value := b == ')' || b == ']' || b == '$' || b >= '0' && b <= '9' || b == '+' || b == '-' || b == '.'
	switch b {
	case '(', '[':
		r.depth++
	case ')', ']':
		r.depth--
	case ';', '{', '}': // a statement may go on behind the end of a line
		r.prints = 0
	case '@':
		r.add("@ loads, includes or calls by a name")
	case '|':
		if next == '|' {
			r.i++
		} else {
			r.add("a pipe runs a command")
		}
	case '>':
		if next == '>' || r.prints > 0 && r.depth < r.prints {
			r.add("print writes a file")
		}
	}
	r.value, r.unsure = value, strings.IndexByte(")$+-", b) >= 0
}
