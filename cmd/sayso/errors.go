package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/redact"
)

// The exit statuses.
const (
	exitYes   = 0
	exitNo    = 1 // denied, another decision stands, a check failed
	exitError = 2 // could not find out
)

// hintError is an error with what to type next.
type hintError struct {
	error
	hint string
}

func (e *hintError) Unwrap() error { return e.error }

// hint adds what to type next to an error.
func hint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &hintError{err, fmt.Sprintf(format, args...)}
}

// usage is an error in how a command was typed.
func usage(err error, h string) error { return &hintError{err, h} }

// no is an answer of no that has been printed already.
type no struct{}

func (no) Error() string { return "no" }

// exit tells the person what went wrong, and returns the exit status.
func (a *app) exit(err error) int {
	if err == nil {
		return exitYes
	}
	if errors.Is(err, no{}) {
		return exitNo
	}
	if other := otherStatus(0); errors.As(err, &other) {
		return int(other)
	}
	if errors.Is(err, errLeft) {
		a.note("%v", err)
		return exitNo
	}
	a.tell("error: " + printable(err.Error()))
	h := hintOf(err)
	if errors.Is(err, syscall.ECONNREFUSED) && ownHint(err) == "" && a.settings.Server != "" {
		h = "nothing listens at " + withoutSecrets(a.settings.Server) + "; on its machine: sayso status, sayso serve"
	}
	if h != "" {
		fmt.Fprintf(a.err, "sayso: hint: %s\n", printable(h))
	}
	var decided *sayso.DecidedError
	if errors.As(err, &decided) {
		return exitNo
	}
	return exitError
}

// hintOf finds what to type next: what the error says itself, or what is known
// of errors of its kind.
func hintOf(err error) string {
	if own := ownHint(err); own != "" {
		return own
	}
	switch {
	case errors.Is(err, sayso.ErrNotFound):
		return "sayso inbox lists what waits, sayso log what was"
	case errors.Is(err, fs.ErrPermission):
		return "sayso doctor says which files are closed to you"
	case errors.Is(err, sayso.ErrUnavailable):
		return "sayso status says what is wrong"
	}
	return ""
}

// ownHint is what an error itself says is to be typed next.
func ownHint(err error) string {
	var hinted *hintError
	if errors.As(err, &hinted) {
		return hinted.hint
	}
	if says, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return says.Hint()
	}
	return ""
}

// note tells the person something that is no answer.
func (a *app) note(format string, args ...any) {
	a.tell(fmt.Sprintf(format, visible(args)...))
}

// tell writes a text for people, on a terminal in lines that end between words.
func (a *app) tell(text string) {
	const head = "sayso: "
	columns := width(a.err)
	if strings.Contains(text, "\n") {
		columns = 0 // its lines are somebody's own
	}
	fmt.Fprintln(a.err, hanging(columns, len(head), head, text))
}

func quote(s string) string { return strconv.Quote(s) }

// asTyped quotes what was typed where something else was wanted. It may be
// anything, also a secret that was pasted into the wrong place.
func asTyped(s string) string { return quote(withoutSecrets(s)) }

func withoutSecrets(s string) string {
	shown, _ := redact.New(nil).Text(s)
	return shown
}

// printable keeps control characters out of what is printed.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
