package sqlite

import (
	"fmt"
	"strings"
	"sync"

	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
)

// schemaObject is one table, index, trigger or view, as SQLite keeps it: the text
// that made it, word for word.
type schemaObject struct{ kind, name, table, text string }

// readSchema lists what the schema of a database declares.
func readSchema(c *sqlite.Conn) (map[string]schemaObject, error) {
	out := map[string]schemaObject{}
	err := run(c, `SELECT type, name, tbl_name, coalesce(sql, '') FROM main.sqlite_schema`, func(st *sqlite.Stmt) error {
		o := schemaObject{st.ColumnText(0), st.ColumnText(1), st.ColumnText(2), st.ColumnText(3)}
		out[o.kind+" "+o.name] = o
		return nil
	})
	return out, err
}

// migratedSchema is what the migrations declare, found out by running them on an
// empty database.
var migratedSchema = sync.OnceValues(func() (map[string]schemaObject, error) {
	c, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenMemory)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // nobody misses it
	names, err := migrationFiles()
	if err != nil {
		return nil, err
	}
	if err := runScript(c, names...); err != nil {
		return nil, err
	}
	return readSchema(c)
})

// requiredObjects are the tables and unique indexes without which one position could
// hold two events, one request two decisions, one approval two spendings, and
// one call two requests.
var requiredObjects = []string{
	"table events", "table content", "table keys", "index event_place", "index one_decision", "index one_spending",
}

// checkSchema refuses a database that has lost a guard, or that does on its own what
// no migration told it to: no append to it would keep its promises. The rest of
// the schema is compared by [Log.Verify]; this is for every open, and cheap.
func checkSchema(c *sqlite.Conn) error {
	found, err := readSchema(c)
	if err != nil {
		return unavailable("read the schema", err)
	}
	text, err := migrationText()
	if err != nil {
		return err
	}
	for _, key := range requiredObjects {
		if o, ok := found[key]; !ok || !strings.Contains(text, o.text+";") {
			return schemaError(key, "is missing or was changed")
		}
	}
	for key, o := range found {
		if (o.kind == "trigger" || o.kind == "view") && !strings.Contains(text, o.text+";") {
			return schemaError(key, "was added or changed")
		}
	}
	return nil
}

func schemaError(key, how string) error {
	return fmt.Errorf("%w: its schema is not the one that sayso makes: the %s %s; put a backup in its place: sayso restore FILE",
		sayso.ErrUnavailable, key, how)
}

// migrationText is the text of all migrations.
var migrationText = sync.OnceValues(func() (string, error) {
	names, err := migrationFiles()
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return "", err
		}
		all.Write(text)
	}
	return all.String(), nil
})
