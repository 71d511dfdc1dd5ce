package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// MaxFile is the largest policy file, in bytes.
const MaxFile = 1 << 20

// maxErrors is how many mistakes of one file are told at once.
const maxErrors = 50

// reader turns YAML into values and keeps the mistakes on the way. It reads
// nodes, never Go values: the node has the place, and the text as written.
type reader struct {
	file     string
	about    string // what the file is: a policy
	source   []byte
	errs     Errors
	warnings []Warning
	pending  []func() // checks that need all of the file
	examples []func() // checks that need all of it without a mistake
}

// settle runs the checks that need all of the file.
func (r *reader) settle() {
	for _, check := range r.pending {
		check()
	}
	if len(r.errs) > 0 {
		return // what is wrong already may be the reason
	}
	for _, check := range r.examples {
		check()
	}
}

// failing, if it is set, is called by whoever finds a mistake. Tests look who
// calls.
var failing func()

func (r *reader) fail(n *yaml.Node, code Code, write, what string, args ...any) {
	if failing != nil {
		failing()
	}
	if len(r.errs) < maxErrors {
		r.errs = append(r.errs, &Error{r.file, n.Line, n.Column, code, fmt.Sprintf(what, args...), write})
	}
}

func (r *reader) warn(n *yaml.Node, what string, args ...any) {
	r.warnings = append(r.warnings, Warning{r.file, n.Line, n.Column, fmt.Sprintf(what, args...)})
}

// err returns the mistakes in order of their places.
func (r *reader) err() error {
	if len(r.errs) == 0 {
		return nil
	}
	slices.SortStableFunc(r.errs, func(a, b *Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return r.errs
}

// document returns the one document in text, nil after a mistake.
func (r *reader) document(text []byte) *yaml.Node {
	top := &yaml.Node{Line: 1, Column: 1}
	if len(text) > MaxFile {
		r.fail(top, CodeTooLarge, "", "the file has %d bytes, %s may have %d", len(text), r.about, MaxFile)
		return nil
	}
	if at := firstBad(text); at >= 0 {
		line, col := placeOf(text, at)
		r.fail(&yaml.Node{Line: line, Column: col}, CodeNotText, "", "the file is not UTF-8 here, or holds a control character")
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		r.syntax(err)
		return nil
	}
	var doc, more yaml.Node
	if err := loader.Load(&doc); err != nil && !errors.Is(err, io.EOF) {
		r.syntax(err)
		return nil
	} else if err != nil || len(doc.Content) != 1 {
		r.fail(top, CodeEmpty, "write version: 1, or remove the file", "the file says nothing")
		return nil
	}
	if err := loader.Load(&more); err == nil {
		at := &more
		if len(more.Content) > 0 {
			at = more.Content[0]
		}
		r.fail(at, CodeDocuments, "remove the line ---", "%s is one document, and here begins another", r.about)
		return nil
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
		return nil
	}
	if !r.plain(doc.Content[0], 0) {
		return nil
	}
	return doc.Content[0]
}

// versioned reads the mapping that a file is, which must say in which version of
// the format it is.
func (r *reader) versioned(doc *yaml.Node, fields map[string]field, later map[string]string) bool {
	versioned := false
	fields["version"] = func(_, n *yaml.Node) { versioned = true; r.version(n) }
	ok := r.mapping(doc, r.about, fields, later)
	if ok && !versioned {
		r.fail(doc, CodeVersion, "write version: 1 in the first line", "%s says which version of the format it is in, and this does not", r.about)
	}
	return ok
}

func (r *reader) version(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Value != "1" {
		r.fail(n, CodeVersion, "write version: 1", "this program reads version 1 of the format, not %s", kindOf(n))
	}
}

func (r *reader) syntax(err error) {
	at := &yaml.Node{Line: 1, Column: 1}
	what := err.Error()
	var le *yaml.LoadError
	if errors.As(err, &le) {
		what = le.Message
		at.Line, at.Column = max(le.Mark.Line, 1), max(le.Mark.Column, 1)
	}
	write := ""
	for _, sign := range [...]string{"anchor", "alphabetic", "mapping values", "cannot start any token", "node content"} {
		if strings.Contains(what, sign) {
			write = "put quotes around patterns, and indent with blanks"
		}
	}
	for _, sign := range [...]string{"expected '-' indicator", "expected key", "expected <block end>"} {
		if strings.Contains(what, sign) {
			write = "line this key up with the one above in its rule"
		}
	}
	r.fail(at, CodeSyntax, write, "this is not YAML: %s", what)
}

// firstBad returns the offset of the first byte that is no text, or -1.
func firstBad(text []byte) int {
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && n == 1 || c < ' ' && c != '\n' && c != '\t' && c != '\r' || c >= 0x7f && c < 0xa0 {
			return i
		}
		i += n
	}
	return -1
}

func placeOf(text []byte, at int) (line, column int) {
	before := text[:at]
	return 1 + bytes.Count(before, []byte("\n")), at - bytes.LastIndexByte(before, '\n')
}

// plain refuses, everywhere in the tree, what lets one text stand for another.
func (r *reader) plain(n *yaml.Node, depth int) bool {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		r.fail(n, CodeAnchor, "write the value out; a pattern that begins with & or * needs quotes", "%s has no anchors and no aliases", r.about)
		return false
	case n.Style&yaml.TaggedStyle != 0:
		r.fail(n, CodeTag, "remove "+n.Tag, "%s has no type tags", r.about)
		return false
	case depth > 20:
		r.fail(n, CodeType, "", "nothing in %s is nested this deep", r.about)
		return false
	}
	for _, c := range n.Content {
		if !r.plain(c, depth+1) {
			return false
		}
	}
	return true
}

// field reads the value of one key.
type field func(key, value *yaml.Node)

// reading, if it is set, is told of every mapping that is read. Tests hold the
// schema against it.
var reading func(where string, fields map[string]field)

// mapping reads a mapping whose keys are those of fields, or known in later.
func (r *reader) mapping(n *yaml.Node, where string, fields map[string]field, later map[string]string) bool {
	if reading != nil {
		reading(where, fields)
	}
	if n.Kind != yaml.MappingNode {
		r.fail(n, CodeType, "", "%s must be a mapping of keys to values, not %s", where, kindOf(n))
		return false
	}
	r.pairs(n, func(key, value *yaml.Node) { r.key(key, value, where, fields, later) })
	return true
}

// pairs reads the keys of a mapping, each once.
func (r *reader) pairs(n *yaml.Node, read field) {
	seen := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
			r.fail(key, CodeType, "", "a key must be a word, not %s", kindOf(key))
			continue
		}
		if line, twice := seen[key.Value]; twice {
			r.fail(key, CodeDuplicateKey, "keep one of them", "%s is here for the second time; it is in line %d too", key.Value, line)
			continue
		}
		seen[key.Value] = key.Line
		read(key, value)
	}
}

// names reads a mapping whose keys the person chose.
func (r *reader) names(n *yaml.Node, what string, read field) {
	r.pairs(n, func(key, value *yaml.Node) {
		if _, ok := r.text(key, what); ok {
			read(key, value)
		}
	})
}

func (r *reader) key(key, value *yaml.Node, where string, fields map[string]field, later map[string]string) {
	if read, ok := fields[key.Value]; ok {
		read(key, value)
		return
	}
	if what, ok := later[key.Value]; ok {
		r.fail(key, CodeNotYet, "remove it", "not yet: %s (%s) comes with a later version, and is not ignored until then", key.Value, what)
		return
	}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	write := "what may stand here: " + strings.Join(names, ", ")
	if near := nearest(key.Value, names); near != "" {
		write = "did you mean " + near + "?"
	}
	r.fail(key, CodeUnknownKey, write, "%s is no key of %s", quoted(key.Value), where)
}

// text returns a string that is not empty and stays on one line.
func (r *reader) text(n *yaml.Node, what string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		write := ""
		if n.Kind == yaml.ScalarNode && n.Value != "" {
			write = `to mean the text, write "` + n.Value + `"`
		} else if n.Kind == yaml.MappingNode {
			write = "put quotes around a text that holds a colon and a blank"
		}
		r.fail(n, CodeType, write, "%s must be text, not %s", what, kindOf(n))
		return "", false
	}
	if strings.TrimSpace(n.Value) == "" {
		r.fail(n, CodeType, "", "%s must not be empty", what)
		return "", false
	}
	if strings.ContainsFunc(n.Value, isInvisible) {
		r.fail(n, CodeNotText, "", "%s holds a line break, or a character that cannot be seen", what)
		return "", false
	}
	return n.Value, true
}

// word returns one of words.
func (r *reader) word(n *yaml.Node, what string, words ...string) (string, bool) {
	s, ok := r.text(n, what)
	if !ok {
		return "", false
	}
	if !slices.Contains(words, s) {
		write := "write " + words[len(words)-1]
		if len(words) > 1 {
			write = "write " + strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
		}
		if near := nearest(s, words); near != "" {
			write = "did you mean " + near + "?"
		}
		r.fail(n, CodeWord, write, "%s cannot be %s", what, quoted(s))
		return "", false
	}
	return s, true
}

// number returns a whole number in plain decimal, from 1 to limit.
func (r *reader) number(n *yaml.Node, what string, limit int) (int, bool) {
	s := n.Value
	value, err := strconv.Atoi(s)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" {
		r.fail(n, CodeType, "write a number without quotes", "%s must be a whole number, not %s", what, kindOf(n))
		return 0, false
	}
	if err != nil || s != strconv.Itoa(value) || value < 1 || value > limit {
		r.fail(n, CodeNumber, fmt.Sprintf("write digits alone, from 1 to %d", limit), "%s cannot be %s", what, s)
		return 0, false
	}
	return value, true
}

// boolean returns true or false, and takes no other word for them.
func (r *reader) boolean(n *yaml.Node, what string) (value, ok bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Value != "true" && n.Value != "false" {
		r.fail(n, CodeType, "write true or false, without quotes", "%s must be true or false, not %s", what, kindOf(n))
		return false, false
	}
	return n.Value == "true", true
}

// duration returns a span like 90s, 30m, 1h30m or 3d.
func (r *reader) duration(n *yaml.Node, what string) (time.Duration, bool) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int" {
		r.fail(n, CodeDuration, "write "+inDuration(n.Value), "%s must have a unit: s, m, h or d", what)
		return 0, false
	}
	s, ok := r.text(n, what)
	if !ok {
		return 0, false
	}
	d, err := parseDuration(s)
	if err != nil || d < time.Second || d > 366*24*time.Hour {
		r.fail(n, CodeDuration, "write for example 90s, 30m, 1h30m or 3d, up to 366d", "%s cannot be %s", what, quoted(s))
		return 0, false
	}
	return d, true
}

// inDuration is what was probably meant by a text in the place of a duration:
// minutes, if it is a number.
func inDuration(text string) string {
	for _, meant := range []string{text, text + "m"} {
		if d, err := parseDuration(meant); err == nil && d >= time.Second {
			return meant
		}
	}
	return "30m"
}

func parseDuration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 9)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(s)
}

// items returns the items of what must be a list.
func (r *reader) items(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, CodeType, "write [ ] around it", "%s must be a list, not %s", what, kindOf(n))
		return nil
	}
	return n.Content
}

// texts returns the texts of what must be a list.
func (r *reader) texts(n *yaml.Node, what, each string) []string {
	var out []string
	for _, item := range r.items(n, what) {
		if text, ok := r.text(item, each); ok {
			out = append(out, text)
		}
	}
	return out
}

// list returns the items of a sequence, or the one item that stands alone.
func list(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.SequenceNode {
		return n.Content
	}
	return []*yaml.Node{n}
}

// kindOf says what a node is, in words.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "the truth value " + n.Value
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!timestamp":
		return "the date " + n.Value
	}
	return "the text " + quoted(n.Value)
}

// quoted is a text short enough for a message.
func quoted(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return strconv.Quote(s)
}
