// Package rpc reads the messages of JSON-RPC member by member, as those do who stand
// between two that talk: nothing that is passed on may be one message for us and
// another for whoever reads it next.
//
// What is known here is JSON and names. What the messages of a protocol mean is for
// whoever knows the protocol: package gateway (MCP) and package agent/acp (the Agent
// Client Protocol).
package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// Invalid is the error of a message that cannot be read in one way.
func Invalid(why string) error { return fmt.Errorf("%w: %s", sayso.ErrInvalid, why) }

// Members calls each with the members of the one object in text, and where their
// values begin. It refuses those that come twice, and those that are called like
// a known one but for case or characters that nobody sees.
func Members(text []byte, known []string, each func(name string, value jsontext.Value, at int) error) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if open, err := d.ReadToken(); err != nil || open.Kind() != '{' {
		return Invalid("it is not one JSON object")
	}
	seen := map[string]bool{}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return Invalid("it is not one JSON object")
		}
		name := token.String()
		if seen[name] {
			return Invalid("a member comes twice")
		}
		seen[name] = true
		if PosesAs(name, known) {
			return Invalid("a member is called nearly like one of the protocol")
		}
		value, err := d.ReadValue()
		if err != nil {
			return Invalid("it is not one JSON object")
		}
		end := int(d.InputOffset())
		at := end - len(value)
		if err := each(name, text[at:end], at); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return Invalid("it is not one JSON object")
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return Invalid("something stands behind the message")
	}
	return nil
}

// SoleID is the id of a line that is one JSON object, with one id and no method,
// whatever else comes twice in it; else nil.
func SoleID(line []byte) (id jsontext.Value) {
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
		case err != nil, name == "method", name == "id" && id != nil, PosesAs(name, []string{"id", "method"}):
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

// Elements calls each with the elements of the array in text, and where they
// begin.
func Elements(text []byte, each func(value jsontext.Value, at int) error) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	if open, err := d.ReadToken(); err != nil || open.Kind() != '[' {
		return Invalid("an array was expected")
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return Invalid("an array was expected")
		}
		end := int(d.InputOffset())
		if err := each(text[end-len(value):end], end-len(value)); err != nil {
			return err
		}
	}
	return nil
}

// PosesAs reports whether a careless reader could take a name for one of those
// that are known.
func PosesAs(name string, known []string) bool {
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

// ReadText reads a string.
func ReadText(value jsontext.Value, into *string) error {
	if value.Kind() != '"' {
		return Invalid("a text was expected")
	}
	if err := jcs.Unmarshal(value, into); err != nil {
		return fmt.Errorf("%w: %w", sayso.ErrInvalid, err)
	}
	return nil
}
