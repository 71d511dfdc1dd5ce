package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/present"
)

// inEditor is the value of --edit without a file.
const inEditor = "\x00editor"

// edited returns the arguments that the person wants instead. What they wrote
// in their editor is not lost by a mistake: it is opened again.
func (a *app) edited(ctx context.Context, s shownRequest, from string) (sayso.Args, error) {
	r := s.Request
	if !r.CanEdit {
		return nil, fmt.Errorf("%w: %s does not take edited arguments", sayso.ErrInvalid, dash(r.Host))
	}
	text, err := a.editedText(s, from)
	for err == nil {
		args, bad := jcs.Object(text)
		if bad == nil {
			return args, nil
		}
		bad = hint(fmt.Errorf("%w: the edited arguments: %w", sayso.ErrInvalid, bad), "give all arguments as one JSON object")
		if _, tty := a.terminal(); from != inEditor || !tty {
			return nil, bad
		}
		a.exit(bad)
		again, err := a.confirm(ctx, "open it again?")
		if err != nil || !again {
			return nil, errors.Join(err, bad)
		}
		if text, err = a.inEditor(text); err != nil {
			return nil, err
		}
	}
	return nil, err
}

// unchanged reports whether edited arguments are those of the call.
func unchanged(s shownRequest, args sayso.Args) bool {
	was, err := jcs.Object(s.Content.Args)
	return err == nil && bytes.Equal(was, args)
}

func (a *app) editedText(s shownRequest, from string) ([]byte, error) {
	switch from {
	case "-":
		return io.ReadAll(io.LimitReader(a.in, sayso.MaxCall))
	case inEditor:
		// What is shown is not always what would run: hidden values are hidden
		// and signs that deceive are spelled out. Sent back, they would be
		// what runs.
		if len(s.Request.Redactions) > 0 || slices.ContainsFunc(s.Request.Warnings, changed) {
			return nil, hint(fmt.Errorf("%w: this call holds values that cannot be shown as they are, so it cannot be edited here", sayso.ErrInvalid),
				"give all arguments yourself: --edit=FILE")
		}
		text, err := jcs.MarshalIndent(s.Content.Args)
		if err != nil {
			return nil, err
		}
		return a.inEditor(append(text, '\n'))
	}
	return os.ReadFile(from)
}

// changed reports whether a warning means that the text in full is not shown as
// it is.
func changed(w sayso.Warning) bool {
	return w.Kind != sayso.WarnTruncated && w.Kind != sayso.WarnMarkup && w.Kind != sayso.WarnConfusable
}

// inEditor lets the person change text in their editor.
func (a *app) inEditor(text []byte) ([]byte, error) {
	dir, err := os.MkdirTemp("", "sayso-edit-") // made with mode 0700
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "arguments.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	words := strings.Fields(a.editor())
	if len(words) == 0 {
		return nil, hint(errors.New("no editor is set"), "set EDITOR, or give the arguments: --edit=FILE")
	}
	cmd := exec.Command(words[0], append(words[1:], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.in, a.err, a.err
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("editor %s: %w", words[0], err)
	}
	return os.ReadFile(path)
}

// editor is the person's editor.
func (a *app) editor() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v := a.getenv(name); v != "" {
			return v
		}
	}
	for _, name := range []string{"nano", "vi"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// drawEdit shows what the person changed.
func (a *app) drawEdit(s shownRequest, args sayso.Args) { a.drawChange(a.err, "you changed:", s, args) }

// drawChange shows what edited arguments change.
func (a *app) drawChange(w io.Writer, title string, s shownRequest, args sayso.Args) {
	p := present.Diff("arguments", indented(s.Content.Args), indented(args))
	text, _ := present.Draw(present.View{Title: title, Presentation: &p}, a.style(w))
	fmt.Fprint(w, text)
}

// indented is JSON over several lines.
func indented(args sayso.Args) string {
	text, err := jcs.MarshalIndent(args)
	if err != nil {
		return string(args)
	}
	return string(text) + "\n"
}
