package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/sayso-dev/sayso/internal/tui"
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

// key reads one key at the terminal: a letter in lower case, or esc. The question
// is there once keys count: no key may have been pressed for a while before it,
// so that none that is held down answers one question after the other.
func (a *app) key(ctx context.Context, question string) (key string, err error) {
	err = a.raw(func(f *os.File) error {
		if err := untilStill(ctx, f); err != nil {
			return err
		}
		fmt.Fprintf(a.err, "%s ", safe(question))
		key, err = readKey(ctx, f)
		fmt.Fprint(a.err, printable(key))
		return err
	})
	return key, err
}

// line reads a line at the terminal, typed after the question. It fails with
// errLeft if the person leaves by Escape, Ctrl-C or Ctrl-D.
func (a *app) line(ctx context.Context, question string) (text string, err error) {
	err = a.raw(func(f *os.File) error {
		fmt.Fprintf(a.err, "%s ", safe(question))
		text, err = a.readLine(ctx, f)
		return err
	})
	return text, err
}

// raw lets do read keys as they are pressed. Those that were typed before are
// thrown away.
func (a *app) raw(do func(*os.File) error) error {
	f, ok := a.terminal()
	if !ok {
		return hint(errNoTerminal, "add --yes")
	}
	state, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return err
	}
	flush(f)
	err = do(f)
	err = errors.Join(err, term.Restore(int(f.Fd()), state))
	fmt.Fprintln(a.err)
	return err
}

// pressed waits until keys are pressed or ctx ends. It looks again and again,
// since a read from a terminal cannot be called off.
func pressed(ctx context.Context, f *os.File) ([]byte, error) {
	for !ready(f, 100*time.Millisecond) {
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

// leaves reports whether the person leaves by one of the keys.
func leaves(keys []byte) bool { return bytes.ContainsAny(keys, string([]byte{keyInterrupt, keyEnd})) }

// untilStill waits until no key was pressed for as long as a prompt is deaf.
func untilStill(ctx context.Context, f *os.File) error {
	for last := time.Now(); ctx.Err() == nil; {
		if !ready(f, 50*time.Millisecond) {
			if time.Since(last) < tui.Inert {
				continue
			}
			flush(f) // what was typed while the program stood still
			return nil
		}
		keys, err := pressed(ctx, f)
		switch {
		case err != nil:
			return err
		case leaves(keys):
			return errLeft
		}
		last = time.Now()
	}
	return ctx.Err()
}

// readKey reads a key that is the only one for a moment: one that sends several
// bytes, several at once, and one that is held down are no answers.
func readKey(ctx context.Context, f *os.File) (string, error) {
	keys, err := pressed(ctx, f)
	if err == nil && !leaves(keys) && ready(f, tui.Repeats) {
		var more []byte
		more, err = pressed(ctx, f)
		keys = append(keys, more...)
	}
	switch {
	case err != nil:
		return "", err
	case leaves(keys):
		return "", errLeft
	case len(keys) > 1:
		return "", nil
	case keys[0] == keyEscape:
		return "esc", nil
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
