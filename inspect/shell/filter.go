package shell

import "strings"

// filter looks at a program of jq, or of one of its kind, for what shows the
// environment, or brings in what stands in other files.
func (c *call) filter(w word) {
	if w.Unknown() {
		c.trait(Inline, w.Span, true, "a program that is known only when it runs", nil)
	}
	r := filterReader{text: w.Text, yq: c.name == "yq"}
	r.read()
	for _, what := range r.found {
		c.trait(Runs, w.Span, true, what, nil)
	}
}

// filterReader reads a program of jq, as far as needed to tell names from what
// stands in strings, and from the keys and fields that are called like them.
type filterReader struct {
	text  string
	yq    bool // as yq reads it, or jq: it may be either
	i     int
	found []string
	open  []byte // brackets, and " for a string whose expression is being read
	last  byte   // of what stands before, blanks and comments aside
}

// filterNames are names that reach out of what a filter is given.
var filterNames = map[string]string{
	"env": "shows the environment", "strenv": "shows the environment", "envsubst": "shows the environment",
	"import": "loads a module", "include": "loads a module", "modulemeta": "loads a module",
	"system": "runs a command", "eval": "runs what it is given as a filter",
}

// yqNames are those of yq, which ends no word in front of them and none behind:
// str_load, load_xml and orload are all found by the last.
var yqNames = []struct{ name, what string }{
	{"envsubst", filterNames["envsubst"]}, {"env(", filterNames["env"]}, {"system", filterNames["system"]}, {"eval", filterNames["eval"]}, {"load", "reads another file"},
}

func (r *filterReader) read() {
	for r.i < len(r.text) {
		b := r.text[r.i]
		switch {
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			r.i++
			continue
		case (b == '#' || b == '"') && r.yq && r.inPath():
			r.add("can be read in two ways")
		case b == '#':
			r.i += lineLength(r.text[r.i:])
			continue
		case letter(b) || b == '_':
			r.name()
			continue
		case b == '"':
			r.open = append(r.open, b)
			r.i++
			r.quoted()
			continue
		case b == '(' || b == '[' || b == '{':
			r.open = append(r.open, b)
		case b == ')' || b == ']' || b == '}':
			if r.close() == '"' {
				r.i++
				r.quoted()
				continue
			}
		}
		r.last = b
		r.i++
	}
}

// close takes the innermost bracket away, and returns the one around it.
func (r *filterReader) close() byte {
	if len(r.open) > 0 {
		r.open = r.open[:len(r.open)-1]
	}
	return r.inside()
}

// inside is the innermost bracket, 0 if there is none.
func (r *filterReader) inside() byte {
	if len(r.open) == 0 {
		return 0
	}
	return r.open[len(r.open)-1]
}

// quoted passes a string up to its end, or to an expression in it.
func (r *filterReader) quoted() {
	for ; r.i < len(r.text); r.i++ {
		switch {
		case r.text[r.i] == '"':
			r.i++
			r.open, r.last = r.open[:len(r.open)-1], '"'
			return
		case r.text[r.i] != '\\':
		case strings.HasPrefix(r.text[r.i:], `\(`):
			r.open, r.last = append(r.open, '('), '('
			r.i += 2
			return
		default:
			r.i++
		}
	}
}

// name reads a name. Behind a full stop it is a field; in an object, in front of
// a colon, a key.
func (r *filterReader) name() {
	from := r.i
	for r.i < len(r.text) && ordinaryText(r.text[r.i:r.i+1]) {
		r.i++
	}
	name := r.text[from:r.i]
	rest := strings.TrimLeft(r.text[r.i:], " \t\r\n")
	before := r.last
	r.last = 'a'
	field := from > 0 && r.text[from-1] == '.' && !strings.HasSuffix(r.text[:from], "..")
	key := r.inside() == '{' && (before == '{' || before == ',') && strings.HasPrefix(rest, ":")
	what := filterNames[name]
	switch {
	case before == '$' && (name == "ENV" || name == "__prog_args"):
		what = filterNames["env"]
	case field, key && name != "envsubst", before == '$' && (!r.yq || r.text[from-1] == '$'):
		return
	case r.yq && what == "":
		what = r.yqName(r.text[from:min(r.i+1, len(r.text))], rest)
	}
	if what != "" {
		r.add(what)
	}
}

// yqName is what a name does for yq that holds one of its names. In an object a
// name alone stands for a field.
func (r *filterReader) yqName(name, rest string) string {
	if r.inside() == '{' && (strings.HasPrefix(rest, ",") || strings.HasPrefix(rest, "}")) {
		return ""
	}
	for _, n := range yqNames {
		if strings.Contains(name, n.name) {
			return n.what
		}
	}
	return ""
}

// inPath reports whether a quote or a # belongs to a path for yq, whose paths go
// on to the next of few characters, and not for jq.
func (r *filterReader) inPath() bool {
	before := r.text[:r.i]
	run := before[strings.LastIndexAny(before, " ;{}:[],|()=\n")+1:]
	dot := strings.LastIndexByte(run, '.')
	if dot < 0 {
		return false
	}
	if r.text[r.i] != '"' || dot < len(run)-1 {
		return true
	}
	end := strings.IndexAny(r.text[r.i+1:], ` "\`) // ."a" is a path for both
	return end < 1 || r.text[r.i+1+end] != '"'
}

func (r *filterReader) add(what string) {
	for _, f := range r.found {
		if f == what {
			return
		}
	}
	r.found = append(r.found, what)
}
