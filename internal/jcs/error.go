package jcs

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The reasons that a [SyntaxError] can give. There are no others.
const (
	DuplicateKey  = "duplicate key"
	NotObject     = "not an object"
	LoneSurrogate = "lone surrogate"
	NumberRange   = "number out of range"
	TooDeep       = "too deep"
	TrailingData  = "trailing data"
	InvalidSyntax = "invalid syntax"
	UnknownMember = "unknown member"
	WrongType     = "wrong type"
	InvalidUTF8   = "invalid UTF-8"
)

// maxPointerText bounds how much of a pointer an error text shows: member names
// are the sender's, and may be long.
const maxPointerText = 120

// maxName is the longest member name that an error text shows, in bytes.
const maxName = 60

// SyntaxError tells why and where JSON was refused. Its text holds member names
// at most, never values.
type SyntaxError struct {
	// Offset counts bytes from the start of the input (of the output, when
	// encoding). The fault is there or shortly after.
	Offset int64
	// Pointer is the RFC 6901 pointer to the value or member at fault, as far
	// as it is known; empty means the whole value.
	Pointer string
	// Reason is one of the constants of this package.
	Reason string

	cause error
}

// Error says the reason and the place.
func (e *SyntaxError) Error() string {
	if e.Pointer == "" {
		return fmt.Sprintf("json: %s at byte %d", e.Reason, e.Offset)
	}
	return fmt.Sprintf("json: %s at %s (byte %d)", e.Reason, shorten(e.Pointer), e.Offset)
}

// Unwrap returns the error of the Go type's own UnmarshalJSON, MarshalJSON,
// UnmarshalText or MarshalText method, if that is what refused, so that
// errors.Is works through it. The text of such an error may repeat values.
func (e *SyntaxError) Unwrap() error { return e.cause }

// shorten shows the ends of a pointer. It leaves out whole names and never cuts
// one: a part of a secret could not be told to be one by whoever hides them.
func shorten(pointer string) string {
	names := strings.Split(pointer, "/")
	for i, name := range names {
		if len(name) > maxName {
			names[i] = fmt.Sprintf("[%d bytes]", len(name))
		}
	}
	text := strings.Join(names, "/")
	for len(names) > 3 && len(text) > maxPointerText {
		middle := len(names) / 2
		names = append(names[:middle], names[middle+1:]...)
		text = strings.Join(names[:middle], "/") + "/.../" + strings.Join(names[middle:], "/")
	}
	return strconv.Quote(text)
}

// at builds the error for a fault that starts at src[offset]. It reads the text
// again to find the pointer, which only refusals pay for.
func at(src []byte, offset int, reason string) *SyntaxError {
	dec := jsontext.NewDecoder(bytes.NewReader(src))
	for dec.InputOffset() <= int64(offset) {
		if _, err := dec.ReadToken(); err != nil {
			break
		}
	}
	return &SyntaxError{Offset: int64(offset), Pointer: string(dec.StackPointer()), Reason: reason}
}

// diagnose says why the library refused src.
func diagnose(src []byte) *SyntaxError {
	dec := jsontext.NewDecoder(bytes.NewReader(src))
	if _, err := dec.ReadValue(); err != nil {
		return classify(src, err)
	}
	rest := bytes.TrimLeft(src[dec.InputOffset():], " \t\r\n")
	return &SyntaxError{Offset: int64(len(src) - len(rest)), Reason: TrailingData}
}

// classify names the fault at the place that the library's error tells. Where
// the library has no error value to compare with, the bytes there decide.
func classify(src []byte, err error) *SyntaxError {
	e := &SyntaxError{Reason: InvalidSyntax, Offset: int64(len(src))}
	var lib *jsontext.SyntacticError
	if errors.As(err, &lib) {
		e.Offset, e.Pointer = lib.ByteOffset, string(lib.JSONPointer)
	}
	rest := src[min(max(e.Offset, 0), int64(len(src))):]
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		e.Reason = DuplicateKey
	case startsInvalidUTF8(rest):
		e.Reason = InvalidUTF8
	case startsSurrogate(rest):
		e.Reason = LoneSurrogate
	}
	return e
}

func startsInvalidUTF8(b []byte) bool {
	r, n := utf8.DecodeRune(b)
	return r == utf8.RuneError && n == 1
}

// startsSurrogate reports whether b starts with the escape of half a character
// beyond the basic plane.
func startsSurrogate(b []byte) bool {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return false
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return err == nil && 0xD800 <= v && v <= 0xDFFF
}

// decodeError turns an error of json.Unmarshal on src into ours.
func decodeError(src []byte, err error) error {
	var sem *json.SemanticError
	if !errors.As(err, &sem) {
		return diagnose(src)
	}
	return semantic(sem)
}

// encodeError turns an error of json.Marshal into ours.
func encodeError(err error) error {
	var sem *json.SemanticError
	if errors.As(err, &sem) {
		return semantic(sem)
	}
	e := &SyntaxError{Reason: WrongType}
	var lib *jsontext.SyntacticError
	if errors.As(err, &lib) {
		e.Offset, e.Pointer = lib.ByteOffset, string(lib.JSONPointer)
	}
	if reason, ok := reasonOf(err); ok {
		e.Reason = reason
	}
	return e
}

// semantic keeps the place of the library's error and drops its text, which
// repeats the value.
func semantic(sem *json.SemanticError) *SyntaxError {
	e := &SyntaxError{Offset: sem.ByteOffset, Pointer: string(sem.JSONPointer), Reason: WrongType, cause: sem.Err}
	if reason, ok := reasonOf(sem.Err); ok {
		e.Reason, e.cause = reason, nil
	}
	var inner *SyntaxError
	if errors.As(sem.Err, &inner) { // a type that decodes itself with this package
		e.Offset += inner.Offset
		e.Pointer += inner.Pointer
		e.Reason, e.cause = inner.Reason, inner.cause
	}
	return e
}

// reasonOf names the faults that the library has error values for.
func reasonOf(err error) (string, bool) {
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return UnknownMember, true
	case errors.Is(err, jsontext.ErrDuplicateName):
		return DuplicateKey, true
	case errors.Is(err, errNotUTF8):
		return InvalidUTF8, true
	}
	var lib *jsontext.SyntacticError
	if errors.As(err, &lib) {
		return InvalidSyntax, true
	}
	return "", false
}

// errNotUTF8 is the library's error for text that is not UTF-8, which it does
// not export.
var errNotUTF8 = func() error {
	_, err := jsontext.AppendQuote(nil, "\xff")
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}()
