package sqlite

import (
	"embed"
	"fmt"
	"io/fs"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/sayso-dev/sayso"
)

//go:embed migration/*.sql
var migrations embed.FS

// projections are the files that make the tables that Rebuild fills.
var projections = []string{"migration/0002_projections.sql", "migration/0004_short_ids.sql"}

// migrationFiles returns the names of all migrations in their order.
func migrationFiles() ([]string, error) { return fs.Glob(migrations, "migration/*.sql") }

// migrate brings the schema up to date, one transaction for each step. Several
// processes may do so at once.
func migrate(c *sqlite.Conn) error {
	names, err := migrationFiles()
	if err != nil {
		return err
	}
	version, err := queryInt(c, `PRAGMA user_version`)
	if err != nil {
		return unavailable("read the version of the schema", err)
	}
	if version == len(names) {
		return writeAhead(c)
	}
	if version > len(names) {
		return fmt.Errorf("its schema has version %d and this program knows %d; use the newer sayso that made it",
			version, len(names))
	}
	if err := prepareEmpty(c); err != nil {
		return err
	}
	for i := range names {
		if err := migrateStep(c, i, names[i]); err != nil {
			return fmt.Errorf("migration %s: %w", names[i], err)
		}
	}
	return nil
}

// prepareEmpty makes ready a database that is empty or ours.
func prepareEmpty(c *sqlite.Conn) error {
	foreign, err := queryInt(c, `SELECT count(*) FROM sqlite_schema WHERE (SELECT user_version FROM pragma_user_version) = 0`)
	if err != nil {
		return unavailable("read the schema", err)
	}
	if foreign > 0 {
		return fmt.Errorf("this is the database of another program; name another file")
	}
	return writeAhead(c)
}

// writeAhead turns the write-ahead log on, unless it is: it stays with the
// file, and a backup that was put in place as it is has none.
func writeAhead(c *sqlite.Conn) error {
	mode := ""
	for _, query := range []string{`PRAGMA journal_mode`, `PRAGMA journal_mode = WAL`} {
		err := retryBusy(func() error {
			return run(c, query, func(st *sqlite.Stmt) error { mode = st.ColumnText(0); return nil })
		})
		if err != nil {
			return unavailable("turn the write-ahead log on", err)
		}
		if mode == "wal" {
			return nil
		}
	}
	return fmt.Errorf("%w: the write-ahead log cannot be turned on, the mode stays %s", sayso.ErrUnavailable, mode)
}

// retryBusy repeats what SQLite refuses at once, without its busy handler, while
// another process that opens the same new file is changing its mode.
func retryBusy(do func() error) error {
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	for range 1000 {
		if err := do(); sqlite.ErrCode(err).ToPrimary() != sqlite.ResultBusy {
			return err
		}
		<-pause.C
	}
	return do()
}

// migrateStep runs one migration unless it was run before.
func migrateStep(c *sqlite.Conn, index int, name string) (err error) {
	end, err := sqlitex.ImmediateTransaction(c)
	if err != nil {
		return unavailable("begin", err)
	}
	defer end(&err)
	version, err := queryInt(c, `PRAGMA user_version`)
	if err != nil || version > index {
		return err
	}
	if err := runScript(c, name); err != nil {
		return err
	}
	return run(c, fmt.Sprintf(`PRAGMA user_version = %d`, index+1), nil)
}

// runScript runs the statements of migrations in the transaction that is open.
func runScript(c *sqlite.Conn, names ...string) error {
	for _, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		if err := sqlitex.ExecuteScript(c, string(text), nil); err != nil {
			return err
		}
	}
	return nil
}
