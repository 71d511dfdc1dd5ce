package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// errLeft says that the person left without an answer.
var errLeft = errors.New("left without an answer; the request still waits")

// errStopped says that the person left a question that no request is about.
var errStopped = errors.New("stopped; nothing was changed")

// The keys that mean something while a line is typed.
const (
	keyInterrupt = 0x03 // Ctrl-C
	keyEnd       = 0x04 // Ctrl-D
	keyBack      = 0x08
	keyClear     = 0x15 // Ctrl-U
	keyEscape    = 0x1b
	keyDelete    = 0x7f // what most terminals send for backspace
)

// key reads one key at the terminal: a letter in lower case, or esc. Keys that
// were typed before the question are thrown away.
func (a *app) key(ctx context.Context, question string) (key string, err error) {
	err = a.raw(question, func(f *os.File) error {
		key, err = readKey(ctx, f)
		fmt.Fprint(a.err, printable(key))
		return err
	})
	return key, err
}

// line reads a line at the terminal, typed after the question. It fails with
// errLeft if the person leaves by Escape, Ctrl-C or Ctrl-D.
func (a *app) line(ctx context.Context, question string) (text string, err error) {
	err = a.raw(question, func(f *os.File) error {
		text, err = a.readLine(ctx, f)
		return err
	})
	return text, err
}

// raw asks a question and lets do read keys as they are pressed.
func (a *app) raw(question string, do func(*os.File) error) error {
	f, ok := a.terminal()
	if !ok {
		return hint(errNoTerminal, "add --yes")
	}
	state, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return err
	}
	flush(f)
	fmt.Fprintf(a.err, "%s ", safe(question))
	err = do(f)
	err = errors.Join(err, term.Restore(int(f.Fd()), state))
	fmt.Fprintln(a.err)
	return err
}

// pressed waits until keys are pressed or ctx ends. It looks again and again,
// since a read from a terminal cannot be called off.
func pressed(ctx context.Context, f *os.File) ([]byte, error) {
	for !ready(f) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	buf := make([]byte, 4096)
	n, err := f.Read(buf)
	if err != nil || n == 0 {
		return nil, errLeft
	}
	return buf[:n], nil
}

func readKey(ctx context.Context, f *os.File) (string, error) {
	keys, err := pressed(ctx, f)
	switch {
	case err != nil:
		return "", err
	case len(keys) > 1:
		return "", nil // a key that sends several bytes, or several keys at once: none of them is an answer
	case keys[0] == keyEscape:
		return "esc", nil
	case keys[0] == keyInterrupt || keys[0] == keyEnd:
		return "", errLeft
	}
	return strings.ToLower(string(keys)), nil
}

func (a *app) readLine(ctx context.Context, f *os.File) (string, error) {
	var typed []byte
	for {
		keys, err := pressed(ctx, f)
		if err != nil {
			return "", err
		}
		if len(keys) == 1 && keys[0] == keyEscape {
			return "", errLeft
		}
		if keys[0] == keyEscape {
			continue // an arrow, or another key that sends several bytes
		}
		for _, k := range keys {
			switch {
			case k == '\r' || k == '\n':
				return strings.TrimSpace(strings.ToValidUTF8(string(typed), "")), nil
			case k == keyInterrupt || k == keyEnd:
				return "", errLeft
			case k == keyDelete || k == keyBack:
				typed = a.rubOut(typed, 1)
			case k == keyClear:
				typed = a.rubOut(typed, utf8.RuneCount(typed))
			case k >= ' ':
				typed = append(typed, k)
				_, _ = a.err.Write([]byte{k}) // what is typed shows, or it does not
			}
		}
	}
}

// rubOut takes the last n characters back, on the screen too.
func (a *app) rubOut(typed []byte, n int) []byte {
	for ; n > 0 && len(typed) > 0; n-- {
		_, size := utf8.DecodeLastRune(typed)
		typed = typed[:len(typed)-size]
		fmt.Fprint(a.err, "\b \b")
	}
	return typed
}
