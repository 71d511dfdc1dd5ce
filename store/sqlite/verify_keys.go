package sqlite

import (
	"context"
	"maps"
	"slices"

	"zombiezen.com/go/sqlite"

	"github.com/sayso-dev/sayso"
	"github.com/sayso-dev/sayso/internal/jcs"
)

// schema compares what the database declares with what the migrations do, and
// has the engine look whether its indexes hold what its tables do: a guard that
// is missing, a trigger too many or a view in the place of a table would change
// what the log promises, and no event.
func (v *verifier) schema(context.Context) error {
	want, err := migratedSchema()
	if err != nil {
		return err
	}
	have, err := readSchema(v.conn)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if h, ok := have[key]; !ok || h != want[key] {
			if err := v.reportSchema("the %s is missing or was changed", key); err != nil {
				return err
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[key]; !ok {
			if err := v.reportSchema("the %s was added", key); err != nil {
				return err
			}
		}
	}
	return run(v.conn, `PRAGMA main.integrity_check(10)`, func(st *sqlite.Stmt) error {
		if text := st.ColumnText(0); text != "ok" {
			return v.reportSchema("%s", text)
		}
		return nil
	})
}

func (v *verifier) reportSchema(format string, args ...any) error {
	v.wrongSchema = true
	return v.report(0, "the database: "+format, args...)
}

// The keys that a broker takes are these: each request takes the name of the
// call that it is about and of every further one that took it up, or, if it
// records that nobody was asked since there were too many, the name of that
// minute; one that is decided by the answer to an earlier request takes the name
// of that link. So all of them can be made again from the events.
const (
	// A row without a name says in which session its request is.
	makeNames  = `CREATE TEMP TABLE named (stream TEXT, session TEXT, call TEXT, name BLOB, PRIMARY KEY (stream, call)) WITHOUT ROWID`
	insertName = `INSERT OR IGNORE INTO temp.named (stream, session, call, name) VALUES (?, ?, ?, ?)`
	dropNames  = `DELETE FROM temp.named WHERE stream = ?`
)

// recordKeys notes which keys an event must have taken.
func (v *verifier) recordKeys(e *sayso.Event) error {
	stream := sayso.RequestStream(e.RequestID)
	if e.RequestID == "" || e.Stream != stream {
		return nil
	}
	switch e.Type {
	case sayso.EventRequested:
		if err := run(v.conn, insertName, nil, stream, e.SessionID, "", nil); err != nil {
			return err
		}
		return v.recordCallKey(e, e.CallID)
	case sayso.EventTaken:
		var p sayso.Taken
		if jcs.UnmarshalLenient(e.Payload, &p) != nil || !v.sameSession(e) {
			return nil
		}
		return v.recordCallKey(e, p.CallID)
	case sayso.EventResolved:
		var p sayso.Resolved
		if jcs.UnmarshalLenient(e.Payload, &p) != nil {
			return nil
		}
		if p.Link != "" {
			return run(v.conn, insertName, nil, stream, e.SessionID, "\x00link", []byte(sayso.LinkKey(p.Link))) // which is no id of a call
		}
		if !p.OverLimit() {
			return nil
		}
		if err := run(v.conn, dropNames, nil, stream); err != nil {
			return err
		}
		return run(v.conn, insertName, nil, stream, e.SessionID, "", []byte(sayso.LimitKey(e.SessionID, e.At.Wall)))
	}
	return nil
}

// recordCallKey notes the key of one call, unless its request has it already.
func (v *verifier) recordCallKey(e *sayso.Event, call string) error {
	if call == "" {
		return nil
	}
	return run(v.conn, insertName, nil, e.Stream, e.SessionID, call, []byte(sayso.CallKey(e.Actor.Principal, e.SessionID, call)))
}

// sameSession reports whether an event names the session of its request, as all
// events of a broker do.
func (v *verifier) sameSession(e *sayso.Event) bool {
	n, err := queryInt(v.conn, `SELECT EXISTS (SELECT 1 FROM temp.named WHERE stream = ? AND session = ?)`, e.Stream, e.SessionID)
	return err == nil && n == 1
}

// keys compares the names that are taken with those that the events took. A key
// that is gone would let its call ask, and run, a second time; one that was
// moved would give it the answer to another.
func (v *verifier) keys(context.Context) error {
	for _, c := range []struct{ query, text string }{
		{`SELECT n.stream FROM temp.named n WHERE n.name NOTNULL AND NOT EXISTS
			(SELECT 1 FROM main.keys k WHERE k.name = n.name AND k.stream = n.stream)`,
			"the key of a call of %s is missing or was moved"},
		{`SELECT k.stream FROM main.keys k WHERE NOT EXISTS
			(SELECT 1 FROM temp.named n WHERE n.stream = k.stream AND n.name = k.name)`,
			"there is a key to %s that no event took"},
	} {
		if err := run(v.conn, c.query, func(st *sqlite.Stmt) error {
			return v.report(0, c.text, st.ColumnText(0))
		}); err != nil {
			return err
		}
	}
	return nil
}
