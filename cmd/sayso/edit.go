package main

import (
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

// edited returns the arguments that the person wants instead.
func (a *app) edited(s shownRequest, from string) (sayso.Args, error) {
	r := s.Request
	if !r.CanEdit {
		return nil, fmt.Errorf("%w: %s does not take edited arguments", sayso.ErrInvalid, dash(r.Host))
	}
	text, err := a.editedText(s, from)
	if err != nil {
		return nil, err
	}
	args, err := jcs.Object(text)
	if err != nil {
		return nil, hint(fmt.Errorf("%w: the edited arguments: %w", sayso.ErrInvalid, err), "give all arguments as one JSON object")
	}
	return args, nil
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
		return a.inEditor(s.Content.Args)
	}
	return os.ReadFile(from)
}

// changed reports whether a warning means that the text in full is not shown as
// it is.
func changed(w sayso.Warning) bool {
	return w.Kind != sayso.WarnTruncated && w.Kind != sayso.WarnMarkup && w.Kind != sayso.WarnConfusable
}

// inEditor lets the person change text in their editor.
func (a *app) inEditor(args sayso.Args) ([]byte, error) {
	dir, err := os.MkdirTemp("", "sayso-edit-") // made with mode 0700
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "arguments.json")
	text, err := jcs.MarshalIndent(args)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
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

// drawEdit shows what the edited arguments change.
func (a *app) drawEdit(s shownRequest, args sayso.Args) {
	v := present.View{Title: "allowed with these changes:", Tool: s.Request.Tool}
	p := present.Diff("arguments", indented(s.Content.Args), indented(args))
	v.Presentation = &p
	fmt.Fprint(a.err, present.Terminal(v, width(a.err)))
}

// indented is JSON over several lines.
func indented(args sayso.Args) string {
	text, err := jcs.MarshalIndent(args)
	if err != nil {
		return string(args)
	}
	return string(text) + "\n"
}
