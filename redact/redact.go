// Package redact hides what must not be shown.
//
// A call holds secrets in many places: under a telling key, in a shape that
// only a credential has, or deep inside a command line, an address, a header
// or a document that is quoted in a string. A [Redactor] finds them and puts a
// marker in their place that says how long the hidden value was. Every surface
// that shows a call shows what a Redactor left of it: previews, events, logs,
// errors and crash output.
//
// # What is hidden
//
//   - the value of a member, option, variable, parameter, header or document
//     entry whose name holds a telling word (password, token, api key ...) as a
//     whole word: accessToken and X-API-Key, but not tokenizer;
//   - what has the shape of a credential wherever it stands;
//   - every other occurrence in the same call of a value once found, and of any
//     part of it of eight or more bytes, plain or encoded.
//
// # What is not
//
// A hidden value ends where the shell, the address or the text says that it
// ends, and what follows stays visible. A value that is a command substitution
// or a reference to a variable is no secret but something that will run or be
// looked up, so it stays visible too: nothing can be smuggled past a reader by
// calling it a password.
//
// What a command runs, and where it goes, is never hidden. Two commands that
// differ only in what is hidden of them run the same programs with the same
// options, connect to the same places and change the same files: whatever the
// inspection of a line says of it must be the same with other bytes in those
// places, or they are shown. A line that cannot be read hides plain values alone.
//
// An object or a list under a telling name that says what runs is searched, and of
// what else it holds each value is hidden by itself. Names of events, as SessionStart,
// tell nothing. What the content of a file says is hidden in a path, in a folder and
// in the name of a caller only if it looks random.
//
// A command is a line, a list of its words, or a line and a list, under the names
// that tools have for them. A list is read as the line that runs the same. What a
// line does with a variable holds for where it is set in the line, and in the
// environment beside it: what runs, and where something goes, is shown; what may
// run, or is an operand of a program that is not known to take a secret there, is
// shown unless it looks random. A variable whose name tells nothing is hidden if
// programs take it as a secret and nothing else does.
//
// A program in another language, in a command or in a member of such a name, is
// shown but for plain values and texts in quotes, and but for random values if it
// may run what it holds. The content of a file is no program here.
//
// All work is linear in the size of the input.
package redact

import (
	"fmt"
	"strings"

	"github.com/sayso-dev/sayso"
)

// Limits of previews that hold unless [Options] say otherwise.
const (
	DefaultMaxString = 2000 // characters of one string
	DefaultMaxItems  = 50   // items of an array, members of an object
)

// Options change what a [Redactor] hides and how much a preview shows. The zero
// value means the defaults.
type Options struct {
	Keys      []string // further telling names, as words: "badge" or "door code"
	MaxString int      // characters of a string in a preview; 0 means DefaultMaxString
	MaxItems  int      // items of a container in a preview; 0 means DefaultMaxItems
}

// Redactor hides secrets. It holds rules only, never what it has seen, and may
// be used by many goroutines at once.
type Redactor struct {
	names     names
	maxString int
	maxItems  int
}

// New returns a redactor with the given options; nil means the defaults.
func New(opts *Options) *Redactor {
	var o Options
	if opts != nil {
		o = *opts
	}
	r := &Redactor{names: newNames(o.Keys), maxString: o.MaxString, maxItems: o.MaxItems}
	if r.maxString <= 0 {
		r.maxString = DefaultMaxString
	}
	if r.maxItems <= 0 {
		r.maxItems = DefaultMaxItems
	}
	return r
}

// Result is a call with everything secret hidden.
type Result struct {
	Full       []byte            // the arguments in full, same structure
	Texts      map[string]string // the texts, under the names they came with
	Redactions []sayso.Redaction // in the order of the arguments, then of the names of texts
}

// Call hides secrets in the arguments of a call and in the texts that go with
// it (description, note, presentation ...) together, so that a value found in
// one is hidden in all. The path of a redaction in a text is the text's name. A
// text named MEMBERS/NAME is the value of a member: all of it is hidden if its
// name tells a secret.
// Args may be empty when there are texts only. It is an error if args are not
// one strict JSON value; then nothing is returned, and the error shows nothing
// of them.
func (r *Redactor) Call(args []byte, texts map[string]string) (Result, error) {
	c := newCall(r)
	var root *node
	if len(args) > 0 {
		var err error
		if root, err = parse(args); err != nil {
			return Result{}, err
		}
		c.findIn(root)
	}
	named := c.findInTexts(texts)
	c.known()
	var res Result
	if root != nil {
		res.Full = c.emit(nil, root, nil, "")
	}
	if texts != nil {
		res.Texts = make(map[string]string, len(texts))
	}
	for i := range named {
		res.Texts[named[i].name] = c.textNamed(&named[i])
	}
	res.Redactions = c.redactions
	return res, nil
}

// Args hides secrets in the arguments of a call and returns them in full, with
// the same structure: every member and item is still there, in its place.
func (r *Redactor) Args(raw []byte) (full []byte, redactions []sayso.Redaction, err error) {
	if len(raw) == 0 {
		return nil, nil, fmt.Errorf("redact arguments: %w", errEmpty)
	}
	res, err := r.Call(raw, nil)
	return res.Full, res.Redactions, err
}

// Text hides secrets in one text that stands alone. The paths of its
// redactions are empty.
func (r *Redactor) Text(s string) (string, []sayso.Redaction) {
	c := newCall(r)
	t := c.findInTexts(map[string]string{"": s})
	c.known()
	out := c.text(&t[0].node, nil, "text")
	return out, c.redactions
}

// marker is what stands in place of n hidden bytes.
func marker(n int) string {
	return fmt.Sprintf("[hidden %d bytes]", n)
}

const (
	markerHead = "[hidden "
	markerTail = " bytes]"
)

// markerEnd returns the length of a marker at the start of s, or 0.
func markerEnd(s string) int {
	if !strings.HasPrefix(s, markerHead) {
		return 0
	}
	i := len(markerHead)
	for i < len(s) && isDigit(s[i]) && i < len(markerHead)+12 {
		i++
	}
	if i == len(markerHead) || !strings.HasPrefix(s[i:], markerTail) {
		return 0
	}
	return i + len(markerTail)
}
