package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/local"
	"github.com/sayso-dev/sayso/store/sqlite"
)

func (a *app) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "backup FILE", GroupID: "record", Short: "copies the whole log into one file", Args: cobra.ExactArgs(1),
		Long: "Copies the whole log into one file, while everything goes on. Keep the head that\nit prints somewhere else: a log whose end was cut off is found by it.",
		RunE: func(c *cobra.Command, args []string) error { return a.backup(c.Context(), args[0]) },
	}
}

func (a *app) backup(ctx context.Context, file string) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if path == a.paths.Database() {
		return usage(fmt.Errorf("%w: a backup is another file than the database", sayso.ErrInvalid), "sayso backup FILE")
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return hint(fmt.Errorf("%w: there is a file already: %s", sayso.ErrConflict, path), "choose another name, or take that file away")
	}
	return a.withEngine(ctx, func(e *local.Engine) error {
		if err := e.Log.Backup(ctx, path); err != nil {
			return err
		}
		head, err := e.Log.Head(ctx)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(map[string]any{"file": path, "head": head})
		}
		a.print("wrote %s", path)
		a.print("head %d:%s", head.Seq, head.Hash)
		return nil
	})
}

func (a *app) restoreCommand() *cobra.Command {
	return &cobra.Command{
		Use: "restore FILE", GroupID: "record", Short: "makes the log anew from a backup", Args: cobra.ExactArgs(1),
		Long: `Makes the log anew from a backup, where there is none. What was open or allowed
but not run when the backup was made does not come back to life: requests are
withdrawn, approvals voided, remembered answers ended.`,
		RunE: func(c *cobra.Command, args []string) error { return a.restore(c.Context(), args[0]) },
	}
}

func (a *app) restore(ctx context.Context, file string) error {
	if err := a.noAgent("restoring"); err != nil {
		return err
	}
	if local.Answers(ctx, a.paths.Socket()) {
		return hint(fmt.Errorf("%w: a server runs on this log", sayso.ErrConflict), "stop it first: sayso service remove, or end sayso serve")
	}
	db := a.paths.Database()
	if _, err := os.Lstat(db); !errors.Is(err, fs.ErrNotExist) {
		return hint(fmt.Errorf("%w: there is a log already: %s", sayso.ErrConflict, db), "mv %s %s.old, with its -wal and -shm files and the folder segments", db, db)
	}
	if err := a.paths.Make(); err != nil {
		return err
	}
	if err := isDatabase(file); err != nil {
		return err
	}
	r, err := sqlite.Restore(ctx, file, db)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"head": r.Head, "withdrawn": r.Withdrawn, "voided": r.Voided, "ended": r.Ended})
	}
	a.print("restored %s; %s withdrawn, %s voided, %s ended", count(int(r.Head.Seq), "event"),
		count(r.Withdrawn, "request"), count(r.Voided, "approval"), count(r.Ended, "grant"))
	return nil
}

// isDatabase refuses a file that does not begin as every SQLite database does.
func isDatabase(file string) error {
	const magic = "SQLite format 3\x00"
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	begins := make([]byte, len(magic))
	if _, err := io.ReadFull(f, begins); err != nil || string(begins) != magic {
		return usage(fmt.Errorf("%w: %s is no backup of sayso", sayso.ErrInvalid, file), "sayso backup FILE makes one")
	}
	return nil
}
