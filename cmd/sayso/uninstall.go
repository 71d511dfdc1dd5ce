package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/install"
	"github.com/sayso-dev/sayso/internal/local"
)

func (a *app) uninstallCommand() *cobra.Command {
	var data, yes bool
	c := &cobra.Command{
		Use: "uninstall", GroupID: "wire", Short: "takes the gate out of every agent's settings", Args: cobra.NoArgs,
		Long: `Takes sayso's hooks out of the settings of all agents, for you and for the
project you are in, and has MCP clients start their servers themselves again. With --data it also deletes the log, the tokens and the
policy. It works with the database missing or broken and the server dead.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.uninstall(c.Context(), data, yes) },
	}
	c.Flags().BoolVar(&data, "data", false, "delete the log, the tokens and the policy too")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func (a *app) uninstall(ctx context.Context, data, yes bool) error {
	if err := a.noAgent("uninstalling"); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	var failed error
	var left copies
	for _, h := range install.Hosts() {
		if h.Told != "" {
			continue // it has the hook of another
		}
		err := a.unwire(ctx, h, dir, yes)
		for _, p := range h.Places(a.getenv, dir) {
			left.look(p.Path, h.Take)
		}
		if errors.Is(err, errNoTerminal) {
			return hint(err, "sayso uninstall --yes")
		}
		failed = errors.Join(failed, err)
	}
	for _, c := range install.Clients() {
		err := a.unwireServers(ctx, c, dir, yes)
		for _, l := range c.Lists(a.getenv, dir) {
			left.look(l.Path, func(text []byte) ([]byte, error) { return l.Take(text, nil) })
		}
		if errors.Is(err, errNoTerminal) {
			return hint(err, "sayso uninstall --yes")
		}
		failed = errors.Join(failed, err)
	}
	if err := a.removeService(ctx); err != nil && !errors.Is(err, sayso.ErrNotFound) {
		failed = errors.Join(failed, err)
	}
	if failed != nil {
		return failed
	}
	if err := a.tellCopies(left); err != nil {
		return err
	}
	if !data {
		a.print("the log, the tokens and the policy stay in %s; `sayso uninstall --data` deletes them", strings.Join(a.paths.Folders(), " and "))
		return nil
	}
	if local.Answers(ctx, a.paths.Socket()) {
		return hint(fmt.Errorf("%w: a server runs on this log", sayso.ErrConflict), "end sayso serve first, then type sayso uninstall --data")
	}
	return a.deleteData(ctx, yes)
}

// copies are the files that were kept beside settings when those were changed.
type copies struct{ spent, kept []string }

// look sorts the copies of one file of settings: those that hold nothing that is not in
// it now, but for what take takes out, are spent.
func (c *copies) look(path string, take func([]byte) ([]byte, error)) {
	found, _ := install.Copies(path) // of a path whose characters were quoted
	now, err := install.Read(path)
	for _, name := range found {
		if slices.Contains(c.spent, name) || slices.Contains(c.kept, name) {
			continue // two agents have one file
		}
		text, errCopy := install.Read(name)
		if errCopy == nil && !bytes.Equal(text, now) {
			text, errCopy = take(text)
		}
		if err == nil && errCopy == nil && bytes.Equal(text, now) {
			c.spent = append(c.spent, name)
		} else {
			c.kept = append(c.kept, name)
		}
	}
}

// tellCopies deletes the copies that are spent, and names the others.
func (a *app) tellCopies(c copies) error {
	for _, name := range c.spent {
		if err := os.Remove(name); err != nil {
			return err
		}
		a.print("deleted %s: nothing is in it that is not in the file beside it", name)
	}
	for _, name := range c.kept {
		a.print("kept %s: the file beside it was changed by others since; delete it when you miss nothing", name)
	}
	return nil
}

// unwire takes our hooks out of all settings of a host that we edit.
func (a *app) unwire(ctx context.Context, h install.Host, dir string, yes bool) (failed error) {
	if err := a.unwall(ctx, h, yes); errors.Is(err, errNoTerminal) {
		return err
	} else if err != nil {
		failed = err
	}
	for _, p := range h.Places(a.getenv, dir) {
		if !slices.Contains(h.Scopes, p.Scope) {
			continue
		}
		if _, err := os.Stat(p.Path); err != nil {
			continue // no settings, no hook
		}
		err := a.undoInit(ctx, h, p.Path, initOptions{yes: yes})
		if errors.Is(err, errNoTerminal) {
			return err // there is none for the next question either
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// unwireServers has a client start its servers itself again, in all lists that
// we edit.
func (a *app) unwireServers(ctx context.Context, c install.Client, dir string, yes bool) (failed error) {
	for _, l := range c.Lists(a.getenv, dir) {
		text, servers, err := readList(l)
		if err != nil && !bytes.Contains(text, []byte("sayso")) {
			continue // it is not read, and nothing of ours is in it
		}
		if err == nil && !slices.ContainsFunc(servers, func(s install.Server) bool { return s.Gated }) {
			continue
		}
		if err == nil {
			_, err = a.editList(ctx, l, func(l install.List, text []byte) ([]byte, error) { return l.Take(text, nil) }, initOptions{yes: yes, undo: true})
		}
		if errors.Is(err, errNoTerminal) {
			return err // there is none for the next question either
		}
		if err != nil {
			failed = errors.Join(failed, hint(fmt.Errorf("%s: %w", l.Path, err), "take sayso mcp out of the commands in the file by hand"))
		}
	}
	return failed
}

// deleteData deletes what is ours by name. A folder goes only if nothing else
// is in it: it may be one that the person chose.
func (a *app) deleteData(ctx context.Context, yes bool) error {
	if !yes {
		if err := a.agree(ctx, "delete the log, the tokens and the policy in "+a.paths.State+"?"); err != nil {
			return err
		}
	}
	var failed error
	for _, path := range a.paths.Everything() {
		failed = errors.Join(failed, os.RemoveAll(path))
	}
	for _, dir := range a.paths.Folders() {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.note("%s stays, because something else is in it", dir)
			continue
		}
		a.print("deleted %s", dir)
	}
	return failed
}
