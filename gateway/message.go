package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/lines"
)

// message is one JSON-RPC message. Its parts are slices of the line it came on.
type message struct {
	line     []byte
	id       jsontext.Value // as it was spelled; nil if there is none
	method   string
	params   jsontext.Value
	paramsAt int // where they begin in the line
	result   jsontext.Value
	resultAt int
	failed   bool // it has an error
}

// request reports whether somebody waits for an answer to it.
func (m *message) request() bool { return m.method != "" && m.id != nil }

// response reports whether it answers a request.
func (m *message) response() bool { return m.method == "" }

// key is what ids are compared by: 1 and 1.0 are one number, and so is "1", as it
// is for the clients of the protocol's own libraries.
func (m *message) key() string {
	text, err := jcs.Canonicalize(m.id)
	if err != nil {
		return string(m.id)
	}
	var word string
	if readText(text, &word) == nil {
		if n, err := jcs.Canonicalize([]byte(strings.TrimSpace(word))); err == nil && jsontext.Value(n).Kind() == '0' {
			return string(n)
		}
	}
	return string(text)
}

// The members of a message. Others are left alone, unless a careless reader
// could take them for one of these.
var messageMembers = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// readStrict reads a message of the client: nothing in it may be read in two
// ways, at any depth.
func readStrict(line []byte) (message, error) {
	if err := jcs.Check(line); err != nil {
		return message{line: line}, fmt.Errorf("%w: %w", sayso.ErrInvalid, err)
	}
	return readMessage(line)
}

// readMessage reads a message of which only the outermost members must be
// readable in one way.
func readMessage(line []byte) (message, error) {
	m := message{line: line}
	if err := lines.One(line); err != nil {
		return m, err
	}
	err := members(line, messageMembers, func(name string, value jsontext.Value, at int) error {
		switch name {
		case "id":
			m.id = value
		case "method":
			return readText(value, &m.method)
		case "params":
			m.params, m.paramsAt = value, at
		case "result":
			m.result, m.resultAt = value, at
		case "error":
			m.failed = true
		}
		return nil
	})
	if err != nil {
		return m, err
	}
	return m, m.check()
}

// check reports a message that is none of a request, a notification and a
// response.
func (m *message) check() error {
	answers := m.result != nil || m.failed
	switch {
	case m.id != nil && m.id.Kind() != '"' && m.id.Kind() != '0' && (m.method != "" || m.id.Kind() != 'n'):
		return invalid("an id is a text or a number")
	case m.method != "" && answers, m.result != nil && m.failed:
		return invalid("it asks and answers at once")
	case m.method == "" && !answers:
		return invalid("it neither asks nor answers")
	}
	return nil
}

func invalid(why string) error { return fmt.Errorf("%w: %s", sayso.ErrInvalid, why) }

// members calls each with the members of the one object in text, and where their
// values begin. It refuses those that come twice, and those that are called like
// a known one but for case or characters that nobody sees.
func members(text []byte, known []string, each func(name string, value jsontext.Value, at int) error) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if open, err := d.ReadToken(); err != nil || open.Kind() != '{' {
		return invalid("it is not one JSON object")
	}
	seen := map[string]bool{}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return invalid("it is not one JSON object")
		}
		name := token.String()
		if seen[name] {
			return invalid("a member comes twice")
		}
		seen[name] = true
		if posesAs(name, known) {
			return invalid("a member is called nearly like one of the protocol")
		}
		value, err := d.ReadValue()
		if err != nil {
			return invalid("it is not one JSON object")
		}
		end := int(d.InputOffset())
		at := end - len(value)
		if err := each(name, text[at:end], at); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return invalid("it is not one JSON object")
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return invalid("something stands behind the message")
	}
	return nil
}

// soleID is the id of a line that is one JSON object, with one id and no method,
// whatever else comes twice in it; else nil.
func soleID(line []byte) (id jsontext.Value) {
	d := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if open, err := d.ReadToken(); err != nil || open.Kind() != '{' {
		return nil
	}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return nil
		}
		name := token.String()
		value, err := d.ReadValue()
		switch {
		case err != nil, name == "method", name == "id" && id != nil, posesAs(name, []string{"id", "method"}):
			return nil
		case name == "id":
			id = value.Clone()
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil
	}
	return id
}

// elements calls each with the elements of the array in text, and where they
// begin.
func elements(text []byte, each func(value jsontext.Value, at int) error) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	if open, err := d.ReadToken(); err != nil || open.Kind() != '[' {
		return invalid("an array was expected")
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return invalid("an array was expected")
		}
		end := int(d.InputOffset())
		if err := each(text[end-len(value):end], end-len(value)); err != nil {
			return err
		}
	}
	return nil
}

// posesAs reports whether a careless reader could take a name for one of those
// that are known.
func posesAs(name string, known []string) bool {
	for _, k := range known {
		if name != k && strings.EqualFold(plainName(name), k) {
			return true
		}
	}
	return false
}

// plainName is a name without blanks and control characters.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return -1
		}
		return r
	}, name)
}

// readText reads a string.
func readText(value jsontext.Value, into *string) error {
	if value.Kind() != '"' {
		return invalid("a text was expected")
	}
	if err := jcs.Unmarshal(value, into); err != nil {
		return fmt.Errorf("%w: %w", sayso.ErrInvalid, err)
	}
	return nil
}
