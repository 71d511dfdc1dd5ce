package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

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
func (a *app) confirm(question string) (bool, error) {
	typed, err := a.ask(question + " [y/n]")
	return typed == "y", err
}

// ask asks for a line at the terminal. What was typed before the question is no
// answer.
func (a *app) ask(question string) (string, error) {
	f, ok := a.terminal()
	if !ok {
		return "", hint(errNoTerminal, "add --yes")
	}
	flush(f)
	fmt.Fprintf(a.err, "%s ", question)
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(line), nil
}
