package install

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sayso-dev/sayso"
)

// parseTOML reads a file of TOML into the same nodes as JSON, with the places
// where keys and values stand. It reads what it must to find them: a number or a
// date is whatever stands in its place. What is not TOML is refused, and so is a
// key that stands twice.
func parseTOML(text []byte) (*node, error) {
	r := &tomlReader{text: string(text), names: map[*node]map[string]*node{}}
	root := &node{kind: '{', to: len(text)}
	if !utf8.Valid(text) {
		return nil, r.wrong("the file is no UTF-8")
	}
	table := root
	for {
		r.skip(true)
		if r.at == len(r.text) {
			return root, nil
		}
		var err error
		if r.text[r.at] == '[' {
			table, err = r.header(root)
		} else {
			err = r.pair(table)
		}
		if err == nil {
			err = r.endOfLine()
		}
		if err != nil {
			return nil, err
		}
	}
}

type tomlReader struct {
	text  string
	at    int
	depth int // of lists and tables within values
	names map[*node]map[string]*node
}

// tomlDepth is how many lists and tables a value may have within each other.
const tomlDepth = 64

// get finds a member of a table.
func (r *tomlReader) get(table *node, name string) *node { return r.names[table][name] }

// add adds a member to a table.
func (r *tomlReader) add(table *node, name string, at int, n *node) {
	table.members = append(table.members, member{name, at, n})
	if r.names[table] == nil {
		r.names[table] = map[string]*node{}
	}
	r.names[table][name] = n
}

func (r *tomlReader) wrong(what string) error {
	return fmt.Errorf("%w: line %d: %s", sayso.ErrInvalid, 1+strings.Count(r.text[:r.at], "\n"), what)
}

func (r *tomlReader) next(prefix string) bool { return strings.HasPrefix(r.text[r.at:], prefix) }

// skip goes over blanks, and over ends of lines and comments where they may stand.
func (r *tomlReader) skip(lines bool) {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == ' ' || c == '\t', lines && (c == '\n' || c == '\r'):
			r.at++
		case lines && c == '#':
			r.comment()
		default:
			return
		}
	}
}

func (r *tomlReader) comment() {
	if n := strings.IndexByte(r.text[r.at:], '\n'); n >= 0 {
		r.at += n
		return
	}
	r.at = len(r.text)
}

func (r *tomlReader) endOfLine() error {
	r.skip(false)
	if r.next("#") {
		r.comment()
	}
	if r.at == len(r.text) || r.next("\n") || r.next("\r\n") {
		return nil
	}
	return r.wrong("something stands behind the value")
}

// header reads the head of a table, [a.b] or [[a.b]], and returns the table.
func (r *tomlReader) header(root *node) (*node, error) {
	from := r.at
	closing := "]"
	if r.next("[[") {
		closing = "]]"
	}
	r.at += len(closing)
	path, err := r.path()
	if err != nil {
		return nil, err
	}
	if !r.next(closing) {
		return nil, r.wrong("the head of a table does not end")
	}
	r.at += len(closing)
	parent, err := r.descend(root, path[:len(path)-1])
	if err != nil {
		return nil, err
	}
	name := path[len(path)-1]
	table := &node{kind: '{', from: from, to: r.at}
	found := r.get(parent, name)
	switch {
	case closing == "]]" && found == nil:
		r.add(parent, name, from, &node{kind: '[', from: from, to: r.at, elements: []*node{table}})
	case closing == "]]" && found.kind == '[':
		found.elements = append(found.elements, table)
	case closing == "]" && found == nil:
		r.add(parent, name, from, table)
	case closing == "]" && found.kind == '{' && found.to == 0: // until now only tables below it were named
		found.from, found.to = from, r.at
		return found, nil
	default:
		return nil, r.wrong(strconv.Quote(name) + " stands twice")
	}
	return table, nil
}

// descend finds the table at a path, and makes those that are only implied. Such
// a one has no end.
func (r *tomlReader) descend(from *node, path []string) (*node, error) {
	for _, name := range path {
		n := r.get(from, name)
		if n == nil {
			n = &node{kind: '{'}
			r.add(from, name, r.at, n)
		}
		if n.kind == '[' && len(n.elements) > 0 {
			n = n.elements[len(n.elements)-1] // of tables in a list, the last is meant
		}
		switch {
		case n.kind != '{':
			return nil, r.wrong(strconv.Quote(name) + " is no table")
		case n.to != 0 && r.text[n.from] == '{':
			return nil, r.wrong(strconv.Quote(name) + " has ended with its value") // a = {} says all of a
		}
		from = n
	}
	return from, nil
}

// pair reads a key with its value into a table.
func (r *tomlReader) pair(table *node) error {
	from := r.at
	path, err := r.path()
	if err != nil {
		return err
	}
	if !r.next("=") {
		return r.wrong("a key has no value")
	}
	r.at++
	r.skip(false)
	v, err := r.value()
	if err != nil {
		return err
	}
	if table, err = r.descend(table, path[:len(path)-1]); err != nil {
		return err
	}
	name := path[len(path)-1]
	if r.get(table, name) != nil {
		return r.wrong(strconv.Quote(name) + " stands twice")
	}
	r.add(table, name, from, v)
	return nil
}

// path reads a key, which may have parts with dots between.
func (r *tomlReader) path() ([]string, error) {
	var path []string
	for {
		r.skip(false)
		from := r.at
		switch {
		case r.next(`"""`), r.next(`'''`):
			return nil, r.wrong("a key of several lines")
		case r.next(`"`), r.next(`'`):
			n, err := r.quoted()
			if err != nil {
				return nil, err
			}
			path = append(path, tomlText([]byte(r.text), n))
		default:
			for r.at < len(r.text) && bareKey(r.text[r.at]) {
				r.at++
			}
			if r.at == from {
				return nil, r.wrong("a key was expected")
			}
			path = append(path, r.text[from:r.at])
		}
		r.skip(false)
		if !r.next(".") {
			return path, nil
		}
		r.at++
	}
}

func bareKey(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// dateTime is the one value without quotes that may have a blank in it.
var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\S*$`)

func (r *tomlReader) value() (*node, error) {
	from := r.at
	switch {
	case r.next(`"`), r.next(`'`):
		return r.quoted()
	case r.next("["):
		return r.within(&node{kind: '[', from: from}, "]")
	case r.next("{"):
		return r.within(&node{kind: '{', from: from}, "}")
	}
	for r.at < len(r.text) && !strings.ContainsRune(",]}#\r\n", rune(r.text[r.at])) {
		r.at++
	}
	scalar := strings.TrimRight(r.text[from:r.at], " \t")
	if scalar == "" || strings.ContainsAny(scalar, " \t") && !dateTime.MatchString(scalar) {
		return nil, r.wrong("a value was expected")
	}
	return &node{kind: '0', from: from, to: from + len(scalar)}, nil
}

// within reads the entries of a list or of a table in one value.
func (r *tomlReader) within(n *node, closing string) (*node, error) {
	if r.depth++; r.depth > tomlDepth {
		return nil, r.wrong("lists and tables lie too deep within each other")
	}
	defer func() { r.depth-- }()
	r.at++
	for {
		r.skip(true)
		if r.next(closing) {
			r.at++
			n.to = r.at
			return n, nil
		}
		if r.at == len(r.text) {
			return nil, r.wrong("a value does not end")
		}
		if n.kind == '{' {
			if err := r.pair(n); err != nil {
				return nil, err
			}
		} else {
			v, err := r.value()
			if err != nil {
				return nil, err
			}
			n.elements = append(n.elements, v)
		}
		r.skip(true)
		if r.next(",") {
			r.at++
		} else if !r.next(closing) {
			return nil, r.wrong("a comma is missing")
		}
	}
}

// quoted reads a string of any of the four kinds.
func (r *tomlReader) quoted() (*node, error) {
	from, quote := r.at, r.text[r.at:r.at+1]
	if r.next(strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	r.at += len(quote)
	for r.at < len(r.text) {
		switch {
		case r.next(quote):
			r.at += len(quote)
			for len(quote) == 3 && r.next(quote[:1]) { // up to two more belong to the text
				r.at++
			}
			return &node{kind: '"', from: from, to: r.at}, nil
		case r.next(`\`) && quote[0] == '"':
			r.at += 2
		case len(quote) == 1 && r.next("\n"):
			return nil, r.wrong("a string does not end")
		default:
			r.at++
		}
	}
	r.at = from
	return nil, r.wrong("a string does not end")
}

// tomlText is the text of a string of TOML; empty for anything else.
func tomlText(text []byte, n *node) string {
	if n == nil || n.kind != '"' {
		return ""
	}
	raw := string(n.raw(text))
	width := 1
	if strings.HasPrefix(raw, `"""`) || strings.HasPrefix(raw, `'''`) {
		width = 3
	}
	within := raw[width : len(raw)-width]
	if width == 3 {
		within = strings.TrimPrefix(strings.TrimPrefix(within, "\r"), "\n")
	}
	if raw[0] == '\'' {
		return within
	}
	return tomlUnescaped(within)
}

func tomlUnescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[i]]; digits > 0 && i+digits < len(s) {
			if r, err := strconv.ParseUint(s[i+1:i+1+digits], 16, 32); err == nil {
				b.WriteRune(rune(r))
				i += digits
			}
			continue
		}
		if at := strings.IndexByte(`btnfre"\`, s[i]); at >= 0 {
			b.WriteByte("\b\t\n\f\r\x1b\"\\"[at])
			continue
		}
		i += len(s[i:]) - len(strings.TrimLeft(s[i:], " \t\r\n")) - 1 // a line that goes on
	}
	return b.String()
}
