package main

import (
	"context"
	"fmt"
	"os"

	"github.com/sayso-dev/sayso/internal/install"
)

// putWall puts the host's own rule into its file, or into settings that are
// written with the hook in them.
func (a *app) putWall(ctx context.Context, h install.Host, hook string, settings []byte, o initOptions) ([]byte, error) {
	a.note("second wall: %s", h.Wall.Says)
	if !h.Wall.Own {
		text, err := h.Wall.Put(settings)
		if err != nil {
			return nil, hint(fmt.Errorf("%s: %w", hook, err), "mend the file by hand, then run the command again")
		}
		return text, nil
	}
	return settings, a.editWall(ctx, h.Wall.Path(a.getenv, hook), h.Wall.Put, o)
}

// takeWall takes it out where that was asked for. Else it stays, which is said:
// what the person may have put there themselves is not taken with the hook.
func (a *app) takeWall(ctx context.Context, h install.Host, hook string, settings []byte, o initOptions) ([]byte, error) {
	path := h.Wall.Path(a.getenv, hook)
	switch {
	case o.wall && h.Wall.Own:
		return settings, a.editWall(ctx, path, h.Wall.Take, o)
	case o.wall:
		return h.Wall.Take(settings)
	}
	text := settings
	if h.Wall.Own {
		text, _ = install.Read(path) // what cannot be read is not said to stand
	}
	if h.Wall.Stands(text) {
		a.note("the second wall stays in %s; type: sayso init %s --undo --second-wall", printable(path), h.Name)
	}
	return settings, nil
}

// editWall changes a file that holds nothing but the wall.
func (a *app) editWall(ctx context.Context, path string, edit func([]byte) ([]byte, error), o initOptions) error {
	old, err := install.Read(path)
	if err != nil {
		return err
	}
	text, err := edit(old)
	if err != nil {
		return hint(fmt.Errorf("%s: %w", path, err), "look at the file, and take it away by hand if nobody needs it")
	}
	_, err = a.replace(ctx, path, old, text, o)
	return err
}

// unwall takes a wall away that is a file of ours.
func (a *app) unwall(ctx context.Context, h install.Host, yes bool) error {
	if h.Wall == nil || !h.Wall.Own {
		return nil
	}
	path := h.Wall.Path(a.getenv, "")
	text, err := install.Read(path)
	if _, statErr := os.Lstat(path); err != nil || statErr != nil {
		return err
	}
	if _, err := h.Wall.Take(text); err != nil {
		return nil // somebody else's
	}
	return a.editWall(ctx, path, h.Wall.Take, initOptions{yes: yes})
}
