package hook

import (
	"errors"
	"strings"

	"github.com/sayso-dev/sayso/internal/home"
	"github.com/sayso-dev/sayso/redact"
)

// plainError is an error with a text that an agent may be told.
type plainError struct {
	error
	text string
}

func (e *plainError) Error() string { return e.text }

func (e *plainError) Unwrap() error { return e.error }

// Plain is err on one line, without what must not be shown, and with what to
// type where the error knows it. It is still the error that it was.
func Plain(err error) error {
	if err == nil {
		return nil
	}
	text := strings.Join(strings.FieldsFunc(redact.Scrub(err.Error()), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	var open *home.OpenError
	if errors.As(err, &open) {
		text += "; type: " + redact.Scrub(open.Hint())
	}
	return &plainError{err, text}
}
