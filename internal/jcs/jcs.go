// Package jcs reads and writes JSON strictly, and gives every JSON value one
// canonical spelling.
//
// Reading is strict because a decision hangs on what was read: two readers of
// one text must not see two different calls. Everything here is case-sensitive
// and refuses duplicate member names at any depth, text that is not UTF-8, lone
// surrogates, data after the value, nesting beyond [MaxDepth], and numbers that
// no double can hold.
//
// The canonical form is "JCS with exact integers": RFC 8785, except that a
// number is never rounded into another one by way of an integer. Whole numbers
// keep all their digits, so 9007199254740993 and 9007199254740992 stay apart,
// while 1, 1.0 and 1e0 are one number and have one spelling. For whole numbers
// of at most 17 significant digits that are their double's shortest spelling,
// and for all fractions that a double keeps a fraction, the result is byte for
// byte that of RFC 8785.
//
// Errors are a [*SyntaxError]. Its text tells where the fault is and never
// repeats a value of the input, so it may be logged.
package jcs

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how many arrays and objects may be open at once.
const MaxDepth = 200

var (
	// Numbers are left alone here and respelled afterwards by appendNumber:
	// the library would round fractions into integers and keep "1.0" and "1"
	// apart or round both, depending on the options.
	canonical = jsontext.ReorderRawObjects(true)

	strict        = json.RejectUnknownMembers(true)
	lenient       = json.RejectUnknownMembers(false)
	deterministic = json.Deterministic(true)
	indented      = json.JoinOptions(deterministic, jsontext.WithIndent("  "))
)

// Canonicalize returns the canonical form of the one JSON value in src. Equal
// values have equal forms whatever the order of members, the white space, the
// escapes in strings, or the spelling of numbers; different values have
// different forms, except fractions that round to the same double. The form is
// its own canonical form. src is not changed, and no result comes with an error.
func Canonicalize(src []byte) ([]byte, error) {
	plain, err := survey(src)
	if err != nil {
		return nil, err
	}
	out, ferr := jsontext.AppendFormat(make([]byte, 0, len(src)), src, canonical)
	if ferr != nil {
		return nil, diagnose(src)
	}
	if plain {
		return out, nil
	}
	return respellNumbers(make([]byte, 0, len(out)), out), nil
}

// Object is [Canonicalize] for a value that must be an object.
func Object(src []byte) ([]byte, error) {
	out, err := Canonicalize(src)
	if err != nil {
		return nil, err
	}
	if out[0] != '{' {
		return nil, &SyntaxError{Reason: NotObject}
	}
	return out, nil
}

// Check reports what [Canonicalize] would refuse in src, without building the
// result. It does not allocate for text that is fine.
func Check(src []byte) error {
	if _, err := survey(src); err != nil {
		return err
	}
	if !jsontext.Value(src).IsValid() {
		return diagnose(src)
	}
	return nil
}

// Unmarshal decodes the one JSON value in src into what into points at. Besides
// what the package refuses everywhere, it refuses members that the Go type does
// not know. Types with UnmarshalJSON or UnmarshalText are honoured. On an error
// the target may be half filled and must not be used.
func Unmarshal(src []byte, into any) error {
	return unmarshal(src, into, strict)
}

// UnmarshalLenient is [Unmarshal] except that unknown members are skipped, for
// payloads of hosts that grow members over time. It is as strict in all else,
// also inside the members it skips.
func UnmarshalLenient(src []byte, into any) error {
	return unmarshal(src, into, lenient)
}

func unmarshal(src []byte, into any, members json.Options) error {
	if _, err := survey(src); err != nil {
		return err
	}
	if err := json.Unmarshal(src, into, members); err != nil {
		return decodeError(src, err)
	}
	return nil
}

// Marshal encodes v in one line: map keys sorted, struct members in the order
// of the type, nothing escaped for HTML. Equal values give equal bytes. It
// refuses strings that are not UTF-8, and raw JSON that is not strict.
func Marshal(v any) ([]byte, error) {
	return marshal(v, deterministic)
}

// MarshalIndent is [Marshal] over several lines, indented by two spaces, for
// people to read.
func MarshalIndent(v any) ([]byte, error) {
	return marshal(v, indented)
}

func marshal(v any, opts json.Options) ([]byte, error) {
	out, err := json.Marshal(v, opts)
	if err != nil {
		return nil, encodeError(err)
	}
	return out, nil
}
