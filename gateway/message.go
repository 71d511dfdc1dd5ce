package gateway

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/lines"
	"github.com/sayso-dev/sayso/internal/rpc"
)

// message is one JSON-RPC message. Its parts are slices of the line it came on.
type message struct {
	line     []byte
	id       jsontext.Value // as it was spelled; nil if there is none
	idAt     int            // where it begins in the line
	method   string
	params   jsontext.Value
	paramsAt int // where they begin in the line
	result   jsontext.Value
	resultAt int
	failed   bool // it has an error, which is
	fault    jsontext.Value
}

// isRequest reports whether somebody waits for an answer to it.
func (m *message) isRequest() bool { return m.method != "" && m.id != nil }

// isResponse reports whether it answers a request.
func (m *message) isResponse() bool { return m.method == "" }

// key is what ids are compared by: 1 and 1.0 are one number, and so is "1", as it
// is for the clients of the protocol's own libraries.
func (m *message) key() string {
	text, err := jcs.Canonicalize(m.id)
	if err != nil {
		return string(m.id)
	}
	var word string
	if rpc.ReadText(text, &word) == nil {
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
	err := rpc.Members(line, messageMembers, func(name string, value jsontext.Value, at int) error {
		switch name {
		case "id":
			m.id, m.idAt = value, at
		case "method":
			return rpc.ReadText(value, &m.method)
		case "params":
			m.params, m.paramsAt = value, at
		case "result":
			m.result, m.resultAt = value, at
		case "error":
			m.failed, m.fault = true, value
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
		return rpc.Invalid("an id is a text or a number")
	case m.id != nil && !m.id.IsValid(): // which no answer could have
		return rpc.Invalid("an id is no text that can be read")
	case m.method != "" && answers, m.result != nil && m.failed:
		return rpc.Invalid("it asks and answers at once")
	case m.method == "" && !answers:
		return rpc.Invalid("it neither asks nor answers")
	}
	return nil
}
