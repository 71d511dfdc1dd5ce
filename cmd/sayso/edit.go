package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
	"github.com/sayso-dev/sayso/internal/words"
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
		args, bad := words.Written(text)
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

func (a *app) editedText(s shownRequest, from string) ([]byte, error) {
	switch from {
	case "-":
		return io.ReadAll(io.LimitReader(a.in, sayso.MaxCall))
	case inEditor:
		if !words.Editable(s.Request) {
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
	cmd, err := a.editorOn(path)
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.in, a.err, a.err
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("editor %s: %w", cmd.Args[0], err)
	}
	return os.ReadFile(path)
}

// editorOn is the person's editor on a file.
func (a *app) editorOn(path string) (*exec.Cmd, error) {
	name := strings.Fields(a.editor())
	if len(name) == 0 {
		return nil, hint(errors.New("no editor is set"), "set EDITOR, or give the arguments: --edit=FILE")
	}
	return exec.Command(name[0], append(name[1:], path)...), nil
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
	text, _ := present.Draw(words.Change(title, s.Content.Args, args), a.style(w))
	fmt.Fprint(w, text)
}
