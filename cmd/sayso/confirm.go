package main

import (
	"context"
	"errors"
	"os"

	"golang.org/x/term"
)

// errNoTerminal says that nobody can be asked.
var errNoTerminal = errors.New("there is no terminal to ask at")

// terminal returns the file of the terminal that the person types at, if
// standard input is one.
func (a *app) terminal() (*os.File, bool) {
	f, ok := a.in.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// confirm asks a question at the terminal. Only y is a yes.
func (a *app) confirm(ctx context.Context, question string) (bool, error) {
	typed, err := a.line(ctx, question+" [y/n, then Enter]")
	return typed == "y", err
}

// agree asks whether to go on with what is no request. It fails unless the
// answer is y.
func (a *app) agree(ctx context.Context, question string) error {
	ok, err := a.confirm(ctx, question)
	switch {
	case errors.Is(err, errLeft), err == nil && !ok:
		a.note("%v", errStopped)
		return no{}
	}
	return err
}
